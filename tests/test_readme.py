"""Everything that the README shows is run, and does what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from checkout import ROOT, clean_environment, copy_checkout

from jaxlint.registry import all_rules

README = (ROOT / "README.md").read_text()

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\S+)\n")


@dataclass(frozen=True)
class Command:
    """A line after `$`, and what the README shows below it; "..." stands for anything."""

    line: str
    shown: str

    def shows(self, printed: str) -> bool:
        """Whether that is what was printed."""
        pattern = re.escape(self.shown).replace(re.escape("..."), ".*")
        return re.fullmatch(pattern, printed) is not None


def commands() -> list[Command]:
    blocks = [text for language, text in BLOCK.findall(README) if language == "console"]
    parts = [part.partition("\n") for block in blocks for part in block.removeprefix("$ ").split("\n$ ")]
    return [Command(line, shown) for line, _, shown in parts]


def files() -> dict[str, str]:
    """The files that the README shows; the first line of each is its name."""
    blocks = [text for language, text in BLOCK.findall(README) if language != "console"]
    return {found[1]: block for block in blocks if (found := FILE_NAME.match(block))}


INSTALL, TEST, *LATER = commands()
INLINE = {"jaxlint rule JAX202": "key-reused-in-loop", "jaxlint values train.py": "losses"}


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of shell, as somebody types it who has no environment active."""
    environment = clean_environment()
    environment.pop("VIRTUAL_ENV", None)
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_commands_do_what_is_shown(tmp_path: Path) -> None:
    """In a clone, one after the other, in one environment, beginning with the command that makes it."""
    clone = copy_checkout(tmp_path / "jaxlint")
    for name in ("train.py", "suppressed.py"):
        (clone / name).write_text(files()[name])

    first = run(INSTALL.line, clone)
    assert first.returncode == 1, first.stdout + first.stderr
    assert {rule.code for rule in all_rules()} <= set(re.findall(r"JAX\d{3}", first.stdout))

    for command in LATER:
        done = run(f"source .venv/bin/activate && {command.line}", clone)
        assert done.stderr == "" or command.line.startswith("pip "), done.stderr
        assert command.shows(done.stdout), f"{command.line}\n{done.stdout}"

    for line, shown in INLINE.items():
        assert f"`{line}`" in README
        done = run(f"source .venv/bin/activate && {line}", clone)
        assert done.returncode == 0, done.stderr
        assert shown in done.stdout
    assert run("source .venv/bin/activate && jaxlint check suppressed.py", clone).returncode == 0


def test_ci_calls_the_test_command() -> None:
    """The test command cannot be run inside itself; CI does, on a fresh machine."""
    *_, install, test = TEST.line.split(" && ")
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert script[-1] == test == ".ci/test"
    (installed,) = [line for line in script if line.endswith("'.[dev]'")]
    assert installed.split()[-2:] == install.split()[-2:]


def test_settings_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(files()["pyproject.toml"])
    for name in ("loop.py", "third_party/loop.py", "tests/loop.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(files()["train.py"])
    done = run(f"{sys.executable} -m jaxlint check --output-format concise --no-cache .", tmp_path)
    found = {tuple(line.split()[:2]) for line in done.stdout.splitlines() if "JAX" in line}
    assert found == {
        ("loop.py:8:13:", "JAX202"),
        ("loop.py:9:5:", "JAX101"),
        ("tests/loop.py:9:5:", "JAX101"),
    }, done.stderr


def test_hook_and_action_exist() -> None:
    (repository,) = yaml.safe_load(files()[".pre-commit-config.yaml"])["repos"]
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for hook in repository["hooks"]} <= hooks

    (job,) = yaml.safe_load(files()[".github/workflows/lint.yml"])["jobs"].values()
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    assert job["steps"][-1]["with"].keys() <= inputs.keys()


def test_table_lists_all_rules() -> None:
    rows = re.findall(r"^\| \[(JAX\d{3})\]\((.*?)\) \| (\S+) \|", README, re.MULTILINE)
    assert rows == [(rule.code, f"docs/rules/{rule.code}.md", rule.name) for rule in all_rules()]


def test_links_lead_somewhere() -> None:
    pages = [page for folder in (ROOT, ROOT / "docs", ROOT / "benchmarks") for page in folder.glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
