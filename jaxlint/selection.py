"""Which rules are on.

A selector names rules: a code (JAX101), the beginning of one (JAX1), the name of a rule
(item-assignment) or a group (correctness).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from jaxlint.nearest import unknown
from jaxlint.registry import all_rules
from jaxlint.rule import GROUPS

SYNTAX_ERROR = "JAX000"
INTERNAL_ERROR = "JAX002"

# What jaxlint says of a file by itself; no rule stands behind it.
OWN_CODES = {SYNTAX_ERROR: "syntax-error"}


@dataclass(frozen=True, slots=True)
class Selection:
    """What one place (a file of settings, the command line) says about rules. `select`
    None leaves what was selected before."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def selectors(self) -> Iterator[str]:
        """All that it names."""
        yield from self.select or ()
        yield from self.extend_select
        yield from self.ignore


class SelectorError(ValueError):
    """A selector that names no rule; the message says which, and what is near."""


def check_selectors(selectors: Iterable[str]) -> None:
    """Raises:
    SelectorError: one of them names no rule.
    """
    for selector in selectors:
        if not expand(selector, preview=True):
            known = [*_names(), *_names().values(), *GROUPS]
            raise SelectorError(unknown("rule", selector, known))


def expand(selector: str, *, preview: bool) -> frozenset[str]:
    """The codes that a selector names. Rules in preview are among them if `preview` says
    so, or if they are named themselves, or as their group."""
    if selector in GROUPS:
        return frozenset(rule.code for rule in all_rules() if rule.group == selector)
    names = _names()
    if is_exact(selector):
        return frozenset(code for code, name in names.items() if selector.upper() == code or selector == name)
    hidden = frozenset[str]() if preview else expand("preview", preview=True)
    prefix = selector.upper()
    return frozenset(code for code in names if prefix.startswith("JAX") and code.startswith(prefix)) - hidden


def is_exact(selector: str) -> bool:
    """Whether a selector names one rule."""
    names = _names()
    return selector.upper() in names or selector in names.values()


def enabled(selections: Iterable[Selection], *, preview: bool) -> frozenset[str]:
    """The codes that are on, each selection adding to or replacing those before.

    All groups but `preview` are on by default. `ignore` wins over `select`, except over
    a rule that is selected by its own code or name and ignored by something broader.
    """
    on = expand("JAX", preview=preview)
    for selection in selections:
        exact = _expand_all(filter(is_exact, (*(selection.select or ()), *selection.extend_select)), preview)
        if selection.select is not None:
            # A file that cannot be read is no clean file, whatever is selected.
            on = _expand_all(selection.select, preview) | frozenset(OWN_CODES)
        on |= _expand_all(selection.extend_select, preview)
        broad = [selector for selector in selection.ignore if not is_exact(selector)]
        on -= _expand_all(broad, preview=True) - exact
        on -= _expand_all(filter(is_exact, selection.ignore), preview=True)
    return on


def _expand_all(selectors: Iterable[str], preview: bool) -> frozenset[str]:
    return frozenset[str]().union(*(expand(selector, preview=preview) for selector in selectors))


def _names() -> dict[str, str]:
    return OWN_CODES | {rule.code: rule.name for rule in all_rules()}


def matches(selectors: Collection[str], code: str) -> bool:
    """Whether one of the selectors names the code."""
    return any(code in expand(selector, preview=True) for selector in selectors)
