"""A call that is replayed from its summary does what it did when it was executed."""

from __future__ import annotations

import pytest
from hypothesis import given
from key_programs import SETTINGS, explain, programs
from model.reveal import SETUP, run

from jaxlint.model.events import KeyReused, Revealed
from jaxlint.model.interpreter import Interpreter
from jaxlint.model.state import Frame
from jaxlint.model.values import Function, Tracing, Value
from jaxlint.source.positions import locate


class Executing(Interpreter):
    """Executes every call."""

    def execute(self, function: Function, names: dict[str, Value], trace: Tracing | None) -> Value:
        return self.run_function(function, names, trace)


class Counting(Interpreter):
    """Counts the calls that are executed."""

    executed = 0

    def run_function(self, function: Function, names: dict[str, Value], trace: Tracing | None) -> Value:
        self.executed += 1
        return super().run_function(function, names, trace)

    def run_pending(self, frame: Frame) -> None:
        """Leaves out what nobody calls."""


def told(source: str, kind: type[Interpreter]) -> set[tuple[object, ...]]:
    """What an interpreter says of a program, by places."""
    interpreter, events = run(source, kind)
    reused = [event for event in events if isinstance(event, KeyReused)]
    sites = {site for event in reused for site in (event.site, event.use.site, event.earlier.site)}
    places = locate(interpreter.module, sites)
    found: set[tuple[object, ...]] = {
        (places[e.site], places[e.earlier.site], e.name, e.use.function, e.earlier.function, e.in_loop)
        for e in reused
    }
    return found | {("revealed", event.description) for event in events if isinstance(event, Revealed)}


@SETTINGS
@given(source=programs(related=True))
def test_replayed_and_executed_calls_tell_the_same(source: str) -> None:
    assert told(source, Interpreter) == told(source, Executing), explain(source, [])


HELPERS = """
def twice(k):
    return jax.random.normal(k) + jax.random.normal(k)
def made(n):
    return {"x": jnp.zeros(n), "k": jax.random.key(n)}
def store(box, value):
    box["v"] = value
def first(pair):
    return pair[0]
def wrap(k):
    return [k, first((k, 1))]
def outer(k):
    def inner():
        return k
    return inner()
def guarded(k, flag):
    if flag:
        return jax.random.normal(k)
"""


PROGRAMS = """\
### one key each
a = twice(jax.random.key(0))
b = twice(jax.random.key(1))
### two objects
a, b = made(3), made(3)
jax.random.normal(a['k'])
jax.random.normal(b['k'])
reveal(a['x'])
reveal(b['x'])
### objects are not shared
a, b = made(3), made(3)
a['x'] = 1
reveal(a['x'])
reveal(b['x'])
### stores
a, b = {}, {}
store(a, 1)
store(b, jnp.zeros(2))
store(a, 2)
reveal(a['v'])
reveal(b['v'])
### one key in two lists
k = jax.random.key(0)
a, b = wrap(k), wrap(k)
jax.random.normal(a[0])
jax.random.normal(b[1])
### two keys in lists
k, l = jax.random.key(0), jax.random.key(1)
a, b = wrap(k), wrap(l)
jax.random.normal(a[0])
jax.random.normal(b[1])
### closures
k, l = jax.random.key(0), jax.random.key(1)
reveal(outer(k))
jax.random.normal(outer(k))
jax.random.normal(outer(l))
jax.random.normal(outer(k))
### related flags
def f(k, l, c):
    guarded(k, c)
    guarded(l, c)
    guarded(k, not c)
### a flag and its negation
def f(k, c):
    guarded(k, c)
    if not c:
        guarded(k, True)
    guarded(k, c)
### in a loop
def f(k, l):
    for i in range(3):
        guarded(k, i)
        guarded(l, True)
"""


@pytest.mark.parametrize("program", PROGRAMS.split("###")[1:])
def test_replay_by_hand(program: str) -> None:
    source = f"{SETUP}{HELPERS}#{program}"
    assert told(source, Interpreter) == told(source, Executing)


def test_a_call_like_an_earlier_one_is_not_executed() -> None:
    source = SETUP + HELPERS + "for i in range(3):\n    twice(jax.random.key(i))\ntwice(jax.random.key(7))\n"
    interpreter, _ = run(source, Counting)
    assert isinstance(interpreter, Counting)
    assert interpreter.executed == 1
