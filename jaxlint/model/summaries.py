"""Call summaries: what a function did when it was called with such arguments before.

Most calls repeat an earlier one with arguments of the same kind. The first is executed
with a `Recorder` running; the rest replay its `Summary`: the uses of keys, the objects
that got out of sight, and the value. A summary is keyed by the arguments with their
identities numbered in order, so that one key passed twice is not two keys.

What cannot be replayed is executed each time: a function that writes to an object that
was there before, rebinds a name of another function, or reads an object that it was not
given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jaxlint.model.state import Contents, Use, fresh, iteration_of
from jaxlint.model.values import (
    Array,
    Class,
    Constant,
    Function,
    Iterator,
    Key,
    KeyId,
    Keys,
    Library,
    Partial,
    Reference,
    Scalar,
    Transformed,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from jaxlint.model.machine import Machine

MAX_NESTED = 3
MAX_SLOTS = 16


class NotSummarisable(Exception):
    """An argument or result that a summary cannot describe."""


class Recorder:
    """Watches one call that is executed. `entry` is the serial number at its start: what
    has a smaller one was there before."""

    def __init__(self, depth: int, loops: int, facts: Any, numbering: Numbering) -> None:
        self.entry: int = fresh()[0]
        self.depth, self.loops, self.facts = depth, loops, facts
        self.numbering = numbering
        self.pure = True
        self.uses: list[tuple[KeyId, Use]] = []
        self.escapes: list[KeyId] = []
        self.evidence: list[KeyId] = []
        self.free: dict[str, Value] = {}

    def is_new(self, root: Any) -> bool:
        """Whether an identity or address was made during the call."""
        return isinstance(root, int) and root > self.entry

    def concerns(self, identity: KeyId) -> bool:
        """Whether an identity means anything outside the call."""
        return not self.is_new(identity[0]) or self.numbering.prefix(identity) is not None


@dataclass(slots=True)
class Numbering:
    """The identities and addresses in a call's arguments, in the order they are met."""

    machine: Machine
    identities: list[KeyId] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)

    def describe(self, value: Value, depth: int = 0) -> Any:
        """`value` as something hashable that is equal for arguments of the same kind.

        Raises:
            NotSummarisable: it holds too much.
        """
        if depth > MAX_NESTED:
            raise NotSummarisable
        describer = DESCRIBERS.get(type(value))
        return (type(value), value) if describer is None else describer(self, value, depth + 1)

    def describe_all(self, values: Iterable[Value], depth: int) -> tuple[Any, ...]:
        return tuple([self.describe(value, depth) for value in values])

    def number(self, identity: KeyId | None) -> Any:
        """The number of an identity, with the version of the object that it may be."""
        if identity is None:
            return None
        if identity not in self.identities:
            self.identities.append(identity)
        stored = self.machine.state.heap.get(identity)
        if stored is not None:
            raise NotSummarisable
        return self.identities.index(identity), self.machine.versions.get((".", identity), 0)

    def describe_object(self, reference: Reference, depth: int) -> Any:
        address = reference.address
        if address in self.addresses:
            return ("object", self.addresses.index(address))
        self.addresses.append(address)
        contents = self.machine.state.heap.get(address)
        if contents is None or len(contents.slots) > MAX_SLOTS:
            raise NotSummarisable
        slots = tuple(contents.slots), self.describe_all(contents.slots.values(), depth)
        rest = None if contents.rest is None else self.describe(contents.rest, depth)
        symbol = self.number(contents.symbol) if contents.symbol else None
        cls = contents.cls
        return (
            "object",
            reference.type,
            id(cls.node) if isinstance(cls, Class) else cls,
            symbol,
            slots,
            rest,
        )

    def owner(self, value: Function | Library, depth: int) -> Any:
        return None if value.owner is None else self.describe(value.owner, depth)

    def prefix(self, identity: KeyId) -> tuple[int, int] | None:
        """The number of the argument that `identity` is or derives from, and how much of
        `identity` that is."""
        best: tuple[int, int] | None = None
        for number, known in enumerate(self.identities):
            size = len(known)
            if identity[:size] == known and (best is None or size > best[1]):
                best = number, size
        return best


DESCRIBERS: dict[type[Value], Callable[[Numbering, Any, int], Any]] = {
    Unknown: lambda n, v, depth: ("unknown", v.traced, n.number(v.symbol)),
    Constant: lambda n, v, depth: ("constant", type(v.value), v.value),
    Key: lambda n, v, depth: ("key", v.traced, n.number(v.identity)),
    Keys: lambda n, v, depth: ("keys", v.traced, n.number(v.identity), v.shape),
    Array: lambda n, v, depth: ("array", v.traced, v.shape, v.dtype, n.number(v.identity)),
    Scalar: lambda n, v, depth: ("scalar", v.traced, v.type, n.number(v.symbol)),
    Tuple: lambda n, v, depth: ("tuple", v.traced, n.describe_all(v.items, depth)),
    Iterator: lambda n, v, depth: (v.kind, n.describe_all(v.sources, depth)),
    Reference: Numbering.describe_object,
    Function: lambda n, v, depth: (id(v.node), v.closure and v.closure.serial, n.owner(v, depth)),
    Class: lambda n, v, depth: ("class", id(v.node)),
    Library: lambda n, v, depth: ("library", v.signature and v.signature.path, n.owner(v, depth)),
    Transformed: lambda n, v, depth: (
        v.transform,
        n.describe(v.function, depth),
        tuple(name for name, _ in v.options),
        n.describe_all((option for _, option in v.options), depth),
    ),
    Partial: lambda n, v, depth: (
        "partial",
        n.describe_all((v.function, *v.args), depth),
        tuple(name for name, _ in v.keywords),
        n.describe_all((item for _, item in v.keywords), depth),
    ),
}
"""How a value is described, by its type."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What one call did, in terms of the identities that `numbering` saw."""

    numbering: Numbering
    recorder: Recorder
    value: Value
    objects: dict[int, Contents]

    @classmethod
    def of(cls, recorder: Recorder, value: Value, machine: Machine) -> Summary | None:
        """The summary of a recorded call; None where it cannot be replayed."""
        if not recorder.pure:
            return None
        objects: dict[int, Contents] = {}
        try:
            _collect(value, recorder, machine, objects)
        except NotSummarisable:
            return None
        recorder.uses = [(identity, use) for identity, use in recorder.uses if recorder.concerns(identity)]
        recorder.escapes = [identity for identity in recorder.escapes if recorder.concerns(identity)]
        return cls(recorder.numbering, recorder, value, objects)

    def is_current(self, machine: Machine) -> bool:
        """Whether the names that the function took from the module are bound as then."""
        names = machine.globals.names
        return all(names.get(name) is value for name, value in self.recorder.free.items())

    def use_from(self, machine: Machine, renaming: _Renaming, identity: KeyId, use: Use) -> Use:
        """A recorded use as it happens in the call that is running now."""
        recorder = self.recorder
        facts = frozenset(
            (renaming.condition(key), outcome, recurs) for key, outcome, recurs in use.facts - recorder.facts
        )
        return Use(
            (*machine.calls, *use.chain[recorder.depth :]),
            (*(machine.given(pairs, identity) for pairs in machine.labels), *use.arguments[recorder.depth :]),
            use.function,
            use.kind,
            machine.state.facts | facts,
            (*((loop.token, loop.pass_number) for loop in machine.loops), *use.loops[recorder.loops :]),
            iteration_of(identity),
            use.data,
        )

    def replay(self, machine: Machine, numbering: Numbering) -> Value:
        """Do what the recorded call did, to these arguments; the value of the call."""
        renaming = _Renaming(self, machine, numbering)
        recorder = self.recorder
        uses = [(renaming.identity(identity), use) for identity, use in recorder.uses]
        replayed = [(identity, self.use_from(machine, renaming, identity, use)) for identity, use in uses]
        # How the uses inside go together was looked at when they were recorded.
        for identity, use in replayed:
            machine.check_use(identity, use)
        for identity, use in replayed:
            machine.note_use(identity, use)
        for identity in recorder.escapes:
            machine.escape_symbol(renaming.identity(identity))
        for identity in recorder.evidence:
            machine.show(renaming.identity(identity))
        return renaming.value(self.value)


class _Renaming:
    """Takes the identities of a recorded call to those of the present one; what the call
    made is made anew."""

    def __init__(self, summary: Summary, machine: Machine, numbering: Numbering) -> None:
        self.summary, self.machine, self.numbering = summary, machine, numbering
        self.roots: dict[Any, Any] = {}
        self.serial = fresh()[0]
        self.addresses = dict(zip(summary.numbering.addresses, numbering.addresses, strict=False))

    def identity(self, identity: KeyId) -> KeyId:
        known = self.summary.numbering.prefix(identity)
        if known is not None:
            number, size = known
            return (*self.numbering.identities[number], *identity[size:])
        if identity[0] == "made":
            return (*identity[:2], *fresh())
        if not self.summary.recorder.is_new(identity[0]):
            return identity
        root = self.roots.setdefault(identity[0], fresh()[0])
        return (root, *identity[1:])

    def condition(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        """A condition as it is in the present call: one over an argument is over its own, any
        other is not taken for one that was met before."""
        if isinstance(key[0], tuple):
            return self.machine.truth_of(self.identity(key[0]))
        return (self.serial, *key)

    def value(self, value: Value) -> Value:
        if isinstance(value, (Unknown, Scalar)):
            return value if value.symbol is None else replace(value, symbol=self.identity(value.symbol))
        if isinstance(value, (Key, Keys)):
            return replace(value, identity=self.identity(value.identity))
        if isinstance(value, Array):
            return value if value.identity is None else replace(value, identity=self.identity(value.identity))
        if isinstance(value, Tuple):
            return replace(value, items=tuple(self.value(item) for item in value.items))
        if isinstance(value, Iterator):
            return replace(value, sources=tuple(self.value(source) for source in value.sources))
        if isinstance(value, Reference):
            return replace(value, address=self.address(value.address))
        if isinstance(value, (Function, Library)) and value.owner is not None:
            return replace(value, owner=self.value(value.owner))
        if isinstance(value, Transformed):
            return replace(value, function=self.value(value.function))
        if isinstance(value, Partial):
            keywords = tuple((name, self.value(item)) for name, item in value.keywords)
            args = tuple(self.value(item) for item in value.args)
            return replace(value, function=self.value(value.function), args=args, keywords=keywords)
        return value

    def address(self, address: int) -> int:
        if address not in self.addresses:
            contents = self.summary.objects.get(address)
            if contents is None:
                return address
            made = self.addresses[address] = self.machine.state.allocate(contents)
            slots = {name: self.value(item) for name, item in contents.slots.items()}
            rest = None if contents.rest is None else self.value(contents.rest)
            symbol = self.identity(contents.symbol) if contents.symbol else ()
            self.machine.state.heap[made] = Contents(slots, rest, contents.cls, symbol)
        return self.addresses[address]


def _collect(value: Value, recorder: Recorder, machine: Machine, objects: dict[int, Contents]) -> None:
    """Gather the objects that a result holds and the call made."""
    if isinstance(value, Reference):
        if not recorder.is_new(value.address) or value.address in objects:
            return
        contents = machine.state.heap.get(value.address)
        if contents is None or len(objects) > MAX_SLOTS:
            raise NotSummarisable
        objects[value.address] = contents
    for part in _parts(value, objects):
        if part is not None:
            _collect(part, recorder, machine, objects)


def _parts(value: Value, objects: dict[int, Contents]) -> tuple[Value | None, ...]:
    """The values that a value is made of."""
    if isinstance(value, Reference):
        contents = objects[value.address]
        return (*contents.slots.values(), contents.rest)
    if isinstance(value, (Function, Library)):
        return (value.owner,)
    if isinstance(value, Partial):
        return (value.function, *value.args, *(item for _, item in value.keywords))
    if isinstance(value, Transformed):
        return (value.function,)
    return getattr(value, "items", None) or getattr(value, "sources", None) or ()
