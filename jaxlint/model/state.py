"""What is known at one point of the program, and how two points become one.

A `State` holds the names of the running function, the heap, the uses of keys and
the conditions that are known to hold. A branch works on a `fork`; where paths
meet, `join` keeps what both agree on. The names of enclosing functions belong to
their `Frame`s and are not forked: a nested function that rebinds one (`nonlocal`)
weakens it instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from jaxlint.model.values import (
    UNKNOWN,
    AnyArray,
    Array,
    Class,
    Constant,
    Function,
    Key,
    KeyId,
    Keys,
    Scalar,
    Tracing,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    import libcst as cst

Fact: TypeAlias = tuple[Any, bool, bool]
"""A condition, how it came out, and whether it may come out so again in a later pass of a
loop, whatever the loop changes ("every tenth pass", "unless it was left")."""

Facts: TypeAlias = frozenset[Fact]
NO_FACTS: Facts = frozenset()

MAX_USES = 4
"""The uses that are remembered of one key."""

_serial = count(1)


@dataclass(frozen=True, slots=True)
class Use:
    """One consumption of a key.

    `chain` goes from the call in the outermost running function down to the
    consuming call itself, `arguments` says in which argument each was given the key
    (None: in no argument, but through a closure or an object); `facts` are the conditions
    under which it ran, `loops` the passes of the loops round it; `iteration` tells one way
    through a batch of keys from another; `data` is what a shuffle is applied to.
    """

    chain: tuple[cst.CSTNode, ...]
    arguments: tuple[cst.CSTNode | None, ...]
    function: str
    kind: str
    facts: Facts
    loops: tuple[tuple[int, int], ...]
    iteration: int = 0
    data: Value | None = None


@dataclass(frozen=True, slots=True)
class Contents:
    """What a heap object holds: a list by index, a dict by key, an instance by
    attribute. `rest` is what any other slot holds, None where there is no other.
    """

    slots: Mapping[Any, Value]
    rest: Value | None = None
    cls: Value | None = None
    symbol: KeyId = ()

    @property
    def complete(self) -> bool:
        return self.rest is None

    def storing(self, slot: Any, value: Value) -> Contents:
        return replace(self, slots={**self.slots, slot: value})


class Frame:
    """One running function (or the module, or a class body): its names, and the
    frame that its free names are looked up in. `fields` are the annotations of a class
    body, None elsewhere; `pending` what is defined here and not analysed yet."""

    __slots__ = (
        "exits",
        "fields",
        "names",
        "nonlocals",
        "parent",
        "pending",
        "pruned",
        "serial",
        "trace",
        "yields",
    )

    def __init__(self, parent: Frame | None, names: dict[str, Value], trace: Tracing | None = None) -> None:
        self.serial = next(_serial)
        self.parent = parent
        self.names = names
        self.trace = trace
        self.nonlocals: dict[str, Frame] = {}
        self.exits: list[tuple[State, Value]] = []
        self.pending: list[Function | Class] = []
        self.fields: dict[str, cst.BaseExpression] | None = None
        self.yields = False
        self.pruned = False


def fresh() -> KeyId:
    """An identity that nothing else has."""
    return (next(_serial),)


@dataclass(slots=True)
class State:
    """One path's knowledge."""

    names: dict[str, Value] = field(default_factory=dict)
    heap: dict[Any, Contents] = field(default_factory=dict)
    uses: dict[KeyId, tuple[Use, ...]] = field(default_factory=dict)
    dead: frozenset[KeyId] = frozenset()
    facts: Facts = NO_FACTS

    def fork(self) -> State:
        return State(self.names.copy(), self.heap.copy(), self.uses.copy(), self.dead, self.facts)

    def allocate(self, contents: Contents) -> int:
        address = next(_serial)
        self.heap[address] = contents
        return address


def join_states(left: State | None, right: State | None) -> State | None:
    """What holds after two paths meet; None stands for a path that does not get here."""
    if left is None or right is None:
        return left or right
    keys = _KeyJoin(left, right)
    left.names = keys.join_maps(left.names, right.names)
    if left.heap is not right.heap:
        left.heap = _join_heaps(keys, left.heap, right.heap)
    for identity, uses in right.uses.items():
        mine = left.uses.get(identity)
        if mine is None:
            left.uses[identity] = uses
        elif mine is not uses:
            left.uses[identity] = join_uses(mine, uses)
    left.uses.update(keys.uses)
    left.dead |= right.dead
    left.facts &= right.facts
    return left


def _join_heaps(keys: _KeyJoin, left: dict[Any, Contents], right: dict[Any, Contents]) -> dict[Any, Contents]:
    for address, theirs in right.items():
        mine = left.get(address)
        if mine is None:
            left[address] = theirs
        elif mine is not theirs:
            left[address] = _join_contents(keys, mine, theirs)
    return left


def _join_contents(keys: _KeyJoin, left: Contents, right: Contents) -> Contents:
    slots: dict[Any, Value] = {}
    complete = left.complete and right.complete and left.slots.keys() == right.slots.keys()
    for slot in left.slots.keys() | right.slots.keys():
        mine, theirs = left.slots.get(slot, left.rest), right.slots.get(slot, right.rest)
        if mine is None or theirs is None:
            slots[slot] = mine or theirs or UNKNOWN
        else:
            slots[slot] = keys.join(mine, theirs)
    rest = None if complete else keys.join(left.rest or UNKNOWN, right.rest or UNKNOWN)
    return Contents(slots, rest, left.cls, left.symbol)


class _KeyJoin:
    """Joins values; a name that holds one key on the left and another on the right
    holds a new key after the join, used where the one on its own path was used."""

    def __init__(self, left: State, right: State) -> None:
        self.left, self.right = left, right
        self.uses: dict[KeyId, tuple[Use, ...]] = {}
        self.made: dict[tuple[KeyId, KeyId], KeyId] = {}

    def join_maps(self, left: dict[str, Value], right: dict[str, Value]) -> dict[str, Value]:
        for name, theirs in right.items():
            mine = left.get(name)
            if mine is None:
                left[name] = theirs
            elif mine is not theirs and mine != theirs:
                left[name] = self.join(mine, theirs)
        return left

    def join(self, left: Value, right: Value) -> Value:
        if left is right or left == right:
            return left
        if isinstance(left, Key) and isinstance(right, Key):
            return Key(left.traced or right.traced, self._identity(left.identity, right.identity))
        if isinstance(left, Keys) and isinstance(right, Keys):
            shape = left.shape if left.shape == right.shape else None
            return Keys(left.traced or right.traced, self._identity(left.identity, right.identity), shape)
        if isinstance(left, Tuple) and isinstance(right, Tuple) and len(left.items) == len(right.items):
            items = tuple(self.join(a, b) for a, b in zip(left.items, right.items, strict=True))
            return Tuple(left.traced or right.traced, items)
        mine, theirs = key_identity(left), key_identity(right)
        if mine is not None and theirs is not None:
            return Unknown(left.traced or right.traced, self._identity(mine, theirs))
        return join_values(left, right)

    def _identity(self, left: KeyId, right: KeyId) -> KeyId:
        if left == right:
            return left
        if (left, right) not in self.made:
            made = self.made[left, right] = fresh()
            uses = join_uses(uses_on_path(self.left, left), uses_on_path(self.right, right))
            if uses:
                self.uses[made] = uses
        return self.made[left, right]


def join_uses(left: tuple[Use, ...], right: tuple[Use, ...]) -> tuple[Use, ...]:
    """The uses of a key on two paths, as many as are kept."""
    known = {id(use) for use in left}
    return (*left, *(use for use in right if id(use) not in known))[:MAX_USES]


def uses_on_path(state: State, identity: KeyId) -> tuple[Use, ...]:
    """The uses of a key that can lie behind `state`: not those under a condition that came
    out otherwise."""
    held = {(condition, outcome) for condition, outcome, _ in state.facts}
    return tuple(
        use
        for use in state.uses.get(identity, ())
        if not any((condition, not outcome) in held for condition, outcome, _ in use.facts)
    )


def key_identity(value: Value) -> KeyId | None:
    """The identity under which a value would be consumed as a key."""
    if isinstance(value, (Key, Array)):
        return value.identity
    if isinstance(value, Unknown):
        return value.symbol
    return None


def iteration_of(identity: KeyId) -> int:
    """The way through a batch of keys that met the key `identity`, 0 for any other key."""
    element = identity[-1]
    return element[1] if isinstance(element, tuple) and element[0] == "each" else 0


def join_values(left: Value, right: Value) -> Value:
    """What is known of a value that is `left` on one path and `right` on the other."""
    if left is right or left == right:
        return left
    traced = left.traced or right.traced
    if isinstance(left, AnyArray) and type(left) is type(right):
        assert isinstance(right, AnyArray)
        dtype = left.dtype if left.dtype == right.dtype else None
        return type(left)(traced, _join_shapes(left.shape, right.shape), dtype)
    left_type, right_type = scalar_type(left), scalar_type(right)
    if left_type is not None and left_type == right_type:
        return Scalar(traced, left_type, fresh())
    return Unknown(traced)


def scalar_type(value: Value) -> str | None:
    """The name of the built-in type of a Python scalar."""
    if isinstance(value, Scalar):
        return value.type
    if isinstance(value, Constant) and value.value is not None:
        return type(value.value).__name__
    return None


def _join_shapes(left: Any, right: Any) -> Any:
    if left is None or right is None or len(left) != len(right):
        return None
    return tuple(a if a == b else None for a, b in zip(left, right, strict=True))
