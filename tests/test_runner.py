"""One file and many: faults of a part stay where they are, and how the work is shared out does not show."""

from __future__ import annotations

import gc
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import libcst as cst
import pytest
from checkout import ROOT
from command import BUG, CLEAN, jaxlint, write_files

from jaxlint import runner
from jaxlint.model import interpreter
from jaxlint.runner import FileResult, Options, check_source
from jaxlint.selection import enabled
from jaxlint.stack import run_with_deep_stack

OPTIONS = Options(enabled((), preview=False))
CORPUS = sorted(
    path for name in ("examples", "tests/fixtures", "jaxlint") for path in (ROOT / name).rglob("*.py")
)


def places(result: FileResult) -> list[tuple[str, int, int]]:
    return [(one.code, one.range.start.row, one.range.start.column) for one in result.findings]


# --- one file --------------------------------------------------------------------------


def test_findings_are_in_order_and_each_is_told_once() -> None:
    source = (
        "import jax.numpy as jnp\n\n\ndef f():\n    x = jnp.zeros(3)\n    for i in range(3):\n"
        "        x[i] = 1.0\n        del x[0]\n    return x\n\n\nf()\nf()\ny = jnp.zeros(3)\ny[0] = 1.0\n"
    )
    result = check_source(source, "a.py", OPTIONS)
    assert places(result) == [("JAX101", 7, 9), ("JAX101", 8, 13), ("JAX101", 15, 1)]
    assert {finding.filename for finding in result.findings} == {"a.py"}


def test_only_the_codes_that_are_on_are_told() -> None:
    assert places(check_source(BUG, "a.py", Options(frozenset({"JAX202"})))) == []
    assert places(check_source("import jax\n)\n", "a.py", Options(frozenset({"JAX101"})))) == []


def test_size_of_large_arrays_is_heeded() -> None:
    source = "import jax.numpy as jnp\nfor i in range(9):\n    x = jnp.ones((100, 100)) * i\n    print(x)\n"
    assert places(check_source(source, "a.py", OPTIONS)) == []
    small = Options(OPTIONS.codes, large_array_bytes=10_000)
    assert [code for code, _, _ in places(check_source(source, "a.py", small))] == ["JAX301"]


def test_bytes_and_text_give_the_same() -> None:
    assert check_source(BUG.encode(), "a.py", OPTIONS) == check_source(BUG, "a.py", OPTIONS)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("who\nknows"), "JAX002 internal error in the interpreter: KeyError: 'who\\nknows'"),
        (RecursionError("deep"), "too deeply nested to be checked"),
    ],
)
def test_a_fault_of_the_interpreter_is_an_error_of_the_file(
    monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(interpreter, "analyse", fail)
    assert check_source(BUG, "a.py", OPTIONS) == FileResult("a.py", (), (message,))


def test_endless_recursion_is_an_error_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def recurse(*_: object) -> None:
        recurse()

    monkeypatch.setattr(interpreter, "analyse", recurse)
    assert check_source(BUG, "a.py", OPTIONS).errors == ("too deeply nested to be checked",)


def test_what_was_set_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[bool, int]] = []

    def look(*_: object) -> None:
        seen.append((gc.isenabled(), sys.getrecursionlimit()))

    monkeypatch.setattr(interpreter, "analyse", look)
    before = gc.isenabled(), sys.getrecursionlimit(), threading.stack_size()
    check_source(BUG, "a.py", OPTIONS)
    check_source("import jax\n)\n", "a.py", OPTIONS)
    assert (gc.isenabled(), sys.getrecursionlimit(), threading.stack_size()) == before
    assert seen[0][0] is False
    assert seen[0][1] > before[1]


def test_there_is_room_for_deep_recursion() -> None:
    def depth(levels: int) -> int:
        # By way of a built-in function, which takes room on the stack of the machine.
        return max(map(depth, [levels - 1])) + 1 if levels else 0

    assert run_with_deep_stack(lambda: depth(5_000)) == 5_000
    with pytest.raises(ZeroDivisionError):
        run_with_deep_stack(lambda: 1 // 0)


# --- the screen ------------------------------------------------------------------------


def test_the_screen_drops_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def findings() -> list[FileResult]:
        return [check_source(path.read_bytes(), path.name, OPTIONS) for path in CORPUS]

    parsed: list[str] = []
    monkeypatch.setattr(cst, "parse_module", counting(cst.parse_module, parsed))
    screened = findings()
    with_screen = len(parsed)
    monkeypatch.setattr(runner, "may_have_findings", lambda _: True)
    assert findings() == screened
    assert with_screen < len(parsed) - with_screen == len(CORPUS)


def counting(parse: Callable[[str], cst.Module], parsed: list[str]) -> Callable[[str], cst.Module]:
    def wrapped(text: str) -> cst.Module:
        parsed.append(text)
        return parse(text)

    return wrapped


# --- many files ------------------------------------------------------------------------


def test_jobs_order_and_cache_do_not_show(tmp_path: Path) -> None:
    paths = [path for path in CORPUS if "fixtures" in path.parts or "examples" in path.parts]
    write_files(tmp_path, {f"{path.parent.name}_{path.name}": path.read_bytes() for path in paths})
    write_files(tmp_path, {"bad.py": b"import jax\n\xff", "broken.py": "import jax\n)\n"})
    names = sorted(path.name for path in tmp_path.glob("*.py"))
    runs = [
        jaxlint("check", "--isolated", "--output-format", "json", *options, cwd=tmp_path)
        for options in (
            ["--no-cache", "--jobs", "1", "."],
            ["--no-cache", "--jobs", "2", "."],
            ["--no-cache", "--jobs", "5", *reversed(names)],
            ["--jobs", "2", *names],
            ["."],
        )
    ]
    assert (tmp_path / ".jaxlint_cache").is_dir()
    assert len(json.loads(runs[0].stdout)) > 100
    assert runs[0].returncode == 2
    assert {(run.stdout, run.stderr, run.returncode) for run in runs} == {
        (runs[0].stdout, runs[0].stderr, runs[0].returncode)
    }


# --- rules of others -------------------------------------------------------------------

RULE = '''\
"""A rule with a fault.

## Why is this bad?
## Use instead
## Not reported
"""

import os

from jaxlint.claims import Raises
from jaxlint.model.events import ItemStored
from jaxlint.rule import Rule

rule = Rule(
    code="JAX999",
    name="faulty-rule",
    group="correctness",
    message="{message}",
    claim=Raises("TypeError", ""),
)


@rule.on(ItemStored)
def check(event):
    {fault}
'''


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """A folder with a bug, a clean file, and an installed package whose rule has a fault."""

    def make(fault: str, message: str = "stored") -> Path:
        write_files(
            tmp_path,
            {
                "site/more_rules/__init__.py": "",
                "site/more_rules/faulty/__init__.py": "",
                "site/more_rules/faulty/faulty_rule.py": RULE.replace("{fault}", fault).replace(
                    "{message}", message
                ),
                "site/more_rules-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: more-rules\nVersion: 1",
                "site/more_rules-1.dist-info/entry_points.txt": "[jaxlint.rules]\nmore = more_rules\n",
                "work/bug.py": BUG + "x[1] = 1.0\n",
                "work/clean.py": CLEAN,
            },
        )
        return tmp_path / "work"

    return make


def check(work: Path, *options: str) -> tuple[int, list[tuple[str, str, int]], str]:
    """Exit status, findings and errors, with the rules of others installed."""
    site = work.parent / "site"
    done = jaxlint("check", "--output-format", "json", *options, ".", cwd=work, PYTHONPATH=f"{ROOT}:{site}")
    found = [
        (Path(one["filename"]).name, one["code"], one["location"]["row"]) for one in json.loads(done.stdout)
    ]
    return done.returncode, found, done.stderr


BUGS = [("bug.py", "JAX101", 4), ("bug.py", "JAX101", 5)]


def test_rules_of_others_are_found(project: Callable[..., Path]) -> None:
    status, found, errors = check(project("yield rule.hit(event.site)"))
    assert (status, errors) == (1, "")
    assert sorted(found) == sorted([*BUGS, ("bug.py", "JAX999", 4), ("bug.py", "JAX999", 5)])


@pytest.mark.parametrize(
    ("fault", "message", "said"),
    [
        ("return 1 // 0", "", "ZeroDivisionError: integer division or modulo by zero"),
        ("yield rule.hit(event.site); raise ValueError('two\\nlines')", "", "ValueError: two lines"),
        ("yield rule.hit(event.site)", "{missing}", "KeyError: 'missing'"),
    ],
)
def test_a_fault_in_a_rule_is_told_once_for_a_file_and_the_run_goes_on(
    project: Callable[..., Path], fault: str, message: str, said: str
) -> None:
    work = project(fault, message)
    for _ in range(2):  # the cache must not hide it
        status, found, errors = check(work)
        assert status == 2
        assert [one for one in found if one[1] != "JAX999"] == BUGS
        assert errors == f"jaxlint: bug.py: JAX002 internal error in rule JAX999 (faulty-rule): {said}\n"
    assert check(work, "--ignore", "faulty-rule") == (1, BUGS, "")


def test_a_worker_that_dies_is_an_error(project: Callable[..., Path]) -> None:
    status, _, errors = check(project("os._exit(3)"), "--jobs", "2")
    assert status == 2
    assert "jaxlint: bug.py: the worker process died\n" in errors
