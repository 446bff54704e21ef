"""An element of a JAX array is assigned in place.

## Why is this bad?
JAX arrays are immutable. `x[i] = v`, `x[i] += v` and every other form that stores into an
element raise `TypeError`, and `del x[i]` raises `AttributeError`. NumPy code that is moved to
`jax.numpy` by changing its import meets this first.

## Use instead
`x = x.at[i].set(v)`, which gives a new array. Each in-place operator has its method:
`x[i] += v` becomes `x = x.at[i].add(v)`. Under `jit` XLA turns the copy into an update in
place wherever the old array is not needed any more.

Where the index is an array that names an element twice, NumPy's `a[idx] += 1` adds once, and
`.at[idx].add(1)` adds each time.

## Not reported
Stores into NumPy arrays, lists, dicts, mutable references (`jax.new_ref`, the arguments of a
Pallas kernel), and into anything that is not known to be a JAX array. An argument of a jitted
function counts as an array once something is done with it that only an array allows.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.claims import Raises
from jaxlint.model.events import ItemDeleted, ItemStored
from jaxlint.rule import Hit, Rule

METHODS = {
    "": "set",
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "**": "power",
}

rule = Rule(
    code="JAX101",
    name="item-assignment",
    group="correctness",
    message="JAX arrays are immutable: `{statement}` raises {error}",
    help="To get a new array, {cure}.",
    claim=Raises("TypeError|AttributeError", "immutable|__delitem__|does not support item"),
)


@rule.on(ItemStored)
def check_store(event: ItemStored) -> Iterator[Hit]:
    """`x[i] = v` and `x[i] += v`."""
    target = f"{event.base_text}[{event.index_text}]"
    method = METHODS.get(event.operator)
    value = f"{method}(…)" if method else f"set({target} {event.operator} …)"
    yield rule.hit(
        event.site,
        statement=f"{target} {event.operator}= …",
        error="TypeError",
        cure=_cure(event.base_text, f"{event.base_text}.at[{event.index_text}].{value}"),
    )


@rule.on(ItemDeleted)
def check_deletion(event: ItemDeleted) -> Iterator[Hit]:
    """`del x[i]`."""
    yield rule.hit(
        event.site,
        statement=f"del {event.base_text}[{event.index_text}]",
        error="AttributeError",
        cure=_cure(event.base_text, f"jnp.delete({event.base_text}, {event.index_text})"),
    )


def _cure(base: str, value: str) -> str:
    """What to write: bind the name anew, where there is one."""
    named = all(part.isidentifier() for part in base.split("."))
    return f"write `{base} = {value}`" if named else f"bind what `{value}` gives"
