"""What the wheel holds, and that it works where nothing else of the project is."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from checkout import clean_environment, copy_checkout

ROOT_PACKAGES = {"jaxlint", "jaxlint_rules"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_checkout(tmp_path_factory.mktemp("packaging") / "checkout")


@pytest.fixture(scope="module")
def wheel(checkout: Path) -> Path:
    """Built by way of the source distribution, so that both are complete."""
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", "dist"], cwd=checkout, check=True, capture_output=True
    )
    (wheel,) = (checkout / "dist").glob("*.whl")
    return wheel


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_wheel_holds_all_of_both_packages_and_the_fixtures(wheel: Path, checkout: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    kinds = {".py", ".pyi", ".json", ".typed"}
    package = {
        path.relative_to(checkout).as_posix()
        for name in ROOT_PACKAGES
        for path in (checkout / name).rglob("*")
        if path.suffix in kinds
    }
    fixtures = {
        f"jaxlint/verify/fixtures/{path.relative_to(checkout / 'tests' / 'fixtures').as_posix()}"
        for path in (checkout / "tests" / "fixtures").rglob("*.py")
    }
    assert package | fixtures <= held
    assert {name.split("/")[0] for name in held if ".dist-info/" not in name} == ROOT_PACKAGES


@pytest.mark.slow
def test_wheel_works_alone(wheel: Path, tmp_path: Path) -> None:
    """The command, the flake8 plugin and the fixtures, from the wheel in an empty environment."""
    run(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    scripts = tmp_path / "venv" / "bin"
    installed = run(scripts / "python", "-m", "pip", "install", "--quiet", f"{wheel}[flake8]", cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    (tmp_path / "bug.py").write_text("import jax.numpy as jnp\n\nx = jnp.zeros(3)\nx[0] = 1.0\n")

    checked = run(scripts / "jaxlint", "check", "--output-format", "json", "bug.py", cwd=tmp_path)
    assert checked.returncode == 1, checked.stderr
    assert [(found["code"], found["location"]["row"]) for found in json.loads(checked.stdout)] == [
        ("JAX101", 4)
    ]

    flaked = run(scripts / "flake8", "bug.py", cwd=tmp_path)
    assert flaked.returncode == 1, flaked.stderr
    assert "bug.py:4:1: JAX101" in flaked.stdout

    find = "from jaxlint.verify.fixture import root; print(sorted(path.name for path in root().iterdir()))"
    found = run(scripts / "python", "-c", find, cwd=tmp_path)
    assert "arrays" in found.stdout, found.stderr
