"""A PRNG key is split and used again.

## Why is this bad?
A key that was split is spent: its bits fix those of its children. Split twice, it gives the same
subkeys twice. Where a key is sampled from as well as split, no correlation was measured between
the draws of parent and child, but JAX's own checker (`jax_debug_key_reuse`) raises
`KeyReuseError`, since nothing promises that they are independent.

## Use instead
Replace the parent: `key, subkey = jax.random.split(key)`, then use `subkey` and split `key` again.
Ask for as many subkeys as are needed at once: `jax.random.split(key, 3)`.

## Not reported
Uses on paths that exclude each other, and `fold_in`, which does not spend a key.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.claims import AnyOf, IdenticalDraws, KeyReuse
from jaxlint.model.events import KeyReused
from jaxlint.rule import Hit, Rule

rule = Rule(
    code="JAX203",
    name="key-used-after-split",
    group="suspicious",
    message="PRNG key `{name}` is {use} here and {earlier_use} on line {earlier}{when}: {consequence}",
    help="Replace the key when it is split, `key, subkey = jax.random.split(key)`, and use `subkey`.",
    claim=AnyOf(IdenticalDraws(), KeyReuse()),
)

VERBS = {"split": "split", "sample": "used"}


@rule.on(KeyReused)
def check(event: KeyReused) -> Iterator[Hit]:
    """A split and another use, or two splits, at two places."""
    use, earlier = event.use, event.earlier
    if "split" not in (use.kind, earlier.kind) or (event.in_loop and use.site is earlier.site):
        return
    if event.in_loop:
        use, earlier = earlier, use
    twice = use.kind == earlier.kind
    yield rule.hit(
        event.site,
        places={"earlier": earlier.site},
        name=event.name,
        use=VERBS[use.kind],
        earlier_use=("is " if event.in_loop else "was already ") + VERBS[earlier.kind],
        when=" in the next pass" if event.in_loop else "",
        consequence="both give the same subkeys" if twice else "nothing keeps the draws independent",
    )
