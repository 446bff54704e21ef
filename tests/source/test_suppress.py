"""What comments silence."""

from __future__ import annotations

import pytest

from jaxlint.finding import Finding, Position, Range
from jaxlint.source.suppress import unsuppressed

HERE = "JAX101"


def kept(text: str, *, row: int = 1, noqa: bool = True) -> bool:
    """Whether a finding of item-assignment on a row is kept."""
    place = Range(Position(row, 1), Position(row, 5))
    finding = Finding("a.py", HERE, "item-assignment", "…", place)
    return unsuppressed(text, [finding], noqa=noqa) == [finding]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NOQA",
        "# noqa: JAX101",
        "# noqa:JAX101",
        "# noqa: jax101",
        "# noqa: JAX1",
        "# noqa: JAX",
        "# noqa: E501, JAX101",
        "# noqa: E501,JAX101 because",
        "# noqa: E501 JAX101",
        "# type: ignore # noqa: JAX101",
        "# noqa because",
        "# jaxlint: ignore[JAX101]",
        "# jaxlint: ignore[JAX101] because",
        "# jaxlint:ignore[jax101]",
        "# jaxlint: ignore[item-assignment]",
        "# jaxlint: ignore[JAX301, item-assignment]",
        "# jaxlint: ignore[JAX1]",
        "# type: ignore # jaxlint: ignore[JAX101]",
        "# jaxlint: skip-file",
        "# flake8: noqa",
    ],
)
def test_silences(comment: str) -> None:
    assert not kept(f"x[0] = 1  {comment}\n")


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: JAX102",
        "# noqa: JAX1011",
        "# jaxlint: ignore",
        "# jaxlint: ignore[]",
        "# jaxlint: ignore[JAX202]",
        "# jaxlint: ignore[item]",
        "# flake8: noqa: E501",
        "# jaxlint: skip",
        "# something noqa",
    ],
)
def test_does_not_silence(comment: str) -> None:
    assert kept(f"x[0] = 1  {comment}\n")


def test_noqa_is_flake8s_own_if_it_says_so() -> None:
    assert kept("x[0] = 1  # noqa\n", noqa=False)
    assert kept("x[0] = 1  # flake8: noqa\n", noqa=False)
    assert not kept("x[0] = 1  # jaxlint: ignore[JAX101]\n", noqa=False)


STATEMENTS = """\
# noqa
f(
    # noqa
    1,
)
g(
    2,
)  # noqa
h = '''
# noqa
'''
if a:  # noqa
    i()
j = 1 + \\
    2  # noqa
k()
"""


def test_comment_holds_for_its_statement() -> None:
    rows = range(1, 1 + STATEMENTS.count("\n"))
    assert [row for row in rows if kept(STATEMENTS, row=row)] == [9, 10, 11, 13, 16]


def test_skip_file_counts_anywhere_but_in_strings() -> None:
    assert not kept("x[0] = 1\n\n# jaxlint: skip-file\n")
    assert kept("x[0] = '# jaxlint: skip-file'\n")


def test_lines_that_python_cannot_tokenize_are_taken_one_by_one() -> None:
    assert not kept("x = (  # noqa\n")
    assert kept("x = (  # noqa\n", row=2)
    assert not kept("# jaxlint: skip-file\nx = (\n", row=2)


def test_line_ends_do_not_matter() -> None:
    assert not kept("a\r\nx[0] = 1  # noqa\r\n", row=2)
    assert kept("a  # noqa\r\nx[0] = 1\r\n", row=2)
    assert not kept("\x0c\nx[0] = 1  # noqa\n", row=2)
