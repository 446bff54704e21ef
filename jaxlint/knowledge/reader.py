"""From the text of a row to its meaning.

A row of the table is the text of the stub itself, so that loading costs nothing
and only what is looked up is read:

    (key: Consumed, num: Shape=2) -> Keys[num]    a function
    class(ArrayType)                              a class
    = jax.tree.map                                another name for that path
    Python['float']                               anything else: a word
    module                                        a module
"""

from __future__ import annotations

import ast
from typing import Any

from jaxlint.knowledge.signature import ClassRow, Kind, Parameter, Row, Signature, Word
from jaxlint.knowledge.vocabulary import VOCABULARY

ALIAS = "= "
MODULE = "module"


def read_row(path: str, text: str) -> Row:
    """The meaning of a row that is neither an alias nor a module."""
    if text.startswith("("):
        function = ast.parse(f"def f{text}: ...").body[0]
        assert isinstance(function, ast.FunctionDef)
        return read_signature(path, function)
    if text.startswith("class"):
        node = ast.parse(f"class C{text[5:]}: ...").body[0]
        assert isinstance(node, ast.ClassDef)
        return read_class(path, node)
    return read_word(ast.parse(text, mode="eval").body)


def read_signature(path: str, node: ast.FunctionDef) -> Signature:
    """The signature that a `def` declares."""
    parameters = tuple(_parameters(node.args))
    method = bool(parameters) and parameters[0].name == "self"
    return Signature(path, parameters, read_word(node.returns) if node.returns else Word("Unknown"), method)


def read_class(path: str, node: ast.ClassDef) -> ClassRow:
    """The class that a `class` statement declares, without its constructor."""
    words = [read_word(base) for base in node.bases if base_word(ast.unparse(base))]
    bases = tuple(text for text in map(ast.unparse, node.bases) if not base_word(text))
    return ClassRow(path, bases, words[0] if words else None)


def base_word(base: str) -> bool:
    """Whether a base of a class is a word of the vocabulary rather than a class."""
    return base.partition("[")[0] in VOCABULARY


def read_word(node: ast.expr) -> Word:
    """The word that an annotation spells.

    Raises:
        ValueError: it is not of the form `Word` or `Word[argument, …]`.
    """
    if isinstance(node, ast.Name):
        return Word(node.id)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Word(node.value.id, tuple(_argument(item) for item in inner))
    raise ValueError(f"`{ast.unparse(node)}` is no word of the vocabulary")


def _argument(node: ast.expr) -> str | Word:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name) and node.id not in VOCABULARY:
        return node.id
    return read_word(node)


def _parameters(node: ast.arguments) -> list[Parameter]:
    positional = [*node.posonlyargs, *node.args]
    defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults
    found = []
    for number, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        kind: Kind = "positional" if number < len(node.posonlyargs) else "either"
        found.append(_parameter(argument, kind, default))
    if node.vararg:
        found.append(_parameter(node.vararg, "star", None))
    for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        found.append(_parameter(argument, "keyword", default))
    if node.kwarg:
        found.append(_parameter(node.kwarg, "starstar", None))
    return found


def _parameter(argument: ast.arg, kind: Kind, default: ast.expr | None) -> Parameter:
    word = read_word(argument.annotation) if argument.annotation else None
    required = default is None and kind not in ("star", "starstar")
    return Parameter(argument.arg, kind, word, required, _default(default))


def _default(node: ast.expr | None) -> Any:
    """A constant; a name stands for itself, `...` for a default that cannot be written."""
    if isinstance(node, ast.Name):
        return node.id
    value = ast.literal_eval(node) if node else None
    return None if value is ... else value
