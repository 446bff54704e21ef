"""Observers see what is there, and do not see what is not."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import random

from jaxlint import claims
from jaxlint.claims import AnyOf, Claim, Correlated, IdenticalDraws, KeepsAlive, Raises
from jaxlint.verify.observers import (
    OBSERVERS,
    Observation,
    Program,
    live_bytes,
    peak_live_bytes,
    rank_correlation,
)

SHAPE = (256, 1024)
BYTES = 4 * 256 * 1024
IMMUTABLE = Raises("TypeError|AttributeError", "immutable|__delitem__")


def look(claim: Claim, program: Program, twin: Program | None = None) -> Observation:
    return OBSERVERS[type(claim)].observe(claim, program, twin or program)


def draws(*seeds: int, size: int = 4) -> Callable[[], list[Any]]:
    def program() -> list[Any]:
        return [random.normal(random.PRNGKey(seed), (size,)) for seed in seeds]

    return program


def test_every_claim_has_an_observer() -> None:
    found = {value for value in vars(claims).values() if isinstance(value, type) and issubclass(value, Claim)}
    assert set(OBSERVERS) == found - {Claim, AnyOf}


def store() -> None:
    array = jnp.zeros(3)
    operator.setitem(array, 0, 1.0)


def delete() -> None:
    array = jnp.zeros(3)
    operator.delitem(array, 0)


def update() -> None:
    jnp.zeros(3).at[0].set(1.0)


@pytest.mark.parametrize("program", [store, delete])
def test_raises_sees_the_exception_and_where_it_came_from(program: Program) -> None:
    seen = look(IMMUTABLE, program)
    assert seen.outcome == "seen"
    assert seen.lines == (program.__code__.co_firstlineno + 2,)


def test_raises_says_no_without_an_exception() -> None:
    assert look(IMMUTABLE, update).outcome == "absent"


@pytest.mark.parametrize(
    "claim", [Raises("ValueError", "immutable"), Raises("TypeError", "mutable by chance"), Raises("Type", "")]
)
def test_raises_takes_no_other_exception_for_it(claim: Raises) -> None:
    with pytest.raises(TypeError):
        look(claim, store)


def test_identical_draws_sees_two_of_three() -> None:
    assert look(IdenticalDraws(), draws(0, 1, 0)) == Observation("seen", "2 different of 3 draws")


def test_identical_draws_says_no_to_different_ones() -> None:
    assert look(IdenticalDraws(), draws(0, 1, 2)) == Observation("absent", "3 different of 3 draws")


def test_identical_draws_compares_shape_and_type_too() -> None:
    assert look(IdenticalDraws(), lambda: [jnp.zeros(4), jnp.zeros((2, 2))]).outcome == "absent"
    assert look(IdenticalDraws(), lambda: [jnp.zeros(4), jnp.zeros(4, int)]).outcome == "absent"


@pytest.mark.parametrize("make", [random.PRNGKey, random.key])
def test_identical_draws_compares_keys(make: Callable[[int], Any]) -> None:
    assert look(IdenticalDraws(), lambda: [make(0), make(0)]).outcome == "seen"
    assert look(IdenticalDraws(), lambda: [make(0), make(1)]).outcome == "absent"


def test_one_draw_shows_nothing() -> None:
    with pytest.raises(ValueError, match="two draws"):
        look(IdenticalDraws(), draws(0))


def two_samplers(first: Any, second: Any) -> Callable[[], tuple[Any, Any]]:
    return lambda: (first(random.PRNGKey(0), (2000,)), second(random.PRNGKey(0), (2000,)))


@pytest.mark.parametrize("other", [random.uniform, random.exponential, random.gumbel])
def test_correlated_sees_one_key_in_two_samplers(other: Any) -> None:
    assert look(Correlated(0.99), two_samplers(random.normal, other)).outcome == "seen"


def test_correlated_sees_opposite_order() -> None:
    assert (
        look(Correlated(0.99), two_samplers(random.normal, lambda *args: -random.normal(*args))).outcome
        == "seen"
    )


def test_correlated_says_no() -> None:
    def gamma(key: Any, shape: tuple[int]) -> Any:
        return random.gamma(key, 2.0, shape)

    assert look(Correlated(0.99), draws(0, 1, 2, size=2000)).outcome == "absent"
    assert look(Correlated(0.99), two_samplers(random.normal, gamma)).outcome == "absent"


def test_correlated_wants_a_sample() -> None:
    """Of two numbers each, all are correlated."""
    assert look(Correlated(0.99), draws(0, 1, size=2)).outcome == "absent"


def test_rank_correlation_shares_the_rank_of_equal_numbers() -> None:
    """Against a value worked out by hand: ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4."""
    a, b = jnp.array([1.0, 2.0, 2.0, 3.0]), jnp.array([1.0, 2.0, 3.0, 4.0])
    assert rank_correlation(a, b) == pytest.approx(4.5 / (4.5 * 5.0) ** 0.5)


def keeps() -> None:
    for i in range(3):
        x = jnp.ones(SHAPE) * i  # noqa: F841


def releases() -> None:
    for i in range(3):
        x = jnp.ones(SHAPE) * i
        del x


class Owner:
    """Has an attribute."""

    x: Any


def keeps_in_an_attribute() -> None:
    owner = Owner()
    for i in range(3):
        owner.x = jnp.ones(SHAPE) * i


@pytest.mark.parametrize("program", [keeps, keeps_in_an_attribute])
def test_keeps_alive_sees_two_buffers_where_one_is_enough(program: Program) -> None:
    seen = look(KeepsAlive(1.4), program, releases)
    assert seen == Observation("seen", "peak live bytes 2.0 times the good twin's")


def test_keeps_alive_says_no() -> None:
    assert look(KeepsAlive(1.4), releases).outcome == "absent"
    assert look(KeepsAlive(1.4), keeps).outcome == "absent"
    assert look(KeepsAlive(1.4), lambda: None).outcome == "absent"


def test_peak_is_counted_in_bytes_and_from_where_the_program_starts() -> None:
    before = jnp.ones(SHAPE)
    assert peak_live_bytes(keeps) == 2 * BYTES
    assert peak_live_bytes(releases) == BYTES
    assert before.size


def test_peak_sees_into_functions_that_the_program_calls() -> None:
    def helper() -> Any:
        return [jnp.ones(SHAPE) + i for i in range(3)]

    assert peak_live_bytes(lambda: float(helper()[0][0, 0])) == 3 * BYTES


def test_peak_leaves_the_tracer_as_it_was() -> None:
    def tracer(*_: Any) -> None:
        return None

    outer = sys.gettrace()
    sys.settrace(tracer)
    try:
        peak_live_bytes(releases)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(outer)


def test_deleted_and_donated_arrays_do_not_count() -> None:
    before = live_bytes()
    array = jnp.ones(SHAPE)
    assert live_bytes() == before + BYTES
    array.delete()
    assert live_bytes() == before

    array = jnp.ones(SHAPE)
    other = jax.jit(lambda x: x + 1, donate_argnums=0)(array)
    assert live_bytes() == before + BYTES
    assert other.size == array.size
