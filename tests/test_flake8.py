"""The plugin in real flake8: the same findings as those of the command."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from checkout import ROOT
from command import BUG, jaxlint, run_module, write_files

# flake8 finds the plugin by its entry point, so jaxlint must be installed.
SETTINGS = """\
[flake8]
select = JAX,E9
"""

KEYS = """\
import jax
key = jax.random.key(0)
for i in range(3):
    a = jax.random.normal(key)
"""


def flake8(
    folder: Path, *arguments: str, settings: str = SETTINGS, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    write_files(folder, {".flake8": settings})
    return run_module("flake8", *arguments, cwd=folder, stdin=stdin)


def places(printed: str) -> list[str]:
    return sorted(re.findall(r"^(?:\./)?(\S+:\d+:\d+: [A-Z]+\d+) ", printed, re.MULTILINE))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_findings_are_those_of_the_command(tmp_path: Path, jobs: str) -> None:
    paths = [*(ROOT / "tests" / "fixtures").rglob("*.py"), *(ROOT / "examples").glob("*.py")]
    write_files(tmp_path, {path.name: path.read_bytes() for path in paths})
    command = jaxlint("check", "--isolated", "--no-cache", "--output-format", "concise", ".", cwd=tmp_path)
    plugin = flake8(tmp_path, "-j", jobs, ".")
    assert plugin.stderr == ""
    assert plugin.returncode == 1
    assert len(places(plugin.stdout)) > 100
    assert places(plugin.stdout) == places(command.stdout)


def test_messages_are_those_of_the_command(tmp_path: Path) -> None:
    write_files(tmp_path, {"bug.py": BUG})
    command = jaxlint("check", "--quiet", "--output-format", "concise", "bug.py", cwd=tmp_path)
    assert flake8(tmp_path, "bug.py").stdout == command.stdout != ""


def test_standard_input_with_a_name(tmp_path: Path) -> None:
    done = flake8(tmp_path, "--stdin-display-name", "src/a.py", "-", stdin=BUG)
    assert places(done.stdout) == ["src/a.py:4:1: JAX101"]
    assert places(flake8(tmp_path, "-", stdin=BUG).stdout) == ["stdin:4:1: JAX101"]


def test_select_and_ignore_are_flake8s(tmp_path: Path) -> None:
    write_files(tmp_path, {"bug.py": BUG, "keys.py": KEYS, "jaxlint.toml": 'select = ["JAX301"]\n'})
    both = ["bug.py:4:1: JAX101", "keys.py:4:9: JAX202"]
    assert places(flake8(tmp_path, ".").stdout) == both
    assert places(flake8(tmp_path, "--select", "JAX1", ".").stdout) == both[:1]
    assert places(flake8(tmp_path, "--extend-ignore", "JAX101", ".").stdout) == both[1:]
    ignoring = SETTINGS.replace("[flake8]\n", "[flake8]\nper-file-ignores = bug.py:JAX101\n")
    assert places(flake8(tmp_path, ".", settings=ignoring).stdout) == both[1:]


SUPPRESSED = """\
import jax.numpy as jnp

x = jnp.zeros(3)
x[0] = 1.0  # noqa
x[1] = 1.0  # noqa: JAX101
x[
    2
] = 1.0  # noqa: JAX101
x[0] = 1.0  # noqa: E501
"""
IGNORED = """\
x[0] = 1.0  # jaxlint: ignore[JAX101] because
x[
    1
] = 1.0  # jaxlint: ignore[item-assignment]
"""


def test_suppressions_are_those_of_the_command(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": SUPPRESSED + IGNORED, "b.py": BUG + "# jaxlint: skip-file\n"})
    command = jaxlint("check", "--output-format", "concise", ".", cwd=tmp_path)
    assert places(flake8(tmp_path, ".").stdout) == places(command.stdout) == ["a.py:9:1: JAX101"]


def test_disable_noqa_shows_what_noqa_hides(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": SUPPRESSED + IGNORED})
    shown = places(flake8(tmp_path, "--disable-noqa", ".").stdout)
    assert shown == [f"a.py:{row}:1: JAX101" for row in (4, 5, 6, 9)]


def test_size_of_large_arrays_comes_from_the_nearest_settings(tmp_path: Path) -> None:
    source = "import jax.numpy as jnp\nfor i in range(9):\n    x = jnp.ones((100, 100)) * i\n    print(x)\n"
    write_files(
        tmp_path,
        {"a.py": source, "low/jaxlint.toml": "large-array-bytes = 10000\n", "low/sub/a.py": source},
    )
    assert [place.split()[-1] for place in places(flake8(tmp_path, ".").stdout)] == ["JAX301"]
    named = flake8(tmp_path, "--stdin-display-name", "low/b.py", "-", stdin=source)
    assert "JAX301" in named.stdout


def test_syntax_errors_are_told_once_by_flake8(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "import jax\ndef f(:\n    pass\n", "b.py": BUG})
    codes = [place.split()[-1] for place in places(flake8(tmp_path, ".").stdout)]
    assert codes == ["E999", "JAX101"]


@pytest.mark.parametrize(
    "data", ["", "\n", "x = 1\n", BUG.replace("\n", "\r\n"), "\ufeff" + BUG, "\x0c\n" + BUG]
)
def test_odd_files(tmp_path: Path, data: str) -> None:
    write_files(tmp_path, {"a.py": data})
    done = flake8(tmp_path, "a.py")
    assert done.stderr == ""
    assert [place.split()[-1] for place in places(done.stdout)] == ["JAX101"] * ("zeros" in data)


def test_what_cannot_be_checked_is_told_and_the_rest_is_checked(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": f"import jax\nx = {' < '.join(['-a'] * 2000)}\n", "b.py": BUG})
    done = flake8(tmp_path, ".")
    assert places(done.stdout) == ["a.py:1:1: JAX002", "b.py:4:1: JAX101"]
    assert "JAX002 too deeply nested to be checked" in done.stdout


def test_wrong_settings_are_told_of_each_file(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": BUG, "jaxlint.toml": "large-array-byts = 1\n"})
    done = flake8(tmp_path, "a.py")
    wrong = "jaxlint.toml: unknown setting `large-array-byts`, did you mean `large-array-bytes`?"
    assert (done.stdout, done.stderr) == (f"a.py:1:1: JAX002 {wrong}\n", "")
