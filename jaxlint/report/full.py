"""Each finding with its source, and what to write instead."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from jaxlint.finding import Finding
from jaxlint.report import Line, LinesOf, header, statistics

__all__ = ["FOR_PEOPLE", "render", "statistics"]

FOR_PEOPLE = True

MOST_ROWS = 6
LONGEST_LINE = 160
BEFORE = 60  # characters that are kept before the finding in a longer line


def render(findings: Sequence[Finding], lines_of: LinesOf) -> Iterator[Line]:
    """A block for each finding, and an empty line after it."""
    for finding in findings:
        yield header(finding)
        yield from ((text,) for text in finding.message.splitlines()[1:])
        yield from _source(finding, lines_of(finding.filename))
        yield ("",)


def _source(finding: Finding, lines: Sequence[str]) -> Iterator[Line]:
    """The lines of the finding with carets below, and its help."""
    start, end = finding.range.start, finding.range.end
    rows = range(start.row, min(end.row, len(lines)) + 1)
    margin = " " * len(str(rows.stop - 1))
    if rows:
        yield ((f"{margin} |", "blue"),)
    for row in rows[:MOST_ROWS]:
        text = lines[row - 1].rstrip()
        first = start.column - 1 if row == start.row else len(text) - len(text.lstrip())
        stop = end.column - 1 if row == end.row else len(text)
        shown, before, marked = _measured(text, first, stop)
        yield (f"{row:>{len(margin)}} |", "blue"), f" {shown}".rstrip()
        if marked or row == start.row:
            yield (f"{margin} | ", "blue"), " " * before, ("^" * max(marked, 1), "bold red")
    if rows[MOST_ROWS:]:
        yield (f"{margin} |", "blue"), " ..."
    for text in (finding.help or "").splitlines():
        yield (f"{margin} = ", "blue"), ("help: ", "bold"), text


def _measured(text: str, first: int, stop: int) -> tuple[str, int, int]:
    """A line as it is shown, the width of what stands before the finding, and the finding's."""
    if len(text) > LONGEST_LINE:
        cut = max(0, first - BEFORE)
        text, first, stop = text[cut : cut + LONGEST_LINE], first - cut, min(stop - cut, LONGEST_LINE)
    before = _width(_plain(text[:first]))
    return _plain(text), before, _width(_plain(text[:stop])) - before


def _plain(text: str) -> str:
    """Text that cannot move the cursor."""
    return "".join(char if char.isprintable() else " " for char in text.expandtabs(4))


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
