"""Each finding with its source, and what to write instead."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from jaxlint.finding import Finding
from jaxlint.report import Line, LinesOf, header, statistics

__all__ = ["FOR_PEOPLE", "render", "statistics"]

FOR_PEOPLE = True


def render(findings: Sequence[Finding], lines_of: LinesOf) -> Iterator[Line]:
    """A block for each finding, and an empty line after it."""
    for finding in findings:
        yield header(finding)
        yield from _source(finding, lines_of(finding.filename))
        yield ("",)


def _source(finding: Finding, lines: Sequence[str]) -> Iterator[Line]:
    start, end = finding.range.start, finding.range.end
    margin = " " * len(str(start.row))
    if start.row <= len(lines):
        line = lines[start.row - 1]
        # What goes on in further lines is marked to the end of the first.
        last = end.column - 1 if end.row == start.row else len(line)
        before, marked = line[: start.column - 1], line[start.column - 1 : last].rstrip()
        carets = "^" * max(_width(_plain(line[: len(before) + len(marked)])) - _width(_plain(before)), 1)
        yield ((f"{margin} |", "blue"),)
        yield (f"{start.row} |", "blue"), f" {_plain(line.rstrip())}"
        yield (f"{margin} | ", "blue"), " " * _width(_plain(before)), (carets, "bold red")
    for text in (finding.help or "").splitlines():
        yield (f"{margin} = ", "blue"), ("help: ", "bold"), text


def _plain(text: str) -> str:
    """Text that cannot move the cursor."""
    return "".join(char if char.isprintable() else " " for char in text.expandtabs(4))


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
