"""Whatever a file holds: findings or a clear line, never a traceback, and the rest is checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command import BUG, jaxlint, write_files

from jaxlint.runner import Options, check_source
from jaxlint.selection import enabled

OPTIONS = Options(enabled((), preview=False))


def nested(header: str, levels: int) -> str:
    """A compound statement in itself."""
    return "".join(" " * level + header + "\n" for level in range(levels)) + " " * levels + "pass\n"


def check(tmp_path: Path, data: str | bytes) -> tuple[int, list[tuple[str, int, int]], str]:
    """Exit status, findings and errors of a run over `bad.py` and a file with a bug."""
    write_files(tmp_path, {"bad.py": data, "bug.py": BUG})
    done = jaxlint("check", "--isolated", "--no-cache", "--output-format", "json", ".", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    found = [
        (Path(one["filename"]).name, one["code"], one["location"]["row"], one["location"]["column"])
        for one in json.loads(done.stdout)
    ]
    assert ("bug.py", "JAX101", 4, 1) in found
    return done.returncode, [tuple(one[1:]) for one in found if one[0] == "bad.py"], done.stderr


SYNTAX_ERRORS: dict[str, tuple[str, int, int]] = {
    "def": ("import jax\ndef f(:\n    pass\n", 2, 7),
    "print of Python 2": ("import jax\nprint 'hello'\n", 2, 1),
    "open bracket": ("import jax\nx = (1,\n", 2, 5),
    "closing bracket": ("import jax\nx = 1)\n", 2, 6),
    "open string": ("import jax\nx = 'abc\n", 2, 5),
    "strange character": ("import jax\n\nx = 1 $ 2\n", 3, 7),
    "after wide characters": ("import jax\nx = 'é語' $ 2\n", 2, 10),
    "after CRLF": ("import jax\r\n\r\nx = 1)\r\n", 3, 6),
    "tabs and spaces": ("import jax\nif jax:\n\tx\n        y\n", 4, 1),
    "NUL": ("import jax\nx = \0 1\n", 2, 5),
    "too many levels of indentation": ("import jax\n" + nested("if jax:", 101), 102, 1),
}


@pytest.mark.parametrize(("data", "row", "column"), SYNTAX_ERRORS.values(), ids=SYNTAX_ERRORS)
def test_syntax_errors_are_findings(tmp_path: Path, data: str, row: int, column: int) -> None:
    assert check(tmp_path, data) == (1, [("JAX000", row, column)], "")


def test_syntax_errors_are_told_only_of_files_that_mention_jax(tmp_path: Path) -> None:
    assert check(tmp_path, "def f(:\n    pass\n") == (1, [], "")


FINE: dict[str, str | bytes] = {
    "empty": "",
    "one newline": "\n",
    "only a comment": "# jax",
    "no newline at the end": BUG.removesuffix("\n"),
    "CRLF": BUG.replace("\n", "\r\n"),
    "CR": BUG.replace("\n", "\r"),
    "byte order mark": b"\xef\xbb\xbf" + BUG.encode(),
    "form feed": BUG.replace("\n\n", "\n\x0c\n"),
    "tabs": "if True:\n" + "".join("\t" + line for line in BUG.splitlines(keepends=True)),
    "latin-1": "# coding: latin-1\ny = 'é'\n".encode("latin-1") + BUG.encode(),
    "NUL in a string": BUG + "y = '\\0'\n",
    "line separators": BUG + "y = '\u2028\x85\x1c'\n",
}


@pytest.mark.parametrize("data", FINE.values(), ids=FINE)
def test_odd_files_are_checked(tmp_path: Path, data: str | bytes) -> None:
    status, found, errors = check(tmp_path, data)
    assert (status, errors) == (1, "")
    assert [code for code, _, _ in found] == (["JAX101"] if "zeros" in str(data) else [])


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "not utf-8": (b"import jax\nx = '\xff'\n", "bad.py: cannot be decoded: line 2 is not utf-8: byte 0xff"),
    "no such encoding": (b"# coding: nonsense\n", "bad.py: cannot be decoded: unknown encoding nonsense"),
    "utf-16": ("import jax\n".encode("utf-16"), "bad.py: cannot be decoded: line 1 is not utf-8: byte 0xff"),
}


@pytest.mark.parametrize(("data", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_files_that_cannot_be_decoded_are_errors(tmp_path: Path, data: bytes, message: str) -> None:
    assert check(tmp_path, data) == (2, [], f"jaxlint: {message}\n")


def test_missing_paths_are_errors(tmp_path: Path) -> None:
    write_files(tmp_path, {"bug.py": BUG})
    done = jaxlint("check", "--output-format", "concise", "gone.py", "bug.py", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "jaxlint: gone.py: no such file or folder\n"
    assert done.stdout.startswith("bug.py:4:1: JAX101")


CHAINS: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "(" * n + "1" + ")" * n,
    "lists": lambda n: "[" * n + "1" + "]" * n,
    "calls": lambda n: "f(" * n + ")" * n,
    "dicts": lambda n: "{1: " * n + "1" + "}" * n,
    "sum": lambda n: " + ".join(["a"] * n),
    "powers": lambda n: " ** ".join(["a"] * n),
    "attributes": lambda n: "a" + ".b" * n,
    "call chain": lambda n: "a" + ".b()" * n,
    "items": lambda n: "a" + "[0]" * n,
    "not": lambda n: "not " * n + "a",
    "minus": lambda n: "-" * n + "a",
    "lambda": lambda n: "lambda: " * n + "1",
    "conditions": lambda n: "a if b else " * n + "c",
    "f-strings": lambda n: "f'{" * n + "1" + "}'" * n,
    "comprehensions": lambda n: "[a for a in " * n + "b" + "]" * n,
}


@pytest.mark.parametrize("shape", CHAINS.values(), ids=CHAINS)
def test_nested_expressions_are_checked(shape: Callable[[int], str]) -> None:
    """Python allows 200 brackets."""
    source = f"import jax.numpy as jnp\ny = {shape(150)}\nx = jnp.zeros(3)\nx[0] = 1.0\n"
    result = check_source(source, "bad.py", OPTIONS)
    assert [finding.code for finding in result.findings] == ["JAX101"]
    assert result.errors == ()


@pytest.mark.parametrize("shape", CHAINS.values(), ids=CHAINS)
def test_very_deep_or_long_expressions_are_refused(tmp_path: Path, shape: Callable[[int], str]) -> None:
    message = "jaxlint: bad.py: too deeply nested to be checked\n"
    assert check(tmp_path, f"import jax\nx = {shape(10_000)}\n") == (2, [], message)


def test_where_libcst_gives_up_and_python_does_not_is_an_error(tmp_path: Path) -> None:
    status, found, errors = check(tmp_path, "import jax\nx = " + "'a' " * 10_000 + "\n")
    assert (status, found) == (2, [])
    assert errors.startswith("jaxlint: bad.py: cannot be parsed: ")
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    "header", ["if a:", "def f(x):", "class A:", "for i in a:", "while a:", "with a:", "async def f():"]
)
def test_deep_blocks(header: str) -> None:
    """Python allows a hundred levels."""
    result = check_source("import jax\n" + nested(header, 99), "bad.py", OPTIONS)
    assert (result.findings, result.errors) == ((), ())


MANY: dict[str, Callable[[int], str]] = {
    "and": lambda n: "x = " + " and ".join(["a"] * n) + "\n",
    "comparisons": lambda n: "x = " + " < ".join(["a"] * n) + "\n",
    "strings": lambda n: "x = " + "'a' " * n + "\n",
    "elif": lambda n: "if a: pass\n" + "elif b: pass\n" * n,
    "statements": lambda n: "x = jax.numpy.zeros(3)\n" * n,
    "functions": lambda n: "def f(x):\n    return jax.numpy.sin(x)\n" * n,
    "assignments": lambda n: "x = " * n + "1\n",
    "decorators": lambda n: "@a\n" * n + "def f(): pass\n",
    "arguments": lambda n: "f(" + "1, " * n + ")\n",
    "elements": lambda n: "x = [" + "-1.5, " * n + "]\n",
    "comments": lambda n: "# jax\n" * n,
    "blank lines": lambda n: "\n" * n,
    "one line": lambda n: "x = 1; " * n + "\n",
}


@pytest.mark.parametrize("shape", MANY.values(), ids=MANY)
def test_many_of_a_kind(shape: Callable[[int], str]) -> None:
    result = check_source("import jax\n" + shape(3000), "bad.py", OPTIONS)
    assert (result.findings, result.errors) == ((), ())


def test_ten_megabytes(tmp_path: Path) -> None:
    row = "x = {'a': [1.0, 2.0, 3.0], 'b': 'some text that takes room', 'c': (None, True)}  # and a comment\n"
    data = "import jax\n" + row * (10_000_000 // len(row) // 20) + "# " + "-" * 9_500_000 + "\n"
    assert check(tmp_path, data) == (1, [], "")
