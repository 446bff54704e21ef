"""Writes random small programs over keys, for tests that run them.

Not written is what the linter and JAX's own checker see differently on purpose (see
`test_differential.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

SETTINGS = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)

PREAMBLE = """\
import jax
from jax.random import fold_in, normal, split, uniform


def draw(k):
    return normal(k)


def advance(k):
    k, sub = split(k)
    return k, uniform(sub)


def maybe(k, flag):
    if flag:
        return normal(k)
    return 0.0


def either(k, flag):
    return normal(k) if flag else uniform(k)


def same(k):
    return k


def later(k):
    def inner():
        return normal(k)

    return inner


def pair(p, q):
    return normal(p) + uniform(q)


class Box:
    def __init__(self, key):
        self.key = key

    def next(self):
        self.key, sub = split(self.key)
        return sub

    def peek(self):
        return normal(self.key)


"""

MAX_STATEMENTS = 14


@dataclass
class Scope:
    """The names that hold something, by what they hold."""

    keys: list[str]
    batches: list[str] = field(default_factory=list)
    tuples: list[str] = field(default_factory=list)
    dicts: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)

    def copy(self) -> Scope:
        return Scope(
            *(list(names) for names in (self.keys, self.batches, self.tuples, self.dicts, self.boxes))
        )


class Writer:
    """Writes one program. With `related`, every condition is the one boolean `a`."""

    def __init__(self, draw: st.DrawFn, related: bool) -> None:
        self.draw = draw
        self.related = related
        self.names = 0
        self.left = draw(st.integers(2, MAX_STATEMENTS))

    def pick(self, choices: list[str]) -> str:
        return self.draw(st.sampled_from(choices))

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def key(self, scope: Scope) -> str:
        """An expression that is a key."""
        choices = list(scope.keys)
        choices += [f"{name}[{index}]" for name in scope.batches for index in (0, 1, -1)]
        choices += [f"{name}[{index}]" for name in scope.tuples for index in (0, 1)]
        choices += [f'{name}["{slot}"]' for name in scope.dicts for slot in ("p", "q")]
        choices += [f"{name}.key" for name in scope.boxes]
        return self.pick(choices)

    def kept(self, scope: Scope) -> str:
        """A key that may be held without being used."""
        return self.key(Scope(scope.keys, [], scope.tuples, scope.dicts, scope.boxes))

    def target(self, scope: Scope) -> str:
        """Somewhere to put a key."""
        stores = [f'{name}["{slot}"]' for name in scope.dicts for slot in ("p", "q")]
        stores += [f"{name}.key" for name in scope.boxes]
        return self.pick([*scope.keys, *stores, "new", "new"])

    def bound(self, scope: Scope, target: str) -> str:
        if target != "new":
            return target
        name = self.name("k")
        scope.keys.append(name)
        return name

    def condition(self) -> str:
        return self.pick(["a", "not a"] if self.related else ["a", "not a", "b", "not b", "a and b"])

    def block(self, scope: Scope, depth: int, loops: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.draw(st.integers(1, 3))):
            lines += self.statement(scope, depth, loops)
            if lines[-1].strip() in ("break", "continue") or lines[-1].lstrip().startswith("return"):
                break
        return lines

    def statement(self, scope: Scope, depth: int, loops: int) -> list[str]:
        self.left -= 1
        kinds = ["sample", "sample", "advance", "split", "alias", "call", "hold", "batch", "box", "every"]
        if loops < 2:
            kinds.append("fold")
        if depth < 3 and self.left > 0:
            kinds += ["branch", "branch", "loop", "expression", "attempt"]
        if depth > 0:
            kinds.append("leave")
        write = getattr(self, f"write_{self.pick(kinds)}")
        lines: list[str] = write(scope, depth, loops)
        return lines

    def write_sample(self, scope: Scope, depth: int, loops: int) -> list[str]:
        return [f"x += {self.pick(['normal', 'uniform', 'draw'])}({self.key(scope)})"]

    def write_advance(self, scope: Scope, depth: int, loops: int) -> list[str]:
        key = self.pick([*scope.keys, *(f"{name}.key" for name in scope.boxes)])
        sub = self.name("k")
        scope.keys.append(sub)
        return [f"{key}, {sub} = split({key})"]

    def write_split(self, scope: Scope, depth: int, loops: int) -> list[str]:
        source = self.key(scope)
        first = self.bound(scope, self.target(scope))
        return [f"{first}, {self.bound(scope, 'new')} = split({source})"]

    def write_alias(self, scope: Scope, depth: int, loops: int) -> list[str]:
        source = self.pick([self.kept(scope), f"same({self.kept(scope)})"])
        return [f"{self.bound(scope, self.target(scope))} = {source}"]

    def write_call(self, scope: Scope, depth: int, loops: int) -> list[str]:
        key, other = self.key(scope), self.key(scope)
        if self.draw(st.booleans()):
            return [f"{self.bound(scope, self.target(scope))}, y = advance({key})", "x += y"]
        flag = "a" if self.related else self.pick(["a", "b"])
        held = self.kept(scope)
        calls = [
            f"maybe({held}, {flag})",
            f"either({key}, {flag})",
            f"later({held})()",
            f"pair({key}, {other})",
        ]
        calls += [f"maybe({held}, True)", f"maybe(k={held}, flag=False)", f"pair(q={other}, p={key})"]
        calls += [f"{name}.peek()" for name in scope.boxes] + [
            f"normal({name}.next())" for name in scope.boxes
        ]
        return [f"x += {self.pick(calls)}"]

    def write_hold(self, scope: Scope, depth: int, loops: int) -> list[str]:
        first, second = self.kept(scope), self.kept(scope)
        if self.draw(st.booleans()):
            name = self.name("t")
            scope.tuples.append(name)
            left, right = self.draw(st.sampled_from([("(", ")"), ("[", "]")]))
            return [f"{name} = {left}{first}, {second}{right}"]
        name = self.name("d")
        scope.dicts.append(name)
        return [f'{name} = {{"p": {first}, "q": {second}}}']

    def write_box(self, scope: Scope, depth: int, loops: int) -> list[str]:
        name = self.name("o")
        line = f"{name} = Box({self.kept(scope)})"
        scope.boxes.append(name)
        return [line]

    def write_batch(self, scope: Scope, depth: int, loops: int) -> list[str]:
        name = self.name("ks")
        line = f"{name} = split({self.key(scope)}, 3)"
        scope.batches.append(name)
        return [line]

    def write_every(self, scope: Scope, depth: int, loops: int) -> list[str]:
        """All keys of a batch, in one of the ways to go through them."""
        batch = self.name("ks")
        lines = [f"{batch} = split({self.key(scope)}, 3)"]
        ways = [
            [f"for k in {batch}:", "    x += normal(k)"],
            ["for i in range(3):", f"    x += normal({batch}[i])"],
            [f"for i, k in enumerate({batch}):", "    x += i * normal(k)"],
            [f"for y, k in zip((1, 2, 3), {batch}):", "    x += y * normal(k)"],
            [f"x += sum([normal(k) for k in {batch}])"],
            [f"x += sum(jax.vmap(normal)({batch}))"],
            [f"x += sum(jax.vmap(normal)({batch}))", f"x += normal({batch}[1])"],
            [f"x += sum(jax.vmap(normal)({batch}) + jax.vmap(uniform)({batch}))"],
        ]
        return [*lines, *self.draw(st.sampled_from(ways))]

    def write_fold(self, scope: Scope, depth: int, loops: int) -> list[str]:
        source, number = self.kept(scope), self.name("")
        data = f"100 * i + {number}" if loops else number
        return [f"{self.bound(scope, self.target(scope))} = fold_in({source}, {data})"]

    def write_expression(self, scope: Scope, depth: int, loops: int) -> list[str]:
        first, second, test = self.key(scope), self.key(scope), self.condition()
        return [
            self.pick(
                [
                    f"x += normal({first}) if {test} else uniform({second})",
                    f"x += ({test}) and normal({first})",
                    f"x += sum([normal({first}) for _ in range(2)])",
                ]
            )
        ]

    def write_branch(self, scope: Scope, depth: int, loops: int) -> list[str]:
        lines = [f"if {self.condition()}:", *indented(self.block(scope.copy(), depth + 1, loops))]
        if self.draw(st.booleans()):
            lines += ["else:", *indented(self.block(scope.copy(), depth + 1, loops))]
        return lines

    def write_loop(self, scope: Scope, depth: int, loops: int) -> list[str]:
        head = self.pick(
            ["for i in range(2):", "for i in range(3):", "for i in range(1):", "for i in (0, 1):"]
        )
        lines = [head, *indented(self.block(scope.copy(), depth + 1, loops + 1))]
        if self.draw(st.integers(0, 4)) == 0:
            lines += ["else:", *indented(self.block(scope.copy(), 3, loops))]
        return lines

    def write_attempt(self, scope: Scope, depth: int, loops: int) -> list[str]:
        return ["try:", *indented(self.block(scope.copy(), depth + 1, loops)), "finally:", "    x += 1"]

    def write_leave(self, scope: Scope, depth: int, loops: int) -> list[str]:
        ways = [["return x"], [f"return x + normal({self.key(scope)})"]]
        if loops:
            ways += [["break"], ["continue"]]
        return [f"if {self.condition()}:", *indented(self.draw(st.sampled_from(ways)))]

    def program(self) -> str:
        scope, body = Scope(["key"]), list[str]()
        while self.left > 0:
            body += self.statement(scope, 0, 0)
        lines = ["def program(key, a, b):", "    x = 0.0", *indented(body), "    return x"]
        return PREAMBLE + "\n".join(lines) + "\n"


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def programs(draw: st.DrawFn, related: bool) -> str:
    return Writer(draw, related).program()


def explain(source: str, rows: list[tuple[int, str]]) -> str:
    """The part of a program that was written for the test, and what was found in it."""
    first = PREAMBLE.count("\n")
    return "\n" + source[len(PREAMBLE) :] + str([(row - first, code) for row, code in rows])
