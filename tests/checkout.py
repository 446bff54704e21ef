"""Copies this checkout, uncommitted changes included, to try it as a user would who has just cloned it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]

GIT_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "tester",
    "GIT_AUTHOR_EMAIL": "tester@example.org",
    "GIT_COMMITTER_NAME": "tester",
    "GIT_COMMITTER_EMAIL": "tester@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def clean_environment(**extra: str) -> dict[str, str]:
    """The environment less what would lead a git or a Python run elsewhere astray."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTEST_"))}
    kept.pop("PYTHONPATH", None)
    return kept | extra


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git in `folder`, as somebody without settings of their own."""
    command = ["git", *arguments]
    environment = clean_environment(**GIT_ENVIRONMENT)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)


def copy_checkout(target: Path) -> Path:
    """A repository at `target` whose one commit is the work tree as it stands."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    git(target, "init", "--quiet", "--initial-branch=main")
    git(target, "add", "--all")
    git(target, "commit", "--quiet", "--message=The checkout as it stands")
    return target
