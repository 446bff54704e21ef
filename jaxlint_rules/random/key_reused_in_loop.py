"""A PRNG key is used in every pass of a loop or comprehension.

## Why is this bad?
The key does not change from pass to pass, so each pass draws the same numbers. Nothing is raised.
The same holds for a key that is split in each pass and not replaced: the subkeys are equal.

## Use instead
Carry the key: `key, subkey = jax.random.split(key)` at the top of each pass. Or make one key a
pass in front of the loop, `for subkey in jax.random.split(key, n)`, or derive it from the loop's
counter, `jax.random.fold_in(key, i)`.

## Not reported
A use that a condition over the loop's own state may keep to one pass (`if i == 0:`), a loop that
is left after its first pass, and keys that the loop makes anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.claims import IdenticalDraws
from jaxlint.model.events import KeyReused
from jaxlint.rule import Hit, Rule

rule = Rule(
    code="JAX202",
    name="key-reused-in-loop",
    group="correctness",
    message="PRNG key `{name}` is the same in each pass of the loop on line {loop}: {consequence}",
    help="Derive a new one in each pass: `key, subkey = jax.random.split(key)`.",
    claim=IdenticalDraws(),
)


@rule.on(KeyReused)
def check(event: KeyReused) -> Iterator[Hit]:
    """One place that spends the same key in each pass."""
    if not event.in_loop or event.loop is None or event.use.site is not event.earlier.site:
        return
    split = event.use.kind == event.earlier.kind == "split"
    consequence = "it gives the same subkeys each time" if split else "it draws the same numbers each time"
    yield rule.hit(event.site, places={"loop": event.loop}, name=event.name, consequence=consequence)
