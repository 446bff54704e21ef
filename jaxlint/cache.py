"""Remembers what was found in files that have not changed.

One file of JSON for a project. An entry holds as long as the text, the settings, the
rules and jaxlint itself are the same. A cache that cannot be read or written is no error:
there is none, then.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import operator
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jaxlint import __version__
from jaxlint.batch import Task
from jaxlint.finding import Finding, Position, Range
from jaxlint.registry import all_rules
from jaxlint.runner import FileResult

FOLDER = ".jaxlint_cache"
MARKERS = (".git", "pyproject.toml")
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of jaxlint.\n"


class Cache:
    """The cache of the project that a folder lies in."""

    def __init__(self, folder: Path) -> None:
        self.root = next((parent for parent in (folder, *folder.parents) if _is_project(parent)), folder)
        self.path = self.root / FOLDER / "findings.json"
        self.version = _version_of_everything()
        self.entries = self._load()
        self.new: dict[str, Any] = {}

    def get(self, task: Task) -> FileResult | None:
        """What was found before, if that still holds."""
        try:
            digest, rows = self.entries[self._key(task)]
            if digest == _digest(task):
                return FileResult(task.filename, tuple(_finding(task.filename, *row) for row in rows))
        except (KeyError, TypeError, ValueError):
            pass
        return None

    def put(self, task: Task, result: FileResult) -> None:
        """Remember a result; errors are told anew each time."""
        if not result.errors:
            self.new[self._key(task)] = [_digest(task), [_row(finding) for finding in result.findings]]

    def save(self) -> None:
        """Write it, unless nothing is new, with what others wrote meanwhile and without files
        that are gone."""
        if not self.new:
            return
        entries = self._load() | self.new
        with contextlib.suppress(OSError):
            kept = {name: entry for name, entry in entries.items() if (self.root / name).exists()}
            self.path.parent.mkdir(exist_ok=True)
            _write(self.path.with_name(".gitignore"), "*\n")
            _write(self.path.with_name("CACHEDIR.TAG"), TAG)
            _write(self.path, json.dumps({"version": self.version, "files": kept}))

    def _load(self) -> dict[str, Any]:
        try:
            content = json.loads(self.path.read_bytes())
            files = content["files"] if content["version"] == self.version else {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}
        return files if isinstance(files, dict) else {}

    def _key(self, task: Task) -> str:
        return os.path.relpath(task.filename, self.root)


def _is_project(folder: Path) -> bool:
    return any((folder / marker).exists() for marker in MARKERS)


def _digest(task: Task) -> str:
    codes, options = sorted(task.options.codes), replace(task.options, codes=frozenset())
    return hashlib.sha256(f"{codes}{options}\0{task.text}".encode("utf-8", "surrogatepass")).hexdigest()


def _version_of_everything() -> str:
    """Changes with all that a result depends on and that is not of the file itself."""
    stamps = sorted((str(path), path.stat().st_mtime_ns) for path in _files_of_engine())
    return hashlib.sha256(repr((__version__, stamps)).encode()).hexdigest()


def _files_of_engine() -> Iterator[Path]:
    here = Path(__file__).parent
    yield from here.rglob("*.py")
    yield here / "knowledge" / "table.json"
    for name in {rule.module for rule in all_rules()} | {"libcst"}:
        if (spec := find_spec(name)) and spec.origin:
            yield Path(spec.origin)


def _row(finding: Finding) -> list[object]:
    start, end = finding.range.start, finding.range.end
    return [
        finding.code,
        finding.name,
        finding.message,
        finding.help,
        start.row,
        start.column,
        end.row,
        end.column,
    ]


def _finding(
    filename: str, code: str, name: str, message: str, help_text: str | None, *place: int
) -> Finding:
    """The finding in a row.

    Raises:
        TypeError, ValueError: there is none.
    """
    if not all(isinstance(text, str) for text in (code, name, message, help_text or "")):
        raise TypeError("text is needed")
    row, column, end_row, end_column = map(operator.index, place)
    span = Range(Position(row, column), Position(end_row, end_column))
    return Finding(filename, code, name, message, span, help_text)


def _write(path: Path, text: str) -> None:
    """All of it or nothing, whoever else writes at the same time."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        written = Path(file.name)
        try:
            file.write(text)
            file.close()
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)
