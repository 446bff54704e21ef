"""A PRNG key is used twice on one path.

## Why is this bad?
A JAX key is not a generator: it does not change when it is used. Two calls of one sampler with
one key and one shape give the same numbers, bit for bit. Samplers that invert a distribution
function (`normal`, `uniform`, `exponential`, `gumbel`, `laplace`, `truncated_normal`, `cauchy`)
give numbers in the same order from one key: their rank correlation is 1. Nothing is raised.

## Use instead
One key for each use: `key, subkey = jax.random.split(key)`, or `jax.random.fold_in(key, i)` with
different data each time. `jax.random.clone(key)` says that a reuse is meant.

## Not reported
Uses on paths that exclude each other (branches, early returns, a condition and its negation),
`fold_in`, which does not spend a key, one shuffle (`permutation`, `choice`) of several arrays, which
keeps their rows together, and keys that are handed to functions that jaxlint knows
nothing about.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.claims import AnyOf, Correlated, IdenticalDraws
from jaxlint.model.events import KeyReused
from jaxlint.rule import Hit, Rule

rule = Rule(
    code="JAX201",
    name="key-reused",
    group="correctness",
    message="PRNG key `{name}` was already used on line {earlier}: {consequence}",
    help="Give each use a key of its own: `key, subkey = jax.random.split(key)`.",
    claim=AnyOf(IdenticalDraws(), Correlated(0.99)),
)


@rule.on(KeyReused)
def check(event: KeyReused) -> Iterator[Hit]:
    """Two samplers, or one twice, and no loop between them."""
    if event.in_loop or "split" in (event.use.kind, event.earlier.kind):
        return
    same = event.use.function == event.earlier.function
    consequence = "the same arguments give the same numbers" if same else "the draws are not independent"
    yield rule.hit(
        event.site, places={"earlier": event.earlier.site}, name=event.name, consequence=consequence
    )
