"""Small questions about syntax that need no values, answered straight from the tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst

NAMES_IN_TEXT = re.compile(r"\.?[A-Za-z_]\w*")
PURE_CALLS = re.compile(r"\b(isinstance|issubclass|len|callable|hasattr|getattr|type|bool|int)\(")


# Told apart by type: asking `isinstance` of a class of libcst is slow.
BLOCKS = frozenset({cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite})
COMPOUND = frozenset({cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar, cst.Match})


def small_statements(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Every statement below `node`, whatever its depth, leaving out the bodies of
    nested functions and classes."""
    stack: list[cst.CSTNode] = [node]
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind in BLOCKS:
            stack.extend(reversed(current.body))  # type: ignore[attr-defined]
            continue
        yield current
        if kind in COMPOUND:
            stack.extend(reversed(list(suites(current))))


def suites(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The bodies that a compound statement is made of, in order; an `elif` is an `if`."""
    if type(node) is cst.Match:
        for case in node.cases:
            yield case.body
        return
    yield node.body  # type: ignore[attr-defined]
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    for field in ("orelse", "finalbody"):
        part = getattr(node, field, None)
        if part is not None:
            yield part if type(part) is cst.If else part.body


def has_yield(body: cst.BaseSuite) -> bool:
    """Whether a function with this body is a generator (a yield deep inside an
    expression is not looked for)."""
    return any(type(_value(statement)) is cst.Yield for statement in small_statements(body))


def _value(statement: cst.CSTNode) -> cst.CSTNode | None:
    return getattr(statement, "value", None)


def bound_names(node: cst.CSTNode) -> frozenset[str]:
    """The names that statements below `node` bind, and the attributes they store
    into, the latter with a dot in front (".count")."""
    names: set[str] = set()
    for statement in small_statements(node):
        if type(statement) is cst.Assign:
            for target in statement.targets:
                names.update(target_names(target.target))
        elif isinstance(statement, (cst.AnnAssign, cst.AugAssign, cst.For)):
            names.update(target_names(statement.target))
    return frozenset(names)


def written_outside(node: cst.FunctionDef) -> tuple[frozenset[str], frozenset[str]]:
    """The names of enclosing functions that a function binds anew, and the names of what it
    stores into."""
    bound: set[str] = set()
    stored: set[str] = set()
    for statement in small_statements(node.body):
        if isinstance(statement, (cst.Nonlocal, cst.Global)):
            bound.update(item.name.value for item in statement.names)
        elif isinstance(statement, cst.Assign):
            for target in statement.targets:
                stored.update(stored_roots(target.target))
        elif isinstance(statement, (cst.AnnAssign, cst.AugAssign)):
            stored.update(stored_roots(statement.target))
    return frozenset(bound), frozenset(stored)


def stored_roots(target: cst.CSTNode) -> Iterator[str]:
    """The `a` of `a.b[c] = …`."""
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from stored_roots(element.value)
    elif isinstance(target, (cst.Attribute, cst.Subscript)):
        root: cst.CSTNode = target
        while isinstance(root, (cst.Attribute, cst.Subscript)):
            root = root.value
        if isinstance(root, cst.Name):
            yield root.value


def target_names(target: cst.CSTNode) -> Iterator[str]:
    """The names and ".attributes" that an assignment to `target` binds."""
    if type(target) is cst.Name:
        yield target.value
    elif type(target) is cst.Attribute:
        yield "." + target.attr.value
    elif isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from target_names(element.value)


def last_name(node: cst.CSTNode) -> str:
    """The `c` of `a.b.c`, whatever `a.b` is."""
    name = node.attr if type(node) is cst.Attribute else node
    return name.value if type(name) is cst.Name else ""


def dotted_name(node: cst.CSTNode | None) -> str:
    """`a.b.c` as a string; "" where the node is anything else."""
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return ""
    return ".".join([node.value, *reversed(parts)])


def plain_text(node: cst.CSTNode) -> str | None:
    """The text of the common kinds of expression, white space evened out; None for the
    others. Several times as fast as having libcst write them."""
    write = PLAIN.get(type(node))
    return None if write is None else write(node)


def _attribute(node: Any) -> str | None:
    base = plain_text(node.value)
    return None if base is None or node.lpar else f"{base}.{node.attr.value}"


def _comparison(node: Any) -> str | None:
    parts = [plain_text(node.left)]
    for target in node.comparisons:
        operator = COMPARISONS.get(type(target.operator))
        parts += [operator, plain_text(target.comparator)]
    return None if node.lpar else _joined(parts, " ")


def _call(node: Any) -> str | None:
    if node.lpar or any(argument.star or argument.keyword for argument in node.args):
        return None
    inside = _joined([plain_text(argument.value) for argument in node.args], ", ")
    function = plain_text(node.func)
    return None if function is None or inside is None else f"{function}({inside})"


def _joined(parts: list[str | None], separator: str) -> str | None:
    return None if None in parts else separator.join(part or "" for part in parts)


COMPARISONS: dict[type[cst.CSTNode], str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}
PLAIN: dict[type[cst.CSTNode], Callable[[Any], str | None]] = {
    cst.Name: lambda node: None if node.lpar else str(node.value),
    cst.Integer: lambda node: None if node.lpar else str(node.value),
    cst.SimpleString: lambda node: None if node.lpar else str(node.value),
    cst.Attribute: _attribute,
    cst.Comparison: _comparison,
    cst.Call: _call,
}
