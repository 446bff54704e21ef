"""Odd but valid programs that the model has to get through."""

from __future__ import annotations

import libcst as cst
import pytest

from jaxlint.model.interpreter import Options, analyse

PROGRAMS = {
    "objects that hold each other": """
class Node: ...
a, b = Node(), Node()
a.next, b.next = b, a
for node in [a, a]:
    pass
items = []
items.append(items)
for item in items:
    for inner in item:
        pass
""",
    "built-ins without their positional arguments": """
for i, x in enumerate(iterable=[1, 2]):
    pass
for x in zip():
    pass
list(map(None))
range()
len()
next()
dict(**{})
isinstance()
""",
    "names that are bound to what they are not": """
import jax
jax.numpy = 3
jax.random.normal(*[], **{})
jax.vmap()
jax.jit(jax.jit)(jax.jit)
jax.lax.scan()
jax.lax.cond(True)
jax.random.split()
""",
    "targets of every kind": """
(a, *b), [c, d] = e = f
for x.y, z[0] in w: pass
with p as (q, *r): pass
del (a, [c]), e[0], x.y
a: int
x.y: int = 3
""",
    "recursion": """
def f(x): return g(x)
def g(x): return f(x)
f(f)
h = lambda: h()
h()
class A:
    def __init__(self): self.a = A()
    @property
    def p(self): return self.p
A().p
""",
    "classes in classes in functions": """
def outer():
    class A:
        x = 1
        class B(A if False else object):
            y = [x for _ in range(3)]
            def m(self): return super().m()
        def n(self, b=B): return b
    return A.B().m
outer()()
""",
    "control flow at module level": """
while True:
    break
else:
    pass
try:
    pass
finally:
    pass
match x:
    case [1, *rest]: pass
    case {"a": 1, **others}: pass
    case Point(x=0) | None: pass
    case _: pass
async def f():
    async for x in y:
        async with z as w:
            await x
            yield [i async for i in j]
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_model_gets_through(name: str) -> None:
    reached: list[str] = []
    source = PROGRAMS[name] + "\nreached_the_end = 1\n"
    analyse(
        cst.parse_module(source), lambda event: None, Options(), lambda _, bound, value: reached.append(bound)
    )
    assert "reached_the_end" in reached
