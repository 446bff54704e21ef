"""Settings: read from files, and from the command line on top.

`KEYS` lists all settings with the function that reads each one. A value comes from TOML
as what it is and from the command line or an INI file as text; the functions take both.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from jaxlint import report
from jaxlint.nearest import unknown
from jaxlint.selection import Selection, SelectorError, check_selectors, enabled, matches
from jaxlint.source.discovery import Patterns, shown

DEFAULT_EXCLUDE = (
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".jaxlint_cache",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pycache__",
    "__pypackages__",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)

FILES = ("jaxlint.toml", "pyproject.toml", "setup.cfg", "tox.ini", ".flake8")


class ConfigError(ValueError):
    """Something is wrong in the settings; the message says what and where, in one line."""


# --- how a value is read -----------------------------------------------------------


def names(value: object) -> tuple[str, ...]:
    """A list of text, or text with commas or line ends between."""
    if isinstance(value, str):
        return tuple(part for part in re.split(r"[,\s]+", value) if part)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise ValueError("must be a list of text")


def flag(value: object) -> bool:
    """True or false."""
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    found = words.get(value.lower()) if isinstance(value, str) else value
    if isinstance(found, bool):
        return found
    raise ValueError("must be true or false")


def count(value: object) -> int:
    """A whole number from 1."""
    if isinstance(value, str) and value.isascii() and value.replace("_", "").isdigit():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise ValueError("must be a whole number from 1")


def version(value: object) -> str:
    """A version of JAX."""
    if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+){1,3}", value):
        return value
    raise ValueError('must be a version such as "0.6"')


def output_format(value: object) -> str:
    """One of the report formats."""
    if value in report.formats():
        return str(value)
    raise ValueError(unknown("format", str(value), report.formats()))


def ignores_per_file(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A table of patterns and rules, or lines of `pattern: rules`."""
    if isinstance(value, str):
        lines = (line.rpartition(":") for line in value.splitlines() if line.strip())
        value = {pattern.strip(): rules for pattern, _, rules in lines}
    if isinstance(value, dict):
        return tuple((pattern, names(rules)) for pattern, rules in value.items())
    raise ValueError("must be a table of patterns and lists of rules")


KEYS: Mapping[str, Callable[[object], Any]] = {
    "select": names,
    "extend-select": names,
    "ignore": names,
    "preview": flag,
    "per-file-ignores": ignores_per_file,
    "exclude": names,
    "extend-exclude": names,
    "force-exclude": flag,
    "target-jax": version,
    "large-array-bytes": count,
    "output-format": output_format,
    "statistics": flag,
    "exit-zero": flag,
    "quiet": flag,
    "jobs": count,
    "no-cache": flag,
}


# --- what comes of it ----------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """The settings of a folder. `root` is where relative patterns start. `target_jax` is the
    oldest JAX that the project supports."""

    root: Path
    selections: tuple[Selection, ...] = ()
    preview: bool = False
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    target_jax: str | None = None
    large_array_bytes: int = 1 << 20
    output_format: str = "full"
    statistics: bool = False
    exit_zero: bool = False
    quiet: bool = False
    jobs: int | None = None
    no_cache: bool = False

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes that are on."""
        return enabled(self.selections, preview=self.preview)

    @cached_property
    def excluded(self) -> Patterns:
        """Which paths are left out."""
        return Patterns((*self.exclude, *self.extend_exclude), self.root)

    def ignores(self, path: Path, code: str) -> bool:
        """Whether `per-file-ignores` silences a code in a file."""
        return any(
            matches(selectors, code)
            for pattern, selectors in self.per_file_ignores
            if Patterns((pattern,), self.root).fits_or_parent(path)
        )

    def updated(self, values: Mapping[str, Any], root: Path | None = None) -> Settings:
        """These settings with others, read by `read_values`, on top."""
        plain = {key.replace("-", "_"): value for key, value in values.items()}
        chosen = {name: plain.pop(name) for name in ("select", "extend_select", "ignore") if name in plain}
        if chosen:
            plain["selections"] = (*self.selections, Selection(**chosen))
        return replace(self, root=root or self.root, **plain)


def read_values(raw: Mapping[str, object], where: str) -> dict[str, Any]:
    """Settings by key, each read and checked.

    Raises:
        ConfigError: a key is not known, or its value is wrong.
    """
    values: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in KEYS:
            raise ConfigError(f"{where}: {unknown('setting', key, KEYS)}")
        try:
            values[key] = KEYS[key](value)
        except ValueError as error:
            raise ConfigError(f"{where}: {key}: {error}") from None
    check_values(values, where)
    return values


def check_values(values: Mapping[str, Any], where: str) -> None:
    """Raises:
    ConfigError: a rule is named that there is not.
    """
    try:
        for key in ("select", "extend-select", "ignore"):
            check_selectors(values.get(key, ()))
        for _, selectors in values.get("per-file-ignores", ()):
            check_selectors(selectors)
    except SelectorError as error:
        raise ConfigError(f"{where}: {error}") from None


# --- where it is read from ----------------------------------------------------------


def read_file(path: Path) -> dict[str, Any] | None:
    """What a file says about jaxlint, by key; None where it says nothing.

    Raises:
        ConfigError: it cannot be read, or something in it is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{shown(path)}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{shown(path)}: cannot be read: it is not utf-8") from None
    table = _read_toml(path, text) if path.suffix == ".toml" else _read_ini(path, text)
    return None if table is None else read_values(table, shown(path))


def _read_toml(path: Path, text: str) -> dict[str, object] | None:
    in_pyproject = path.name == "pyproject.toml"
    if in_pyproject and "jaxlint" not in text:
        return None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{shown(path)}: {error}") from None
    if in_pyproject:
        tool = table.get("tool")
        table = tool.get("jaxlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{shown(path)}: tool.jaxlint must be a table")
    return table


def _read_ini(path: Path, text: str) -> dict[str, object] | None:
    if "[jaxlint]" not in text:
        return None
    from configparser import Error, RawConfigParser

    parser = RawConfigParser()
    try:
        parser.read_string(text)
    except Error as error:
        raise ConfigError(f"{shown(path)}: {' '.join(str(error).split())}") from None
    return dict(parser["jaxlint"]) if parser.has_section("jaxlint") else None


@dataclass
class Configuration:
    """Finds the settings of each folder: those of the nearest file, and `overrides` from the
    command line on top. `file` replaces the search; `isolated` reads no file at all."""

    overrides: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None
    isolated: bool = False
    _found: dict[Path, Settings] = field(default_factory=dict, repr=False)

    def for_folder(self, folder: Path) -> Settings:
        """The settings of an absolute folder.

        Raises:
            ConfigError: something in the file is wrong.
        """
        if self.isolated or self.file is not None:
            folder = Path.cwd()  # the same for all
        if folder not in self._found:
            self._found[folder] = self._read(folder)
        return self._found[folder]

    def _read(self, folder: Path) -> Settings:
        if self.file is not None:
            # Patterns start where the file lies.
            root = self.file.absolute().parent
            if (values := read_file(self.file)) is None:
                raise ConfigError(f"{shown(self.file)}: says nothing of jaxlint")
            return self._from_values(values, root)
        if self.isolated:
            return self._from_values({}, Path.cwd())
        for path in _files_in(folder):
            if (values := read_file(path)) is not None:
                return self._from_values(values, folder)
        if folder.parent != folder:
            return self.for_folder(folder.parent)
        return self._from_values({}, Path.cwd())

    def _from_values(self, values: Mapping[str, Any], root: Path) -> Settings:
        return Settings(root).updated(values).updated(self.overrides)


def _files_in(folder: Path) -> Iterator[Path]:
    with suppress(PermissionError):  # a folder that may not be entered
        yield from [path for name in FILES if (path := folder / name).is_file()]
