"""Deep expressions are found before they are parsed, and others are not taken for deep."""

from __future__ import annotations

import pytest

from jaxlint.source.nesting import MAX_BRACKETS, MAX_DEPTH, is_too_deep

DEEP = {
    "brackets": lambda n: "(" * n + "1" + ")" * n,
    "lists": lambda n: "[" * n + "1" + "]" * n,
    "calls": lambda n: "f(" * n + ")" * n,
    "dicts": lambda n: "{1:" * n + "1" + "}" * n,
    "tuples": lambda n: "(" * n + "a" + ",)" * n,
    "brackets on lines": lambda n: "(\n" * n + "1" + ")\n" * n,
    "sum": lambda n: " + ".join(["a"] * n),
    "powers": lambda n: "**".join(["a"] * n),
    "attributes": lambda n: "a" + ".b" * n,
    "chained calls": lambda n: "a" + "()" * n,
    "items": lambda n: "a" + "[0]" * n,
    "negations": lambda n: "not " * n + "a",
    "signs": lambda n: "-" * n + "1",
    "lambdas": lambda n: "lambda: " * n + "1",
    "conditions": lambda n: "a if b else " * n + "c",
    "comprehensions": lambda n: "[a for a in " * n + "b" + "]" * n,
    "f-strings": lambda n: "f'{" * n + "1" + "}'" * n,
    "lines that go on": lambda n: "-\\\n" * n + "1",
}


@pytest.mark.parametrize("shape", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("around", ["x = {}\n", "def f():\n    return [1, '(', {}]\n", '"""("""\nx = {}'])
def test_depth_is_seen(shape: object, around: str) -> None:
    assert callable(shape)
    assert is_too_deep(around.replace("{}", shape(MAX_DEPTH + 10)))
    assert not is_too_deep(around.replace("{}", shape(MAX_BRACKETS - 10)))


@pytest.mark.parametrize("bracket", ["()", "[]", "{}", "f()", "(\n)"])
def test_brackets_have_the_limit_of_python(bracket: str) -> None:
    opening, closing = bracket[:-1], bracket[-1]
    deep = opening * MAX_BRACKETS + closing * MAX_BRACKETS
    assert not is_too_deep(deep)
    assert is_too_deep(opening + deep + closing)


@pytest.mark.parametrize(
    "text",
    [
        "x = [" + "-1, " * 5000 + "]",
        "x = [\n" + "    (a.b.c, f(-1) + 2),\n" * 5000 + "]",
        "x = " + "'a' " * 5000,
        "# " + "(" * 5000,
        "'''" + "(-" * 5000 + "'''",
        "x = '" + "(-" * 5000 + "'",
        "x = f'{a}" + "-" * 5000 + "'",
        "x = '\\'(' + \"\\\"(\"\n" * 5000,
        "x = 1; " * 5000,
        "a < b < " * 5000 + "c",
        "if a: f(b)\n" * 5000,
        "x = -1\n" * 5000,
        'f"don\'t {a(b)}"\n' * 5000,
        'x = f"{d["a"]}"\n' * 5000,
    ],
)
def test_long_is_not_deep(text: str) -> None:
    assert not is_too_deep(text)
