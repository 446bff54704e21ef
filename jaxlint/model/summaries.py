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

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jaxlint.model.state import Contents, Use, fresh, iteration_of
from jaxlint.model.values import (
    Array,
    Class,
    Constant,
    Function,
    Imported,
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
        kind = type(value)
        if kind is Unknown:
            return ("unknown", value.traced, self.number(value.symbol))  # type: ignore[attr-defined]
        if kind is Constant:
            return ("constant", type(value.value), value.value)  # type: ignore[attr-defined]
        if isinstance(value, (Key, Keys)):
            return (kind, value.traced, self.number(value.identity), getattr(value, "shape", None))
        if isinstance(value, Array):
            return (kind, value.traced, value.shape, value.dtype, self.number(value.identity))
        if isinstance(value, Scalar):
            return (kind, value.traced, value.type, self.number(value.symbol))
        if depth > MAX_NESTED:
            raise NotSummarisable
        if isinstance(value, Tuple):
            return (kind, value.traced, *(self.describe(item, depth + 1) for item in value.items))
        if isinstance(value, Reference):
            return self.describe_object(value.type, value.address, depth)
        if isinstance(value, Function):
            owner = None if value.owner is None else self.describe(value.owner, depth + 1)
            return (kind, id(value.node), value.closure and value.closure.serial, owner)
        if isinstance(value, Class):
            return (kind, id(value.node))
        if isinstance(value, Library):
            owner = None if value.owner is None else self.describe(value.owner, depth + 1)
            return (kind, value.signature and value.signature.path, owner)
        if isinstance(value, Transformed):
            options = tuple((name, self.describe(option, depth + 1)) for name, option in value.options)
            return (kind, value.transform, self.describe(value.function, depth + 1), options)
        if isinstance(value, Partial):
            bound = [*value.args, *(item for _, item in value.keywords)]
            names = tuple(name for name, _ in value.keywords)
            return (kind, self.describe(value.function, depth + 1), names, *(self.describe(v, depth + 1) for v in bound))
        if isinstance(value, Iterator):
            return (kind, value.kind, *(self.describe(source, depth + 1) for source in value.sources))
        return (kind, value)

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

    def describe_object(self, type_name: str, address: int, depth: int) -> Any:
        if address in self.addresses:
            return ("object", self.addresses.index(address))
        self.addresses.append(address)
        contents = self.machine.state.heap.get(address)
        if contents is None or len(contents.slots) > MAX_SLOTS:
            raise NotSummarisable
        slots = tuple((name, self.describe(item, depth + 1)) for name, item in contents.slots.items())
        rest = None if contents.rest is None else self.describe(contents.rest, depth + 1)
        symbol = self.number(contents.symbol) if contents.symbol else None
        cls = contents.cls
        return ("object", type_name, id(cls.node) if isinstance(cls, Class) else cls, symbol, slots, rest)

    def prefix(self, identity: KeyId) -> tuple[int, int] | None:
        """The number of the argument that `identity` is or derives from, and how much of
        `identity` that is."""
        best: tuple[int, int] | None = None
        for number, known in enumerate(self.identities):
            size = len(known)
            if identity[:size] == known and (best is None or size > best[1]):
                best = number, size
        return best


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
        return cls(recorder.numbering, recorder, value, objects)

    def is_current(self, machine: Machine) -> bool:
        """Whether the names that the function took from the module are bound as then."""
        names = machine.globals.names
        return all(names.get(name) is value for name, value in self.recorder.free.items())

    def use_from(self, machine: Machine, identity: KeyId, use: Use) -> Use:
        """A recorded use as it happens in the call that is running now."""
        recorder = self.recorder
        serial = fresh()[0]
        facts = frozenset(((serial, *key), outcome, recurs) for key, outcome, recurs in use.facts - recorder.facts)
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
        replayed = [(identity, self.use_from(machine, identity, use)) for identity, use in uses]
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
    if isinstance(value, Reference) and recorder.is_new(value.address) and value.address not in objects:
        contents = machine.state.heap.get(value.address)
        if contents is None or len(objects) > MAX_SLOTS:
            raise NotSummarisable
        objects[value.address] = contents
        for item in (*contents.slots.values(), *([contents.rest] if contents.rest is not None else [])):
            _collect(item, recorder, machine, objects)
    elif isinstance(value, Tuple):
        for item in value.items:
            _collect(item, recorder, machine, objects)
    elif isinstance(value, Iterator):
        for item in value.sources:
            _collect(item, recorder, machine, objects)
    elif isinstance(value, (Transformed, Partial)):
        _collect(value.function, recorder, machine, objects)
        for item in value.args if isinstance(value, Partial) else ():
            _collect(item, recorder, machine, objects)
    elif isinstance(value, (Function, Library)) and value.owner is not None:
        _collect(value.owner, recorder, machine, objects)
