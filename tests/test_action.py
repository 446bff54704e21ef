"""The GitHub action: its steps are run as the runner runs them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import clean_environment, copy_checkout

BUG = "import jax.numpy as jnp\n\nx = jnp.zeros(3)\nx[0] = 1.0\n"

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@pytest.fixture(scope="module")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_checkout(tmp_path_factory.mktemp("action") / "jaxlint")


def run_steps(action: Path, work: Path, temp: Path, **given: str) -> list[subprocess.CompletedProcess[str]]:
    """What each shell step of the action does in the folder `work`; ends with the first that fails."""
    described = yaml.safe_load((action / "action.yml").read_text())
    inputs = {name: entry["default"] for name, entry in described["inputs"].items()} | given
    values = {f"inputs.{name}": value for name, value in inputs.items()} | {"github.action_path": str(action)}
    done: list[subprocess.CompletedProcess[str]] = []
    for step in described["runs"]["steps"]:
        if "run" in step and not (done and done[-1].returncode):
            done.append(run_step(step, values, work, temp))
    return done


def run_step(
    step: dict[str, Any], values: dict[str, str], work: Path, temp: Path
) -> subprocess.CompletedProcess[str]:
    assert not EXPRESSION.search(step["run"]), "an expression in a script would run what the input says"
    environment = {
        name: EXPRESSION.sub(lambda found: values[found[1]], text) for name, text in step["env"].items()
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=work,
        env=clean_environment(RUNNER_TEMP=str(temp), **environment),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_action_annotates_a_bug_and_passes_clean_code(action: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / "src" / "bug.py").write_text(BUG)
    (work / "clean.py").write_text("x = 1\n")

    install, check = run_steps(action, work, tmp_path)
    assert install.returncode == 0, install.stderr
    assert check.returncode == 1, check.stdout + check.stderr
    assert "::error" in check.stdout
    assert "file=src/bug.py,line=4" in check.stdout
    assert "JAX101" in check.stdout

    assert run_steps(action, work, tmp_path, paths="clean.py")[-1].returncode == 0
    assert run_steps(action, work, tmp_path, paths="src clean.py", args="--ignore JAX101")[-1].returncode == 0
