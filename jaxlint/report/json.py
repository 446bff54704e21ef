"""A JSON array, its objects shaped as those of ruff."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jaxlint.finding import Finding, Position
from jaxlint.report import Line, LinesOf, counted

FOR_PEOPLE = False


def render(findings: Sequence[Finding], _: LinesOf) -> Iterator[Line]:
    """All findings in one array."""
    yield (json.dumps([_object(finding) for finding in findings], indent=2),)


def statistics(findings: Iterable[Finding]) -> Iterator[Line]:
    """An object for each rule."""
    keys = ("code", "name", "count")
    yield (json.dumps([dict(zip(keys, row, strict=True)) for row in counted(findings)], indent=2),)


def _object(finding: Finding) -> dict[str, Any]:
    return {
        "cell": None,
        "code": finding.code,
        "end_location": _location(finding.range.end),
        # "-" is standard input without a name.
        "filename": finding.filename if finding.filename == "-" else str(Path(finding.filename).absolute()),
        "fix": None,
        "location": _location(finding.range.start),
        "message": finding.message,
        "url": None,  # until the pages of the rules are published
    }


def _location(position: Position) -> dict[str, int]:
    return {"column": position.column, "row": position.row}
