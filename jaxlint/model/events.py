"""Everything the model tells the rules. Read this first.

The interpreter executes a file over abstract values (`values.py`). Where
something happens that a rule may care for it emits one of the events below, with
values, names and source text ready to use. A rule subscribes to event types and
walks no tree. An event is emitted only where the model *knows*: in doubt there is
no event, so that a rule need not ask.

A `site` is the syntax node to point at. Loop bodies are executed twice, and a
function once for each way it is called, so one event may come several times; the
runner drops findings of one code on one site after the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.model.values import Array, Value

    Site: TypeAlias = cst.CSTNode


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    site: Site


@dataclass(frozen=True, slots=True)
class ItemStored(Event):
    """An element is assigned, `base[index] = value`, or updated in place.

    x = jnp.zeros(3)
    x[0] = 1.0        # base_text "x", index_text "0", operator ""
    x[1:] *= 2.0      # base_text "x", index_text "1:", operator "*"
    """

    base: Value
    base_text: str
    index_text: str
    operator: str


@dataclass(frozen=True, slots=True)
class ItemDeleted(Event):
    """An element is deleted: `del x[0]`."""

    base: Value
    base_text: str
    index_text: str


KeyUseKind: TypeAlias = Literal["sample", "split"]


@dataclass(frozen=True, slots=True)
class KeyUse:
    """One consumption of a key: where, and by which function ("jax.random.normal").

    `site` is the place in the function that both uses of a pair share: where a
    helper consumes its parameter, the call of the helper.
    """

    site: Site
    function: str
    kind: KeyUseKind


@dataclass(frozen=True, slots=True)
class KeyReused(Event):
    """A key is consumed that was consumed before, on one path.

        a = jax.random.normal(key)
        b = jax.random.uniform(key)    # earlier: the line above

    In a loop the second use may be the first one met again (`in_loop`, and
    `earlier.site` is `site`), or stand above it (`in_loop`, another site).
    `loop` is the loop or comprehension, or the call that runs a body many times.
    """

    name: str
    use: KeyUse
    earlier: KeyUse
    in_loop: bool
    loop: Site | None


@dataclass(frozen=True, slots=True)
class LargeArrayRebound(Event):
    """In a loop, a name still holds the array that the last pass made while this
    pass makes the next one; the array has `large-array-bytes` or more and was not
    read in this pass.

        for i in range(1000):
            x = jnp.ones((1000, 1000)) * i    # nbytes 4,000,000
    """

    name: str
    array: Array
    nbytes: int
    loop: Site


@dataclass(frozen=True, slots=True)
class Revealed(Event):
    """`reveal(x)`, a name that is defined nowhere: what the model knows of `x`. For tests
    of the model."""

    description: str
