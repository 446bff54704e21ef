"""One line for each finding, as flake8 and most editors have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxlint.finding import Finding
from jaxlint.report import Line, LinesOf, header, statistics

__all__ = ["FOR_PEOPLE", "render", "statistics"]

FOR_PEOPLE = True


def render(findings: Sequence[Finding], _: LinesOf) -> Iterator[Line]:
    """`path:row:column: CODE message`."""
    yield from map(header, findings)
