"""The part of the interpreter that holds what is running: frames, loops, the call
stack, the budget, and the ledger of keys.

Keys. A key is consumed under its identity (`values.Key`). A second consumption of
one identity is reported only where both can happen on one path:

- the conditions of one use include those of the other (two `if`s on unrelated
  conditions may well exclude each other, so nothing is said);
- across passes of a loop, the conditions of the first use must still hold word for
  word: a condition over something that the loop changes has another version by
  then, and `if i == 0: init(key)` stays silent. Conditions that recur by their kind
  (`i % 10 == 0`, `i != 3`, "the loop was not left") do not stand in the way.

Elements of a batch have identities of their own: `("at", 0)`, or `("each", iteration,
pass)` where a loop or `vmap` goes through all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from jaxlint.model import events
from jaxlint.model.state import (
    MAX_USES,
    NO_FACTS,
    Contents,
    Fact,
    Facts,
    Frame,
    State,
    Use,
    fresh,
    iteration_of,
    key_identity,
)
from jaxlint.model.summaries import Recorder, Summary
from jaxlint.model.syntax import NAMES_IN_TEXT, PURE_CALLS, plain_text
from jaxlint.model.values import Constant, KeyId, Keys, Reference, Tracing, Tuple, Unknown, Value

MAX_DEPTH = 10
STEPS_PER_STATEMENT = 8
LEAST_STEPS = 2_000


@dataclass(frozen=True, slots=True)
class Options:
    """What the settings say to the model. `large_array_bytes` is the size from
    which an array counts as large."""

    large_array_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Condition:
    """A test as text, put in the positive (`negated` says that it was turned round), with
    the names in it. One that `calls` something may come out otherwise each time."""

    text: str
    negated: bool
    names: tuple[str, ...]
    calls: bool
    equality: bool
    modulo: bool

    @classmethod
    def of(cls, test: cst.BaseExpression, text: str) -> Condition:
        negated = False
        if type(test) is cst.Comparison and len(test.comparisons) == 1:
            for negative, positive in ((" is not ", " is "), (" not in ", " in "), (" != ", " == ")):
                if negative in text:
                    text, negated = text.replace(negative, positive, 1), True
                    break
        names = tuple(NAMES_IN_TEXT.findall(text))
        calls = "(" in PURE_CALLS.sub("", text) and not text.startswith("(")
        return cls(text, negated, names + ((".",) if "." in text else ()), calls, " == " in text, "%" in text)


@dataclass(slots=True)
class Loop:
    """A loop that is running. `token` is new for every run of a loop, `pass_number`
    0 or 1, `started` a serial number from when the pass began, `facts` what held before."""

    token: int
    node: cst.CSTNode
    depth: int
    pass_number: int = 0
    started: int = 0
    facts: Facts = NO_FACTS
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Machine:
    """State, frames and budget. `emit` is told of every event."""

    def __init__(self, module: cst.Module, emit: Callable[[events.Event], None], options: Options) -> None:
        self.module = module
        self.listener = emit
        # Events that are expected here: the program catches what would be raised.
        self.expected: tuple[type[events.Event], ...] = ()
        self.options = options
        self.x64 = False
        # The references that a Pallas kernel is given are commonly annotated as arrays.
        self.refs_are_arrays = False
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
        self.recorders: list[Recorder] = []
        self.memo: dict[Any, Summary] = {}
        self.steps = 0
        self.step_limit = LEAST_STEPS
        # Counts the bindings of names, of attributes (".attr") and of objects, so that a
        # condition is only taken for the same one while nothing in it was bound anew.
        self.versions: dict[Any, int] = {}
        self._texts: dict[int, str] = {}
        self._conditions: dict[int, Condition] = {}

    def emit(self, event: events.Event) -> None:
        """Tell of an event."""
        if not isinstance(event, self.expected):
            self.listener(event)

    # --- budget and paths ---

    def count_step(self) -> None:
        """A statement is executed. Those outside calls earn what calls may spend, so that
        the whole stays linear in the size of the module."""
        self.steps += 1
        if not self.calls:
            self.step_limit += STEPS_PER_STATEMENT

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
            text = plain_text(node) or " ".join(self.module.code_for_node(node).split())
            self._texts[id(node)] = text
        return text

    # --- conditions ---

    def facts_of(self, test: cst.BaseExpression, outcome: bool) -> list[Fact]:
        """What is known to hold where `test` came out as `outcome`."""
        if type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
            return self.facts_of(test.expression, not outcome)
        if type(test) is cst.BooleanOperation and type(test.operator) is (cst.And if outcome else cst.Or):
            return self.facts_of(test.left, outcome) + self.facts_of(test.right, outcome)
        if type(test) is cst.Name and (symbol := getattr(self.named(test.value), "symbol", None)):
            return [(self.truth_of(symbol), outcome, False)]
        condition = self._conditions.get(id(test))
        if condition is None:
            condition = self._conditions[id(test)] = Condition.of(test, self.text(test))
        outcome = outcome is not condition.negated
        if condition.calls:
            return [((condition.text, fresh()), outcome, False)]
        versions = self.versions
        bound = tuple([(versions.get(name, 0), self.stored_version(name)) for name in condition.names])
        recurs = condition.equality and (condition.modulo or not outcome)
        return [((self.frame.serial, condition.text, bound), outcome, recurs)]

    def truth_of(self, symbol: KeyId) -> tuple[Any, ...]:
        """The condition that an unknown value is true: the same under whatever name."""
        made = symbol[0] if isinstance(symbol[0], int) else 0
        return symbol, "", ((made, self.versions.get(("stored", symbol), 0)),)

    def named(self, name: str) -> Value | None:
        """The value of a name, which is not noted as read."""
        value, frame = self.state.names.get(name), self.frame.parent
        while value is None and frame is not None:
            value, frame = frame.names.get(name), frame.parent
        return value

    def stored_version(self, name: str) -> int:
        """Changes whenever the object that `name` stands for is stored into."""
        value = self.named(name)
        root: Any = value.address if isinstance(value, Reference) else getattr(value, "symbol", None)
        return self.versions.get(("stored", root), 0)

    def held_before(self, loop: Loop) -> bool:
        """Whether the conditions that hold now may have held in the last pass of `loop` too,
        whatever it changes."""
        return all(
            recurs or (len(key) == 3 and not (isinstance(key[2], tuple) and changed(key[2], loop.started)))
            for key, _, recurs in self.state.facts - loop.facts
        )

    def implied(self, test: cst.BaseExpression) -> bool | None:
        """How `test` comes out, where the conditions that hold say so. An attribute may have
        been changed by anything."""
        for outcome in (True, False):
            held = [self.held(fact) for fact in self.facts_of(test, outcome)]
            if False in held:
                return not outcome
            if None not in held:
                return outcome
        return None

    def held(self, fact: Fact) -> bool | None:
        """Whether a condition is known to have come out as `fact` says, or otherwise."""
        condition, outcome, _ = fact
        if "." in condition[-2]:
            return None
        return next((outcome is known for other, known, _ in self.state.facts if other == condition), None)

    def assume_facts(self, test: cst.BaseExpression, outcome: bool) -> None:
        self.state.facts = self.state.facts.union(self.facts_of(test, outcome))

    # --- keys ---

    def consume(
        self,
        value: Value,
        argument: cst.CSTNode,
        site: cst.CSTNode,
        function: str,
        kind: events.KeyUseKind,
        data: Value | None = None,
    ) -> None:
        """Spend the key `value`, written `argument`, in the call `site`. `data` is what a
        shuffle is applied to."""
        identity = value.identity if isinstance(value, Keys) else key_identity(value)
        if not identity:
            return
        loops = tuple((loop.token, loop.pass_number) for loop in self.loops)
        arguments = (*(self.given(pairs, identity) for pairs in self.labels), argument)
        chain = (*self.calls, site)
        use = Use(chain, arguments, function, kind, self.state.facts, loops, iteration_of(identity), data)
        self.spend(identity, use)

    def spend(self, identity: KeyId, use: Use) -> None:
        """Note one use of a key, and report it where the key was used before."""
        self.check_use(identity, use)
        self.note_use(identity, use)

    def check_use(self, identity: KeyId, use: Use) -> None:
        """Report a use of a key that was used before."""
        element = identity[-1] if isinstance(identity[-1], tuple) else ()
        batch = identity[:-1]
        places = [identity]
        if use.iteration:
            places = [(*batch, "all"), (*batch, "some"), identity]
        elif element[:1] == ("at",):
            places = [(*batch, "all"), identity]
        earlier = next((found for place in places if (found := self._conflict(place, use)) is not None), None)
        if earlier is not None:
            self._report_reuse(use, *earlier)

    def note_use(self, identity: KeyId, use: Use) -> None:
        """Remember a use of a key."""
        for recorder in self.recorders:
            recorder.uses.append((identity, use))
        self._record(identity, use)
        if isinstance(identity[-1], tuple):
            self._record((*identity[:-1], "all" if use.iteration else "some"), use)

    def _record(self, identity: KeyId, use: Use) -> None:
        uses = self.state.uses.get(identity, ())
        if len(uses) < MAX_USES:
            self.state.uses[identity] = (*uses, use)

    def _conflict(self, identity: KeyId, use: Use) -> tuple[Use, int | None] | None:
        """The earlier use that is on one path with `use`, and the index of the loop
        whose passes lie between them."""
        batch = identity[-1] in ("all", "some")
        for earlier in self.state.uses.get(identity, ()):
            if (batch and earlier.iteration == use.iteration) or self._in_unison(earlier, use):
                continue
            between = next(
                (
                    i
                    for i, (a, b) in enumerate(zip(earlier.loops, use.loops, strict=False))
                    if a[0] == b[0] and a != b
                ),
                None,
            )
            if between is None:
                possible = earlier.facts <= use.facts or use.facts <= earlier.facts
            else:
                possible = {fact for fact in earlier.facts if not fact[2]} <= use.facts
            if possible:
                return earlier, between
        return None

    @staticmethod
    def _in_unison(earlier: Use, use: Use) -> bool:
        """Shuffling several arrays by one key keeps their rows together: that is meant."""
        mine, theirs = use.data, earlier.data
        if mine is None or earlier.function != use.function:
            return False
        number = isinstance(mine, Constant) or getattr(mine, "symbol", None) is not None
        return mine is not theirs and not (number and mine == theirs)

    def _report_reuse(self, use: Use, earlier: Use, between: int | None) -> None:
        depth = next(
            (i for i, (a, b) in enumerate(zip(earlier.chain, use.chain, strict=False)) if a is not b),
            min(len(earlier.chain), len(use.chain)) - 1,
        )
        loop = self.loops[between] if between is not None else None
        if loop is not None and earlier.chain[depth] is use.chain[depth]:
            depth = min(loop.depth, len(use.chain) - 1)
        (first, name), (second, other) = self._as_event(earlier, depth), self._as_event(use, depth)
        # Across passes the earlier use stands further down in the body: that is the
        # line to look at, since it spends what the next pass starts from.
        site, name = (first.site, name) if loop is not None else (second.site, other)
        self.emit(
            events.KeyReused(
                site, name, second, first, loop is not None, loop.node if loop is not None else None
            )
        )

    def _as_event(self, use: Use, depth: int) -> tuple[events.KeyUse, str]:
        """A use as seen at `depth` of the call stack, and what the key is called there. A
        call that was not given the key reaches it through a closure or an object: then the
        place to look at is inside."""
        while use.arguments[depth] is None:
            depth += 1
        kind: Any = use.kind
        argument = use.arguments[depth]
        assert argument is not None
        return events.KeyUse(use.chain[depth], use.function, kind), self.text(argument)

    def given(self, pairs: list[tuple[Value, cst.CSTNode]], identity: KeyId) -> cst.CSTNode | None:
        """The argument of a call in which the key `identity` was passed."""
        return next((node for value, node in pairs if self._covers(value, identity, 2)), None)

    def _covers(self, value: Value, identity: KeyId, depth: int) -> bool:
        """Whether the key `identity` is `value`, or lies in it."""
        own = value.identity if isinstance(value, Keys) else key_identity(value)
        if own is not None:
            return own == identity[: len(own)]
        if depth == 0:
            return False
        if isinstance(value, Tuple):
            return any(self._covers(item, identity, depth - 1) for item in value.items)
        contents = self.state.heap.get(value.address) if isinstance(value, Reference) else None
        return contents is not None and any(
            self._covers(item, identity, depth - 1) for item in contents.slots.values()
        )

    # --- arrays ---

    def note_evidence(self, value: Value) -> None:
        """What is done with `value` shows that it is an array, where it is traced."""
        if isinstance(value, Unknown) and value.traced is not None and value.symbol is not None:
            self.show(value.symbol)

    def show(self, symbol: KeyId) -> None:
        """The argument `symbol` is an array."""
        self.evidence.add(symbol)
        for recorder in self.recorders:
            recorder.evidence.append(symbol)

    # --- effects ---

    def bump(self, name: Any) -> None:
        """What was known of a name or object may have changed."""
        serial = fresh()[0]
        self.versions[name] = serial
        self.versions["."] = serial

    def escape_symbol(self, symbol: KeyId) -> None:
        """Unknown code may have changed the object `symbol`."""
        for recorder in self.recorders:
            recorder.escapes.append(symbol)
        self.state.heap.pop(symbol, None)
        self.bump((".", symbol))
        self.versions["stored", symbol] = fresh()[0]

    def write(self, root: Any, contents: Contents) -> None:
        """Change a heap object."""
        for recorder in self.recorders:
            if not recorder.is_new(root if isinstance(root, int) else root[0]):
                recorder.pure = False
        self.state.heap[root] = contents
        self.versions["stored", root] = fresh()[0]

    def note_foreign(self, root: Any) -> None:
        """An object is read: a call that was not given it cannot be replayed."""
        for recorder in self.recorders:
            if not recorder.is_new(root) and root not in recorder.numbering.addresses:
                recorder.pure = False

    def note_unrepeatable(self) -> None:
        """What happens here is not part of a summary: the calls that are running cannot be
        replayed."""
        for recorder in self.recorders:
            recorder.pure = False

    def kill(self, identities: set[KeyId]) -> None:
        """These buffers are gone, or something else holds them."""
        self.note_unrepeatable()
        self.state.dead |= identities


def changed(versions: tuple[tuple[int, int], ...], since: int) -> bool:
    """Whether one of these names or objects has changed since then."""
    return any(max(version) > since for version in versions)
