"""The work grows with the size of a program, whatever its shape: counted in statements that are
executed, not in seconds."""

from __future__ import annotations

import pytest
from model.reveal import SETUP, run


def steps(source: str) -> int:
    return run(SETUP + source)[0].steps


def loops(depth: int) -> str:
    lines = [f"{'    ' * level}for i{level} in range(3):" for level in range(depth)]
    return "\n".join([*lines, "    " * depth + "x = jnp.zeros(3)"]) + "\n"


def whiles(depth: int) -> str:
    lines = [f"{'    ' * level}while unknown{level}:" for level in range(depth)]
    return "\n".join([*lines, "    " * depth + "x = jnp.zeros(3)"]) + "\n"


def comprehensions(depth: int) -> str:
    return "x = " + "[" * depth + "jnp.zeros(3)" + " for _ in range(3)]" * depth + "\n"


def branches(count: int) -> str:
    return "def f(k, *c):\n" + "".join(
        f"    if c[{n}]:\n        k = jax.random.fold_in(k, {n})\n" for n in range(count)
    )


def nested_branches(depth: int) -> str:
    lines = [f"{'    ' * (level + 1)}if c[{level}]:" for level in range(depth)]
    return "\n".join(["def f(k, *c):", *lines, "    " * (depth + 1) + "x = 1"]) + "\n"


def chain(length: int) -> str:
    """Each function calls the next one twice."""
    functions = [f"def f{n}(x):\n    return f{n + 1}(x) + f{n + 1}(x + 1)\n" for n in range(length)]
    return "".join(functions) + f"def f{length}(x):\n    return x\nf0(jnp.zeros(3))\n"


def tries(depth: int) -> str:
    lines = [f"{'    ' * level}try:" for level in range(depth)]
    lines.append("    " * depth + "x = 1")
    for level in reversed(range(depth)):
        lines += [f"{'    ' * level}except ValueError:", "    " * (level + 1) + "x = 2"]
    return "\n".join(lines) + "\n"


def methods(count: int) -> str:
    head = "class A:\n    def __init__(self):\n        self.x = jnp.zeros(3)\n"
    return head + "".join(f"    def m{n}(self):\n        return self.m{n + 1}()\n" for n in range(count))


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        (loops, 6),
        (whiles, 6),
        (comprehensions, 6),
        (branches, 150),
        (nested_branches, 20),
        (chain, 8),
        (tries, 8),
        (methods, 40),
    ],
)
def test_twice_the_size_is_at_most_some_three_times_the_work(shape: object, size: int) -> None:
    assert callable(shape)
    assert steps(shape(2 * size)) <= 3.2 * steps(shape(size)) + 20


def test_twelve_nested_loops_are_no_problem() -> None:
    assert steps(loops(12)) < 200


def test_the_budget_ends_what_would_not() -> None:
    """Nested functions are not summarised: calls in them are executed each time."""
    functions = [f"    def f{n}(x):\n        " + "; ".join([f"f{n + 1}(x)"] * 6) for n in range(9)]
    interpreter, _ = run("\n".join(["def main(x):", *functions, "    def f9(x): return x", "    f0(x)\n"]))
    assert interpreter.steps <= interpreter.step_limit + 100
