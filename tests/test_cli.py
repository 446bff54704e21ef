"""The command as it is called: real processes, their output and exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT, clean_environment

from jaxlint import __version__
from jaxlint.cli import COMMANDS
from jaxlint.registry import all_rules

BUG = "import jax.numpy as jnp\n\nx = jnp.zeros(3)\nx[0] = 1.0\n"
TWO_RULES = (
    "import jax\nimport jax.numpy as jnp\n\nkey = jax.random.key(0)\nx = jnp.zeros(3)\nx[0] = 1.0\n"
    "x[1] = 2.0\nfor i in range(3):\n    print(jax.random.normal(key))\n"
)
CLEAN = "import jax.numpy as jnp\n\nx = jnp.zeros(3).at[0].set(1.0)\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals and signals of Unix")


def environment(**extra: str) -> dict[str, str]:
    return clean_environment(PYTHONPATH=str(ROOT), TERM="xterm", COLUMNS="200", **extra)


def jaxlint(
    *arguments: str, folder: Path, stdin: str | bytes = b"", program: str = "-m jaxlint"
) -> subprocess.CompletedProcess[str]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, *program.split(" ", 1), *arguments],
        cwd=folder,
        env=environment(),
        input=data,
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def check(*arguments: str, folder: Path, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
    return jaxlint("check", "--no-cache", *arguments, folder=folder, stdin=stdin)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "bug.py").write_text(BUG)
    (tmp_path / "clean.py").write_text(CLEAN)
    return tmp_path


# --- exit status and output ---------------------------------------------------------


def test_findings_are_reported_with_status_1(folder: Path) -> None:
    done = check(folder=folder)
    assert done.returncode == 1
    assert done.stderr == ""
    header, *excerpt = done.stdout.splitlines()
    assert header.startswith("src/bug.py:4:1: JAX101 ")
    assert excerpt[:3] == ["  |", "4 | x[0] = 1.0", "  | ^^^^"]
    assert excerpt[3].startswith("  = help: ")
    assert excerpt[-1] == "Found 1 finding in 1 file."


def test_clean_code_has_status_0(folder: Path) -> None:
    done = check("clean.py", folder=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "All checks passed.\n", "")


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ((), 1),
        (("--exit-zero",), 0),
        (("--ignore", "JAX101"), 0),
        (("--ignore", "JAX2,JAX1"), 0),
        (("--select", "JAX2", "--select", "JAX3"), 0),
        (("--select", "JAX2", "--extend-select", "JAX101"), 1),
        (("--select", "item-assignment"), 1),
        (("--jobs", "2"), 1),
        (("--preview", "--isolated"), 1),
    ],
)
def test_options_that_decide_the_status(folder: Path, options: tuple[str, ...], status: int) -> None:
    assert check(*options, "src", "clean.py", folder=folder).returncode == status


def test_options_and_paths_come_in_any_order(folder: Path) -> None:
    (folder / "-odd.py").write_text(BUG)
    done = check("clean.py", "--output-format", "concise", "src", "--", "-odd.py", folder=folder)
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == ["-odd.py:4:1:", "src/bug.py:4:1:"]


def test_quiet_prints_findings_only(folder: Path) -> None:
    done = check("--quiet", "--output-format", "concise", folder=folder)
    assert (done.returncode, done.stdout.count("\n")) == (1, 1)
    assert check("--quiet", "clean.py", folder=folder).stdout == ""


def test_json_is_shaped_as_that_of_ruff(folder: Path) -> None:
    done = check("--output-format", "json", folder=folder)
    (found,) = json.loads(done.stdout)
    assert found.pop("message").startswith("JAX arrays are immutable")
    assert found == {
        "cell": None,
        "code": "JAX101",
        "end_location": {"column": 5, "row": 4},
        "filename": str(folder / "src" / "bug.py"),
        "fix": None,
        "location": {"column": 1, "row": 4},
        "url": None,
    }


def test_json_is_whole_where_something_went_wrong(folder: Path) -> None:
    done = check("--output-format", "json", "src", "missing.py", folder=folder)
    assert done.returncode == 2
    assert len(json.loads(done.stdout)) == 1
    assert json.loads(check("--output-format", "json", "clean.py", folder=folder).stdout) == []


def test_statistics_count_the_findings(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(TWO_RULES)
    done = check("--statistics", "--quiet", folder=tmp_path)
    assert done.returncode == 1
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["2", "JAX101", "item-assignment"],
        ["1", "JAX202", "key-reused-in-loop"],
    ]
    counted = json.loads(check("--statistics", "--output-format", "json", folder=tmp_path).stdout)
    assert counted[0] == {"code": "JAX101", "name": "item-assignment", "count": 2}


def test_output_format_of_the_settings_holds_unless_isolated(folder: Path) -> None:
    (folder / "jaxlint.toml").write_text('output-format = "github"\n')
    assert check("src", folder=folder).stdout.startswith("::error ")
    assert check("--isolated", "src", folder=folder).stdout.startswith("src/bug.py:4:1: ")
    (folder / "other.toml").write_text('output-format = "json"\n')
    assert json.loads(check("--config", "other.toml", "src", folder=folder).stdout)


# --- standard input -----------------------------------------------------------------


def test_standard_input(folder: Path) -> None:
    done = check("-", folder=folder, stdin=BUG)
    assert done.returncode == 1
    assert done.stdout.startswith("-:4:1: JAX101 ")
    assert "4 | x[0] = 1.0" in done.stdout
    (found,) = json.loads(check("--output-format", "json", "-", folder=folder, stdin=BUG).stdout)
    assert found["filename"] == "-"


def test_standard_input_with_a_name(folder: Path) -> None:
    (folder / "jaxlint.toml").write_text('[per-file-ignores]\n"src/quiet.py" = ["JAX101"]\n')
    assert check("--stdin-filename", "src/quiet.py", "-", folder=folder, stdin=BUG).returncode == 0
    done = check("--stdin-filename", "src/loud.py", folder=folder, stdin=BUG)
    assert done.stdout.startswith("src/loud.py:4:1: JAX101 ")


# --- what is wrong is said in one line ----------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "`chek`, did you mean `check`?"),
        (["rule", "JAX22"], "`JAX22`, did you mean `JAX202`?"),
        (["rules", "--output-format", "jsn"], "`jsn`, did you mean `json`?"),
        (["check", "--selct=JAX1"], "`--selct`, did you mean `--select`?"),
        (["check", "--select", "JAX110"], "--select: unknown rule `JAX110`, did you mean `JAX101`?"),
        (
            ["check", "--ignore", "item-asignment"],
            "--ignore: unknown rule `item-asignment`, did you mean `item-",
        ),
        (
            ["check", "--output-format", "gitub"],
            "--output-format: unknown format `gitub`, did you mean `github`?",
        ),
        (["check", "--jobs", "many"], "--jobs: must be a whole number"),
        (["check", "--jobs", "0"], "--jobs: must be a whole number"),
        (["check", "--config", "missing.toml"], "missing.toml"),
        (["check", "missing.py"], "missing.py: no such file"),
        (["check", "-", "clean.py"], "`-` cannot be combined"),
        (["check", "--stdin-filename", "a.py", "clean.py"], "--stdin-filename"),
        (["check", "--select"], "--select"),
        (["values", "missing.py"], "missing.py"),
        (["values"], "FILE"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line_with_status_2(folder: Path, arguments: list[str], message: str) -> None:
    done = jaxlint(*arguments, folder=folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert done.stderr.startswith("jaxlint")


def test_a_wrong_setting_is_one_line_with_status_2(folder: Path) -> None:
    (folder / "jaxlint.toml").write_text('selct = ["JAX1"]\n')
    done = check(folder=folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "`selct`, did you mean `select`?" in done.stderr


def test_an_error_outweighs_findings(folder: Path) -> None:
    (folder / "src" / "latin.py").write_bytes(b"# jax\nx = '\xff'\n")
    done = check("--exit-zero", "src", folder=folder)
    assert done.returncode == 2
    assert "src/latin.py" in done.stderr
    assert "src/bug.py:4:1: JAX101" in done.stdout


def test_a_fault_of_jaxlint_has_status_2(folder: Path) -> None:
    """Python ends with 1 where nobody catches an exception, and 1 means findings."""
    program = (
        "import jaxlint.batch as b, sys; b.check_paths = None; from jaxlint.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "check", "src"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"TypeError" in done.stderr


# --- terminals, pipes and signals ---------------------------------------------------


def on_terminal(*arguments: str, folder: Path, **extra: str) -> str:
    """What the command prints on a terminal."""
    import pty

    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "jaxlint", *arguments],
        cwd=folder,
        env=environment(**extra),
        stdout=follower,
        stderr=follower,
    ):
        os.close(follower)
        return b"".join(read_all(leader)).decode().replace("\r\n", "\n")


def read_all(leader: int) -> Iterator[bytes]:
    try:
        while data := os.read(leader, 4096):
            yield data
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(leader)


RED = "\x1b[1;31m"


def test_colours_on_a_terminal_only(folder: Path) -> None:
    arguments = ("check", "--no-cache", "src")
    assert f"{RED}JAX101" in on_terminal(*arguments, folder=folder)
    assert "\x1b[1;3" not in on_terminal(*arguments, folder=folder, NO_COLOR="1")
    assert "\x1b" not in check("src", folder=folder).stdout


def test_progress_where_there_are_many_files(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"f{number}.py").write_text(CLEAN)
    arguments = ("check", "--no-cache", "--isolated", "--jobs", "1")
    assert "Checking" in on_terminal(*arguments, folder=tmp_path)
    assert "Checking" not in on_terminal(*arguments, "--quiet", folder=tmp_path)
    assert check(folder=tmp_path).stderr == ""


def test_rule_is_rendered_on_a_terminal(tmp_path: Path) -> None:
    shown = on_terminal("rule", "JAX101", folder=tmp_path)
    assert "## Why is this bad?" not in shown
    assert "Why is this bad?" in shown


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(BUG + "x[0] = 1.0\n" * 3000)
    line = f"{sys.executable} -m jaxlint check --no-cache --output-format concise many.py | head -n 1"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("many.py:4:1: JAX101")
    assert done.stderr == ""


def test_an_interrupt_is_quiet(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "jaxlint", "check", "-"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        time.sleep(1)  # it waits for standard input by now
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (130, b"")


# --- the other commands -------------------------------------------------------------


def test_version_and_help(tmp_path: Path) -> None:
    assert jaxlint("--version", folder=tmp_path).stdout == f"jaxlint {__version__}\n"
    assert all(command in jaxlint("--help", folder=tmp_path).stdout for command in COMMANDS)
    assert "--output-format" in jaxlint("check", "--help", folder=tmp_path).stdout
    assert jaxlint(folder=tmp_path).returncode == 2


def test_rules_are_listed(tmp_path: Path) -> None:
    rows = jaxlint("rules", folder=tmp_path).stdout.splitlines()
    listed: list[dict[str, Any]] = json.loads(
        jaxlint("rules", "--output-format", "json", folder=tmp_path).stdout
    )
    assert len(rows) == len(listed) == len(all_rules())
    for row, entry, rule in zip(rows, listed, all_rules(), strict=True):
        summary = rule.page.splitlines()[0]
        assert row.split(maxsplit=3) == [rule.code, rule.name, rule.group, summary]
        assert entry["code"] == rule.code
        assert entry["message"] == rule.message
        assert entry["claim"] == str(rule.claim)


def test_rule_is_explained_by_code_or_name(tmp_path: Path) -> None:
    page = jaxlint("rule", "JAX101", folder=tmp_path).stdout
    assert page == jaxlint("rule", "item-assignment", folder=tmp_path).stdout
    rule = all_rules()[0]
    assert page.startswith(f"# {rule.name} ({rule.code})\n")
    assert rule.page in page
    assert rule.group in page
    assert str(rule.claim) in page


def test_values_are_listed_by_row(folder: Path) -> None:
    rows = [
        line.split(maxsplit=2) for line in jaxlint("values", "clean.py", folder=folder).stdout.splitlines()
    ]
    assert [row[:2] for row in rows] == [["1", "jnp"], ["3", "x"]]
    assert "float32[3]" in rows[1][2]


def test_values_of_a_file_that_does_not_parse(folder: Path) -> None:
    (folder / "broken.py").write_text("x = (\n")
    done = jaxlint("values", "broken.py", folder=folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "broken.py:" in done.stderr


# --- nobody pays for what they do not use -------------------------------------------


def imported(*arguments: str, folder: Path) -> set[str]:
    """What a run imports at the top of packages."""
    program = (
        "import sys; from jaxlint.cli import main; main(sys.argv[1:]);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    return set(jaxlint(*arguments, folder=folder, program=f"-c {program}").stderr.split())


def test_a_file_without_jax_costs_no_parser(folder: Path) -> None:
    (folder / "plain.py").write_text("x = 1\n")
    heavy = {"libcst", "rich", "pathspec", "asyncio", "concurrent.futures", "multiprocessing"}
    assert heavy.isdisjoint(imported("check", "--no-cache", "plain.py", folder=folder))
    assert "libcst" in imported("check", "--no-cache", "clean.py", folder=folder)


def test_verify_needs_no_dependencies(tmp_path: Path) -> None:
    """On a bare machine only JAX is there."""
    hidden = "import sys; sys.modules.update(dict.fromkeys(['libcst', 'rich', 'flake8', 'pathspec']));"
    program = f"{hidden} from jaxlint.cli import main; sys.exit(main())"
    done = jaxlint("verify", "JAX999", folder=tmp_path, program=f"-c {program}")
    assert done.returncode == 2
    assert done.stderr.startswith("jaxlint verify: unknown rule JAX999")
