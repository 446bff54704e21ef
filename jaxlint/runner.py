"""From the source of a file to its findings.

`check_source` is the whole way of one file: decode, screen, parse, interpret, locate,
suppress. It never raises for what a file holds: what goes wrong is in the result. The
command and the flake8 plugin both call it; nothing else knows libcst or the model.
"""

from __future__ import annotations

import ast
import gc
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from jaxlint.finding import Finding, Position, Range
from jaxlint.registry import all_rules
from jaxlint.rule import Hit, Rule
from jaxlint.screen import may_have_findings
from jaxlint.selection import INTERNAL_ERROR, OWN_CODES, SYNTAX_ERROR
from jaxlint.source.decode import DecodeError, decode
from jaxlint.source.nesting import is_too_deep
from jaxlint.source.suppress import unsuppressed
from jaxlint.stack import run_with_deep_stack

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.model.events import Event

TOO_DEEP = "too deeply nested to be checked"


@dataclass(frozen=True, slots=True)
class Options:
    """What decides, with the source, what is found."""

    codes: frozenset[str]
    large_array_bytes: int = 1 << 20
    noqa: bool = True


@dataclass(frozen=True, slots=True)
class FileResult:
    """What there is to say of a file. An error is one line, without the name of the file."""

    filename: str
    findings: tuple[Finding, ...] = ()
    errors: tuple[str, ...] = ()


def check_source(source: bytes | str, filename: str, options: Options) -> FileResult:
    """Check one file, given its bytes or its text."""
    try:
        text = source if isinstance(source, str) else decode(source)
    except DecodeError as error:
        return FileResult(filename, errors=(f"cannot be decoded: {error}",))
    if not may_have_findings(text):
        return FileResult(filename)
    if is_too_deep(text):
        return FileResult(filename, errors=(TOO_DEEP,))
    result = run_with_deep_stack(lambda: _Check(text, filename, options).run())
    return replace(result, findings=tuple(unsuppressed(text, result.findings, noqa=options.noqa)))


class SourceError(ValueError):
    """A file that cannot be looked into; the message says why and where."""


def list_values(text: str, filename: str) -> list[tuple[int, str, str]]:
    """Row, name and description of all that the model knows of a file.

    Raises:
        SourceError: the file cannot be parsed.
    """
    import libcst as cst

    from jaxlint.model import listing

    if is_too_deep(text):
        raise SourceError(f"{filename}: {TOO_DEEP}")
    try:
        return run_with_deep_stack(lambda: list(listing.list_values(text)))
    except cst.ParserSyntaxError as error:
        said, place = _describe_syntax_error(text, error)
        where = f":{place.row}:{place.column}" if place else ""
        raise SourceError(f"{filename}{where}: {said}") from None
    except RecursionError:
        raise SourceError(f"{filename}: {TOO_DEEP}") from None


class _Check:
    """Collects what the rules say of one file."""

    def __init__(self, text: str, filename: str, options: Options) -> None:
        self.text = text
        self.filename = filename
        self.options = options
        self.checks = _checks(options.codes)
        self.hits: dict[tuple[str, int], Hit] = {}
        self.errors: dict[str, str] = {}

    def run(self) -> FileResult:
        """Parse, interpret, and place what was found."""
        import libcst as cst

        with _collector_paused():
            try:
                module = cst.parse_module(self.text)
                findings = self._interpret(module)
            except cst.ParserSyntaxError as error:
                findings = self._syntax_error(error)
            except RecursionError:
                self.errors[""] = TOO_DEEP
                findings = []
            except Exception as error:
                self._note_fault("", "the parser", error)
                findings = []
        in_order = tuple(sorted(set(findings), key=_order))
        return FileResult(self.filename, in_order, tuple(self.errors.values()))

    def _interpret(self, module: cst.Module) -> list[Finding]:
        from jaxlint.model import interpreter
        from jaxlint.source.positions import locate

        options = interpreter.Options(large_array_bytes=self.options.large_array_bytes)
        try:
            interpreter.analyse(module, self._hear, options)
        except RecursionError:
            raise
        except Exception as error:
            self._note_fault("", "the interpreter", error)
        if not self.hits:
            return []
        hits = self.hits.values()
        ranges = locate(module, {node for hit in hits for node in (hit.site, *hit.places.values())})
        return [finding for hit in hits if (finding := self._finding(hit, ranges))]

    def _hear(self, event: Event) -> None:
        for rule, check in self.checks.get(type(event), ()):
            try:
                for hit in check(event):
                    self.hits.setdefault((hit.rule.code, id(hit.site)), hit)
            except Exception as error:
                self._note_fault(rule.code, f"rule {rule.code} ({rule.name})", error)

    def _finding(self, hit: Hit, ranges: dict[cst.CSTNode, Range]) -> Finding | None:
        rule = hit.rule
        rows = {name: ranges[node].start.row for name, node in hit.places.items()}
        try:
            message, help_text = hit.message(rows), hit.help(rows)
        except Exception as error:
            self._note_fault(rule.code, f"rule {rule.code} ({rule.name})", error)
            return None
        return Finding(self.filename, rule.code, rule.name, message, ranges[hit.site], help_text)

    def _note_fault(self, key: str, where: str, error: Exception) -> None:
        """Once for each rule and file: a fault seldom comes alone."""
        said = " ".join(str(error).split())
        self.errors.setdefault(
            key, f"{INTERNAL_ERROR} internal error in {where}: {type(error).__name__}: {said}"
        )

    def _syntax_error(self, error: cst.ParserSyntaxError) -> list[Finding]:
        said, start = _describe_syntax_error(self.text, error)
        if start is None:
            self.errors[""] = said
        if start is None or SYNTAX_ERROR not in self.options.codes:
            return []
        place = Range(start, Position(start.row, start.column + 1))
        return [Finding(self.filename, SYNTAX_ERROR, OWN_CODES[SYNTAX_ERROR], said, place)]


def _order(finding: Finding) -> tuple[Any, ...]:
    return (*finding.sort_key, finding.message)


@cache
def _checks(codes: frozenset[str]) -> dict[type[Event], list[tuple[Rule, Callable[[Any], Iterable[Hit]]]]]:
    """For each type of event, who wants to hear of it."""
    table: dict[type[Event], list[tuple[Rule, Callable[[Any], Iterable[Hit]]]]] = {}
    for rule in all_rules():
        if rule.code in codes:
            for event, checks in rule.checks.items():
                table.setdefault(event, []).extend((rule, check) for check in checks)
    return table


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A tree of syntax is large and has no cycles: the collector would look through it in vain."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _describe_syntax_error(text: str, error: cst.ParserSyntaxError) -> tuple[str, Position | None]:
    """What is wrong, and where. Python says it better than libcst, which knows the place only
    roughly. There is no place where Python finds nothing wrong: libcst has limits of its own."""
    if "\0" in text:
        before = text.partition("\0")[0]
        return "syntax error: NUL byte", Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as said:
        return f"syntax error: {said.msg}", Position(max(said.lineno or 1, 1), max(said.offset or 1, 1))
    except (ValueError, RecursionError, MemoryError):
        pass
    return f"cannot be parsed: {error.message.rpartition(': ')[2]}", None
