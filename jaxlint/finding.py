"""What a linter run says about one place in one file.

Rows and columns count from 1, columns in characters; ends are exclusive. This
is what every report format prints, so it holds plain values only: no syntax
node and nothing of the model.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file: row and column, both from 1."""

    row: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where the claim of a rule holds.

    `name` is the rule's name ("item-assignment"), `help` one or two lines on
    what to write instead. The first line of `message` stands alone.
    """

    filename: str
    code: str
    name: str
    message: str
    range: Range
    help: str | None = None

    @property
    def sort_key(self) -> tuple[str, Range, str]:
        """Reports are ordered by file, then place, then code."""
        return self.filename, self.range, self.code
