"""Real pre-commit, in a real repository: a commit with a bug is refused, a clean one passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from checkout import GIT_ENVIRONMENT, clean_environment, copy_checkout, git

BUG = """\
import jax.numpy as jnp

x = jnp.zeros(3)
x[0] = 1.0
"""
CLEAN = BUG.replace("x[0] = 1.0", "x = x.at[0].set(1.0)")


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_checkout(tmp_path_factory.mktemp("hook") / "jaxlint")


@pytest.fixture
def project(tmp_path: Path, hook: Path) -> Path:
    """A repository in which every commit is checked by `pre-commit try-repo`."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet", "--initial-branch=main")
    script = project / ".git" / "hooks" / "pre-commit"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m pre_commit try-repo '{hook}' jaxlint\n")
    script.chmod(0o755)
    return project


def commit(project: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    git(project, "add", "--all")
    return subprocess.run(
        ["git", "commit", "--message=A change"],
        cwd=project,
        env=clean_environment(PRE_COMMIT_HOME=str(tmp_path / "pre-commit"), **GIT_ENVIRONMENT),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_commit_with_a_bug_is_refused_and_a_clean_one_passes(project: Path, tmp_path: Path) -> None:
    program = project / "program.py"
    program.write_text(BUG)
    (project / "notes.txt").write_text(BUG)
    (project / "jaxlint.toml").write_text('extend-exclude = ["made"]\n')
    (project / "made").mkdir()
    (project / "made" / "excluded.py").write_text(BUG)
    refused = commit(project, tmp_path)
    assert refused.returncode == 1, refused.stdout + refused.stderr
    assert "program.py:4:1: JAX101" in refused.stdout + refused.stderr
    assert "notes.txt" not in refused.stdout + refused.stderr
    assert "excluded.py" not in refused.stdout + refused.stderr
    assert git(project, "rev-list", "--all").stdout == ""

    program.write_text(CLEAN)
    passed = commit(project, tmp_path)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "Passed" in passed.stdout + passed.stderr
    assert "program.py" in git(project, "ls-tree", "--name-only", "HEAD").stdout.split()
