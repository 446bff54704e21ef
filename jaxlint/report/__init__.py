"""The output formats: one module each, found by being there.

Each has what `Format` lists. A line of output is a sequence of texts, plain or with a
style; what is not written to a terminal loses the styles.
"""

from __future__ import annotations

import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, TextIO, TypeAlias

from jaxlint.finding import Finding
from jaxlint.registry import all_rules

Line: TypeAlias = "tuple[str | tuple[str, str], ...]"

# The lines of a file, given its name, without their ends.
LinesOf: TypeAlias = Callable[[str], Sequence[str]]


class Format(Protocol):
    """What the module of a format has. `FOR_PEOPLE`: a closing line may follow."""

    FOR_PEOPLE: bool

    def render(self, findings: Sequence[Finding], lines_of: LinesOf, /) -> Iterator[Line]:
        """All findings."""

    def statistics(self, findings: Iterable[Finding], /) -> Iterator[Line]:
        """How many findings each rule has."""


@cache
def formats() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Format:
    """The format of that name."""
    module: Format = import_module(f"{__name__}.{name}")
    return module


@cache
def groups() -> dict[str, str]:
    """The group of each rule, by code."""
    return {rule.code: rule.group for rule in all_rules()}


def header(finding: Finding) -> Line:
    """`path:row:column: CODE message`, as most tools read it."""
    start = finding.range.start
    place = f"{finding.filename}:{start.row}:{start.column}:"
    return (place, "bold"), " ", (finding.code, "bold red"), " ", finding.message.partition("\n")[0]


def counted(findings: Iterable[Finding]) -> list[tuple[str, str, int]]:
    """Code, name and number of findings of each rule, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in findings)
    rows = [(code, name, number) for (code, name), number in counts.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0]))


def statistics(findings: Iterable[Finding]) -> Iterator[Line]:
    """A table of them, for people."""
    rows = counted(findings)
    width = max((len(str(number)) for _, _, number in rows), default=0)
    for code, name, number in rows:
        yield f"{number:{width}}  ", (code, "bold red"), f"  {name}"


def summary(findings: Sequence[Finding]) -> str:
    """The closing line."""
    if not findings:
        return "All checks passed."
    files = len({finding.filename for finding in findings})
    return f"Found {_number_of(len(findings), 'finding')} in {_number_of(files, 'file')}."


def _number_of(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)


def write(lines: Iterable[Line], out: TextIO) -> None:
    """Write lines, with colours on a terminal that takes them."""
    if not out.isatty():
        out.writelines(
            "".join(part if isinstance(part, str) else part[0] for part in line) + "\n" for line in lines
        )
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=out, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*line))
