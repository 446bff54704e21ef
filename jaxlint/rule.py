"""The shape of a rule, and what it hands back.

A rule is one module with a variable called `rule`. It subscribes to events of
the model, walks no tree and holds no state:

    rule = Rule(code="JAX101", name="item-assignment", …)

    @rule.on(ItemStored)
    def check(event: ItemStored) -> Iterator[Hit]:
        if event.base.is_array:
            yield rule.hit(event.site, name=event.base_text)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from jaxlint.claims import Claim
    from jaxlint.model.events import Event, Site

Group = Literal["correctness", "suspicious", "performance", "upgrade", "preview"]
GROUPS: tuple[Group, ...] = ("correctness", "suspicious", "performance", "upgrade", "preview")

E = TypeVar("E", bound="Event")
Check = Callable[[E], Iterable["Hit"]]


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding whose place is still a syntax node.

    `fields` fill the rule's message; those in `places` are syntax nodes too and
    are written as row numbers ("first used on line {earlier}").
    """

    rule: Rule
    site: Site
    fields: Mapping[str, str]
    places: Mapping[str, Site]

    def message(self, rows: Mapping[str, int]) -> str:
        """The rule's message, given the row of each of `places`."""
        return self.rule.message.format(**self.fields, **rows)

    def help(self, rows: Mapping[str, int]) -> str | None:
        """The rule's help, filled in like the message."""
        return self.rule.help.format(**self.fields, **rows) if self.rule.help else None


@dataclass(eq=False)
class Rule:
    """One claim about JAX.

    `message` says what JAX will do, `help` what to write instead; both are
    format strings. `claim` is what running a bad fixture shows. `module` is where
    the checks are written.
    """

    code: str
    name: str
    group: Group
    message: str
    claim: Claim
    help: str = ""
    checks: dict[type[Event], list[Check[Any]]] = field(default_factory=dict, repr=False)
    module: str = field(default="", repr=False)

    def on(self, event: type[E]) -> Callable[[Check[E]], Check[E]]:
        """Subscribe the decorated function to one type of event."""

        def subscribe(check: Check[E]) -> Check[E]:
            self.checks.setdefault(event, []).append(check)
            self.module = check.__module__
            return check

        return subscribe

    def hit(self, site: Site, places: Mapping[str, Site] | None = None, **fields: str) -> Hit:
        """Say that the claim holds at `site`."""
        return Hit(self, site, fields, places or {})

    @property
    def page(self) -> str:
        """The rule's page: the docstring of its module."""
        return (sys.modules[self.module].__doc__ or "").strip()

    @property
    def family(self) -> str:
        """The folder that the rule lives in ("arrays")."""
        return self.module.split(".")[-2]
