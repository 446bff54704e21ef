"""Binding of arguments agrees with Python's own."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.knowledge.reader import read_row, read_signature
from jaxlint.knowledge.signature import ClassRow, Parameter, Signature, Slot, Word

FORMS = [
    "",
    "a",
    "a, b=1",
    "a, /, b",
    "a, b=2, /, *, c=3",
    "a, *rest",
    "a, *rest, c, d=1",
    "a, b=1, **more",
    "a, /, **more",
    "*, a",
    "a, *rest, b=1, **more",
]


def python_binds(form: str, positional: int, keywords: list[str]) -> Mapping[str, Slot] | None:
    """The same, by calling `inspect`."""
    space: dict[str, object] = {}
    exec(f"def f({form}): ...", space)
    signature = inspect.signature(space["f"])  # type: ignore[arg-type]
    try:
        bound = signature.bind(*range(positional), **{keyword: keyword for keyword in keywords}).arguments
    except TypeError:
        return None
    return {name: tuple(value) if isinstance(value, dict) else value for name, value in bound.items()}


@given(
    st.sampled_from(FORMS), st.integers(0, 4), st.lists(st.sampled_from(["a", "b", "c", "x"]), unique=True)
)
def test_bind_agrees_with_python(form: str, positional: int, keywords: list[str]) -> None:
    node = ast.parse(f"def f({form}): ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    bound = read_signature("f", node).bind(positional, keywords)
    wanted = python_binds(form, positional, keywords)
    assert (bound is None) == (wanted is None)
    if bound is not None and wanted is not None:
        assert {name: slot for name, slot in bound.items() if slot != ()} == wanted


def test_rows_are_read() -> None:
    row = read_row(
        "m.f", "(key: Consumed, /, n: Shape=2, t=float, *a, s='x', **k) -> Tuple[Carry[n], Unknown]"
    )
    assert row == Signature(
        "m.f",
        (
            Parameter("key", "positional", Word("Consumed")),
            Parameter("n", "either", Word("Shape"), required=False, default=2),
            Parameter("t", required=False, default="float"),
            Parameter("a", "star", required=False),
            Parameter("s", "keyword", required=False, default="x"),
            Parameter("k", "starstar", required=False),
        ),
        Word("Tuple", (Word("Carry", ("n",)), Word("Unknown"))),
    )
    assert read_row("m.C", "class(ArrayType['subscript'], a.B)") == ClassRow(
        "m.C", ("a.B",), Word("ArrayType", ("subscript",))
    )
    assert read_row("m.pi", 'Python["float"]') == Word("Python", ("float",))


@pytest.mark.parametrize("text", ["1 + 1", "f()", "a.b"])
def test_what_is_no_word_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no word"):
        read_row("m.x", text)
