"""Workflow commands, which GitHub shows as annotations of the change."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from jaxlint.finding import Finding
from jaxlint.report import Line, LinesOf, groups, statistics

__all__ = ["FOR_PEOPLE", "render", "statistics"]

FOR_PEOPLE = False

# As GitHub's own toolkit escapes them.
IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
IN_PROPERTY = IN_MESSAGE | {":": "%3A", ",": "%2C"}


def render(findings: Sequence[Finding], _: LinesOf) -> Iterator[Line]:
    """One command for each finding."""
    for finding in findings:
        yield (_command(finding),)


def _command(finding: Finding) -> str:
    start, end = finding.range.start, finding.range.end
    properties = {
        "title": f"jaxlint ({finding.code})",
        "file": _file(finding.filename),
        "line": start.row,
        "endLine": end.row,
        "col": start.column,
        "endColumn": end.column,
    }
    if end.row != start.row:  # GitHub takes columns within one line only
        del properties["col"], properties["endColumn"]
    listed = ",".join(f"{name}={_escape(str(value), IN_PROPERTY)}" for name, value in properties.items())
    text = f"{finding.filename}:{start.row}:{start.column}: {finding.code} {finding.message}"
    help_text = f"\n{finding.help}" if finding.help else ""
    level = "warning" if groups().get(finding.code) == "performance" else "error"
    return f"::{level} {listed}::{_escape(text + help_text, IN_MESSAGE)}"


def _file(filename: str) -> str:
    """As seen from the checkout, whatever folder the step runs in: GitHub looks there."""
    checkout, path = os.environ.get("GITHUB_WORKSPACE"), Path(filename).absolute()
    if checkout and path.is_relative_to(checkout):
        return path.relative_to(checkout).as_posix()
    return filename


def _escape(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(char, char) for char in text)
