"""From stub files to the table that is loaded.

Every definition becomes one row: its path and its text, with other names made
absolute. Nothing is compiled that is not understood: an unknown word, a word out
of place or a name that leads nowhere is an error with file and line.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from jaxlint.knowledge import TABLE
from jaxlint.knowledge.reader import ALIAS, MODULE, base_word, read_class, read_signature, read_word
from jaxlint.knowledge.signature import Signature, Word
from jaxlint.knowledge.vocabulary import VOCABULARY, Place

STUBS = Path(__file__).parent
GENERATED = "generated"

HOST_LIBRARIES = frozenset({"numpy"})
"""Libraries whose mention alone makes no file worth reading."""

Version: TypeAlias = tuple[int, ...]

GUARD = re.compile(r"(?:(\(.*?\)) <= )?JAX_VERSION(?: >= (\(.*?\))| < (\(.*?\)))")
"""The forms of `if JAX_VERSION >= (0, 6, 0):` and of a bound above, or both."""


class StubError(ValueError):
    """A stub file says something that the compiler does not understand."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The JAX versions that a definition holds for: `since <= version < until`."""

    since: Version | None = None
    until: Version | None = None

    def admits(self, version: Version) -> bool:
        return (self.since is None or version >= self.since) and (self.until is None or version < self.until)


@dataclass(slots=True)
class Stubs:
    """What the stub files say: text by path, and the guards of those that have one."""

    rows: dict[str, str] = field(default_factory=dict)
    guards: dict[str, Guard] = field(default_factory=dict)

    def table(self) -> str:
        """The table, one row a line."""
        names = {path.partition(".")[0] for path in self.rows}
        table = {"roots": sorted(names - HOST_LIBRARIES), "rows": dict(sorted(self.rows.items()))}
        return json.dumps(table, indent=0, ensure_ascii=False) + "\n"


def compile_stubs(directory: Path = STUBS) -> Stubs:
    """Compile every stub file of a folder; what is written by hand comes before what is
    generated.

    Raises:
        StubError: with the file and line of what is not understood.
    """
    stubs = Stubs()
    generated = directory / GENERATED
    written = [path for path in sorted(directory.rglob("*.pyi")) if generated not in path.parents]
    for path in written:
        _Module(stubs, path, directory).compile()
    by_hand = frozenset(stubs.rows)
    for path in sorted(generated.rglob("*.pyi")):
        _Module(stubs, path, generated, by_hand).compile()
    _check_aliases(stubs)
    return stubs


def write_table(directory: Path = STUBS, table: Path = TABLE) -> None:
    """Compile the stub files into the table."""
    table.write_text(compile_stubs(directory).table(), encoding="utf-8")


class _Module:
    """One stub file."""

    def __init__(self, stubs: Stubs, file: Path, base: Path, taken: frozenset[str] = frozenset()) -> None:
        self.stubs = stubs
        self.file = file
        self.taken = taken
        parts = file.relative_to(base).with_suffix("").parts
        self.path = ".".join(part for part in parts if part != "__init__")
        self.tree = ast.parse(file.read_text(encoding="utf-8"), str(file))

    def compile(self) -> None:
        parts = self.path.split(".")
        for length in range(1, len(parts) + 1):
            self.stubs.rows.setdefault(".".join(parts[:length]), MODULE)
        self.body(self.path, self.tree.body, Guard())

    def body(self, scope: str, statements: list[ast.stmt], guard: Guard) -> None:
        for statement in statements:
            self.statement(scope, statement, guard)

    def statement(self, scope: str, statement: ast.stmt, guard: Guard) -> None:
        try:
            for path, text in self.rows(scope, statement, guard):
                self.add(path, text, guard)
        except StubError:
            raise
        except ValueError as error:
            raise StubError(f"{self.file}:{statement.lineno}: {error}") from error

    def add(self, path: str, text: str, guard: Guard) -> None:
        if path in self.taken:
            return
        if path in self.stubs.rows:
            raise ValueError(f"{path} is defined twice")
        self.stubs.rows[path] = text
        if guard != Guard():
            self.stubs.guards[path] = guard

    def rows(self, scope: str, statement: ast.stmt, guard: Guard) -> Iterator[tuple[str, str]]:
        """The rows that one statement makes."""
        if isinstance(statement, ast.FunctionDef):
            yield f"{scope}.{statement.name}", _function_text(scope, statement)
        elif isinstance(statement, ast.ClassDef):
            path = f"{scope}.{statement.name}"
            yield path, self.class_text(scope, path, statement)
            if path not in self.taken:
                self.body(path, statement.body, guard)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            word = read_word(statement.annotation)
            _check_word(word, "return" if scope != self.path else "name", None)
            yield f"{scope}.{statement.target.id}", ast.unparse(statement.annotation)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield (
                f"{scope}.{statement.targets[0].id}",
                ALIAS + self.absolute(scope, ast.unparse(statement.value)),
            )
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                yield f"{scope}.{alias.asname}", f"{ALIAS}{statement.module}.{alias.name}"
        elif isinstance(statement, ast.If) and not statement.orelse:
            self.body(scope, statement.body, _guard(statement.test))
        elif not isinstance(statement, ast.Pass | ast.Expr):
            raise ValueError(f"`{ast.unparse(statement).splitlines()[0]}` has no meaning in a stub")

    def class_text(self, scope: str, path: str, node: ast.ClassDef) -> str:
        if word := read_class(path, node).word:
            _check_word(word, "name", None)
        bases = [
            base if base_word(base) else self.absolute(scope, base) for base in map(ast.unparse, node.bases)
        ]
        return f"class({', '.join(bases)})"

    def absolute(self, scope: str, name: str) -> str:
        """The full path of a name: of this scope, of this module, or of another one."""
        for home in (scope, self.path):
            if f"{home}.{name.partition('.')[0]}" in self.stubs.rows:
                return f"{home}.{name}"
        return name


def _function_text(scope: str, node: ast.FunctionDef) -> str:
    signature = read_signature(f"{scope}.{node.name}", node)
    for parameter in signature.parameters:
        if parameter.word:
            _check_word(parameter.word, "parameter", signature)
    _check_word(signature.returns, "return", signature)
    return f"({ast.unparse(node.args)}) -> {ast.unparse(node.returns) if node.returns else signature.returns}"


def _check_word(word: Word, place: Place, signature: Signature | None) -> None:
    """Raise ValueError for a word that is unknown, out of place, or has wrong arguments."""
    term = VOCABULARY.get(word.name)
    if term is None:
        raise ValueError(f"`{word.name}` is no word of the vocabulary")
    if place not in term.places:
        raise ValueError(f"`{word.name}` cannot stand here")
    if word.args and term.arguments == "none":
        raise ValueError(f"`{word.name}` takes no arguments")
    for argument in word.args:
        if isinstance(argument, Word):
            inner: Place = "inner" if "inner" in VOCABULARY.get(argument.name, term).places else place
            _check_word(argument, inner, signature)
        elif term.arguments == "parameters" and (signature is None or not signature.parameter(argument)):
            raise ValueError(f"`{argument}` in `{word}` is no parameter")


def _guard(test: ast.expr) -> Guard:
    """What the test of an `if` says about the version of JAX."""
    form = GUARD.fullmatch(ast.unparse(test))
    if form is None:
        raise ValueError(f"`{ast.unparse(test)}` is not of the form `(0, 6, 0) <= JAX_VERSION < (0, 9, 0)`")
    since, until = (ast.literal_eval(text) if text else None for text in (form[1] or form[2], form[3]))
    return Guard(since, until)


def _check_aliases(stubs: Stubs) -> None:
    for path, text in stubs.rows.items():
        seen = {path}
        while text.startswith(ALIAS):
            target = text[len(ALIAS) :]
            if target in seen:
                raise StubError(f"{path} is another name for itself")
            seen.add(target)
            if target not in stubs.rows and f"{target.rpartition('.')[0]}.__getattr__" not in stubs.rows:
                raise StubError(f"{path} is another name for {target}, which has no row")
            text = stubs.rows.get(target, "")
