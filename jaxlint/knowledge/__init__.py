"""What jaxlint knows about libraries. README.md tells how to read and write it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jaxlint.knowledge.reader import ALIAS, MODULE, read_row
from jaxlint.knowledge.signature import ClassRow, Parameter, Row, Signature, Word

__all__ = ["ClassRow", "Parameter", "Row", "Signature", "Word", "has_row", "lookup", "roots"]

TABLE = Path(__file__).with_name("table.json")


@cache
def lookup(path: str) -> Row | None:
    """What is known of a name by its full dotted path ("jax.random.split"), under
    whichever of its names; None for a module and for what nothing is known of."""
    rows = _rows()
    text = rows.get(path)
    if text is None:
        return _lookup_in_parent(path)
    if text == MODULE:
        return None
    if text.startswith(ALIAS):
        return lookup(text[len(ALIAS) :])
    row = read_row(path, text)
    if isinstance(row, ClassRow):
        return replace(row, init=_constructor(path))
    return row


def has_row(module: str, name: str) -> bool:
    """Whether a name of a module has a row of its own; a catch-all is none."""
    return f"{_home(module)}.{name}" in _rows()


def _constructor(path: str) -> Signature | None:
    """How a class is called: its `__init__` without `self`."""
    init = lookup(f"{path}.__init__")
    if not isinstance(init, Signature):
        return None
    return Signature(path, init.parameters[1:], init.returns)


def _lookup_in_parent(path: str) -> Row | None:
    """A name that has no row: in a module or class known by another name, from a base of
    its class, or by the catch-all."""
    parent, _, name = path.rpartition(".")
    if not parent:
        return None
    home = _home(parent)
    if home != parent:
        return lookup(f"{home}.{name}")
    if _rows().get(parent, "").startswith("class("):
        return _inherited(parent, name)
    return _catch_all(parent, name)


def _inherited(path: str, name: str) -> Row | None:
    """A member of a class that one of its bases has, or else its catch-all."""
    row = read_row(path, _rows()[path])
    bases = row.bases if isinstance(row, ClassRow) else ()
    found = (lookup(f"{base}.{name}") for base in bases)
    return next((member for member in found if member is not None), None) or _catch_all(path, name)


def _catch_all(parent: str, name: str) -> Signature | None:
    """What `def __getattr__` says of every other public name of a module or class."""
    rest = None if name.startswith("_") else lookup(f"{parent}.__getattr__")
    if not isinstance(rest, Signature):
        return None
    everything = (Parameter("args", "star", required=False), Parameter("kwargs", "starstar", required=False))
    return Signature(f"{parent}.{name}", everything, rest.returns)


def _home(path: str) -> str:
    """The path of a module or class under its canonical name."""
    text = _rows().get(path, "")
    if text.startswith(ALIAS):
        return _home(text[len(ALIAS) :])
    parent, _, name = path.rpartition(".")
    home = _home(parent) if parent else ""
    return path if home == parent else _home(f"{home}.{name}")


@cache
def roots() -> frozenset[str]:
    """The top-level names of libraries whose mention makes a file worth reading."""
    return frozenset(_table()["roots"])


def _rows() -> dict[str, str]:
    rows: dict[str, str] = _table()["rows"]
    return rows


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_bytes())
    return table
