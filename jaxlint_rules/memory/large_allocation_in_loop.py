"""A large array is made in each pass of a loop while its name still holds the previous one.

## Why is this bad?
A name keeps its array alive until it is bound anew, and it is bound anew only after the new array
exists. So each pass from the second on holds two arrays where one would do.

## Use instead
`del x` at the end of the pass, `x.delete()`, or do the work of a pass in a function of its own,
whose names end with it. An array that does not change from pass to pass belongs in front of the
loop. `jax.clear_caches()` does not free arrays: it throws compiled programs away.

## Not reported
Arrays below `large-array-bytes` (1 MiB unless set), arrays whose size is not known, arrays whose
old value the pass reads (`x = x * 0.9`: donate it to a jitted function instead) or that something
else holds too, and loops in traced functions, where XLA plans the memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.claims import KeepsAlive
from jaxlint.model.events import LargeArrayRebound
from jaxlint.rule import Hit, Rule

rule = Rule(
    code="JAX301",
    name="large-allocation-in-loop",
    group="performance",
    message="each pass of the loop on line {loop} makes an array of {size} while `{name}` still holds the last one",
    help="Do the work of a pass in a function, or end it with `del {name}` if nothing reads it later: the two take {total}.",
    claim=KeepsAlive(1.4),
)

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


@rule.on(LargeArrayRebound)
def check(event: LargeArrayRebound) -> Iterator[Hit]:
    """A name that the loop binds anew."""
    yield rule.hit(
        event.site,
        places={"loop": event.loop},
        name=event.name,
        size=in_units(event.nbytes),
        total=in_units(2 * event.nbytes),
    )


def in_units(nbytes: float) -> str:
    """A number of bytes as people write it: "64.0 MiB"."""
    for unit in UNITS[:-1]:
        if nbytes < 1024:
            return f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} {UNITS[-1]}"
