"""The part of the interpreter that holds what is running: frames, loops, the call
stack, the budget, and the ledger of keys.

Keys. A key is consumed under its identity (`values.Key`). A second consumption of
one identity is reported only where both can happen on one path:

- the conditions of one use include those of the other (two `if`s on unrelated
  conditions may well exclude each other, so nothing is said);
- across passes of a loop, the conditions of the first use must still hold word for
  word: a condition over something that the loop changes has another version by
  then, and `if i == 0: init(key)` stays silent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from jaxlint.model import events
from jaxlint.model.state import Fact, Frame, State, Use, fresh, key_identity
from jaxlint.model.syntax import NAMES_IN_TEXT, PURE_CALLS
from jaxlint.model.values import KeyId, Keys, Tracing, Unknown, Value

MAX_DEPTH = 10
MAX_USES = 4


@dataclass(frozen=True, slots=True)
class Options:
    """What the settings say to the model. `large_array_bytes` is the size from
    which an array counts as large."""

    large_array_bytes: int = 1 << 20


@dataclass(slots=True)
class Loop:
    """A loop that is running. `token` is new for every run of a loop, `pass_number`
    0 or 1, `started` a serial number from when the pass began."""

    token: int
    node: cst.CSTNode
    depth: int
    pass_number: int = 0
    started: int = 0
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Machine:
    """State, frames and budget. `emit` is told of every event."""

    def __init__(self, module: cst.Module, emit: Callable[[events.Event], None], options: Options) -> None:
        self.module = module
        self.emit = emit
        self.options = options
        self.x64 = False
        self.frame = Frame(None, {})
        self.globals = self.frame
        self.state: State = State(self.frame.names)
        self.reachable = True
        self.calls: list[cst.CSTNode] = []
        self.labels: list[list[tuple[Value, cst.CSTNode]]] = []
        self.running: list[cst.CSTNode] = []
        self.loops: list[Loop] = []
        self.reads: dict[KeyId, int] = {}
        self.evidence: set[KeyId] = set()
        self.steps = 0
        self.step_limit = 0
        self._texts: dict[int, str] = {}

    # --- paths -----------------------------------------------------------------

    def enter(self, state: State | None) -> None:
        """Go on from `state`; None means that no path gets here."""
        self.reachable = state is not None
        if state is not None:
            self.state = state
            self.frame.names = state.names

    def leave(self) -> State | None:
        """The present state, or None where no path gets here."""
        return self.state if self.reachable else None

    @property
    def trace(self) -> Tracing | None:
        """The transformation under which every `jnp` operation gives a tracer now."""
        return self.frame.trace

    def text(self, node: cst.CSTNode) -> str:
        """The source text of an expression, on one line."""
        text = self._texts.get(id(node))
        if text is None:
            text = self._texts[id(node)] = " ".join(self.module.code_for_node(node).split())
        return text

    # --- conditions --------------------------------------------------------------

    def facts_of(self, test: cst.BaseExpression, outcome: bool) -> list[Fact]:
        """What is known to hold where `test` came out as `outcome`."""
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            return self.facts_of(test.expression, not outcome)
        if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And if outcome else cst.Or):
            return self.facts_of(test.left, outcome) + self.facts_of(test.right, outcome)
        text = self.text(test)
        for negative, positive in ((" is not ", " is "), (" not in ", " in "), (" != ", " == ")):
            if isinstance(test, cst.Comparison) and len(test.comparisons) == 1 and negative in text:
                text, outcome = text.replace(negative, positive, 1), not outcome
                break
        versions = self.state.versions
        names = tuple(versions.get(name, 0) for name in NAMES_IN_TEXT.findall(text))
        if "(" in PURE_CALLS.sub("", text) and not text.startswith("("):
            return [((text, fresh()), outcome)]
        escapes = versions.get(".", 0) if "." in text else 0
        return [((self.frame.serial, text, names, escapes), outcome)]

    def assume_facts(self, test: cst.BaseExpression, outcome: bool) -> None:
        self.state.facts = self.state.facts.union(self.facts_of(test, outcome))

    # --- keys ----------------------------------------------------------------------

    def consume(
        self, value: Value, argument: cst.CSTNode, site: cst.CSTNode, function: str, kind: events.KeyUseKind
    ) -> None:
        """Spend the key `value`, written `argument`, in the call `site`."""
        identity = value.identity if isinstance(value, Keys) else key_identity(value)
        if identity is None or not identity:
            return
        loops = tuple((loop.token, loop.pass_number) for loop in self.loops)
        use = Use((*self.calls, site), function, kind, self.state.facts, loops)
        earlier = self._conflict(identity, use)
        if earlier is not None:
            self._report_reuse(identity, argument, use, *earlier)
        uses = self.state.uses.get(identity, ())
        if len(uses) < MAX_USES:
            self.state.uses[identity] = (*uses, use)

    def _conflict(self, identity: KeyId, use: Use) -> tuple[Use, int | None] | None:
        """The earlier use that is on one path with `use`, and the index of the loop
        whose passes lie between them."""
        for earlier in self.state.uses.get(identity, ()):
            between = next(
                (i for i, (a, b) in enumerate(zip(earlier.loops, use.loops, strict=False)) if a[0] == b[0] and a[1] != b[1]),
                None,
            )
            if between is None:
                possible = earlier.facts <= use.facts or use.facts <= earlier.facts
            else:
                possible = earlier.facts <= use.facts
            if possible:
                return earlier, between
        return None

    def _report_reuse(
        self, identity: KeyId, argument: cst.CSTNode, use: Use, earlier: Use, between: int | None
    ) -> None:
        depth = next(
            (i for i, (a, b) in enumerate(zip(earlier.chain, use.chain, strict=False)) if a is not b),
            min(len(earlier.chain), len(use.chain)) - 1,
        )
        loop = self.loops[between] if between is not None else None
        if loop is not None and earlier.chain[depth] is use.chain[depth]:
            depth = min(loop.depth, len(use.chain) - 1)
        if depth < len(self.labels):
            argument = next((node for value, node in self.labels[depth] if covers(value, identity)), argument)
        first, second = self._as_event(earlier, depth), self._as_event(use, depth)
        # Across passes the earlier use stands further down in the body: that is the
        # line to look at, since it spends what the next pass starts from.
        site = first.site if loop is not None else second.site
        self.emit(
            events.KeyReused(
                site, self.text(argument), second, first, loop is not None, loop.node if loop else None
            )
        )

    @staticmethod
    def _as_event(use: Use, depth: int) -> events.KeyUse:
        kind: Any = use.kind
        return events.KeyUse(use.chain[min(depth, len(use.chain) - 1)], use.function, kind)

    # --- arrays ---------------------------------------------------------------------

    def note_evidence(self, value: Value) -> None:
        """What is done with `value` shows that it is an array, where it is traced."""
        if isinstance(value, Unknown) and value.traced is not None and value.symbol is not None:
            self.evidence.add(value.symbol)


def covers(value: Value, identity: KeyId) -> bool:
    """Whether the key `identity` is `value`, or lies in it."""
    own = value.identity if isinstance(value, Keys) else key_identity(value)
    return own is not None and own == identity[: len(own)]
