"""Finds the files to check, always in the same order.

Folders are walked for `.py` and `.pyi` files. What `.gitignore` files and the settings
leave out is left out. Links met on the way are not followed, so there are no loops and
no way out of the tree. A file or folder that is named itself is taken as it is.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    # Those of a folder and of the folders round it, the outermost first.
    GitIgnores: TypeAlias = tuple[tuple[Path, GitIgnoreSpec], ...]

SUFFIXES = (".py", ".pyi")

ANY_FOLDERS = "(?:.*/)?"
GLOB = re.compile(r"\*\*/|\*\*|\*|\[!?\]?[^]/]*\]|.", re.DOTALL)
GLOBS = {"**/": ANY_FOLDERS, "**": ".*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True)
class Patterns:
    """Patterns as a `.gitignore` file in `root` has them: `name` or `*.ext` fits at
    any depth, `some/path` or `/name` from the root."""

    patterns: tuple[str, ...]
    root: Path

    def fits(self, path: Path) -> bool:
        """Whether an absolute path fits by itself."""
        return self._regex.match(relative_to(path, self.root)) is not None

    def fits_or_parent(self, path: Path) -> bool:
        """Whether a path fits, or a folder that it lies in."""
        below_root = (parent for parent in path.parents if self.root in parent.parents)
        return any(map(self.fits, (path, *below_root)))

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile("|".join(map(_translate, self.patterns)) or "(?!)")


def _translate(pattern: str) -> str:
    pattern = re.sub(r"^\./", "/", pattern).removesuffix("/**").rstrip("/")
    start = "" if "/" in pattern else ANY_FOLDERS
    return f"(?s:{start}{GLOB.sub(_translate_glob, pattern.lstrip('/'))})\\Z"


def _translate_glob(found: re.Match[str]) -> str:
    glob = found[0]
    if not glob.startswith("["):
        return GLOBS.get(glob) or re.escape(glob)
    characters = glob.replace("[!", "[^", 1)
    try:
        re.compile(characters)
    except re.error:  # `[z-a]`
        return re.escape(glob)
    return characters


def relative_to(path: Path, root: Path) -> str:
    """An absolute path as seen from `root`, with forward slashes; as it is, if elsewhere."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


@dataclass
class Discovery:
    """Finds files. `excluded` gives the patterns that hold in a folder."""

    excluded: Callable[[Path], Patterns]
    force_exclude: bool = False
    errors: list[str] = field(default_factory=list)

    def files(self, paths: Iterable[Path]) -> list[Path]:
        """The files at or below `paths`, absolute, each once. What cannot be read is added
        to `errors`."""
        absolute = (Path(os.path.abspath(path)) for path in paths)  # noqa: PTH100  does not follow links
        return list(dict.fromkeys(file for path in absolute for file in self._at(path)))

    def _at(self, path: Path) -> Iterator[Path]:
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            self.errors.append(f"{shown(path)}: no such file or folder")
            return
        except OSError as error:
            self.errors.append(f"{shown(path)}: {error.strerror}")
            return
        if self.force_exclude and self.excluded(path.parent).fits_or_parent(path):
            return
        if is_folder:
            ignores = _ignores_round(path)
            yield from self._below(path, () if _is_ignored(path, True, ignores) else ignores)
        else:
            yield path

    def _below(self, folder: Path, ignores: GitIgnores) -> Iterator[Path]:
        stack = [(folder, True, ignores)]
        while stack:
            path, is_folder, ignores = stack.pop()
            if not is_folder:
                yield path
                continue
            entries = self._entries(path)
            if any(entry.name == ".gitignore" for entry in entries):
                ignores += _read_ignores(path)
            stack += [(*entry, ignores) for entry in reversed(self._wanted(path, entries, ignores))]

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self.errors.append(f"{shown(folder)}: {error.strerror}")
            return []

    def _wanted(
        self, folder: Path, entries: Iterable[os.DirEntry[str]], ignores: GitIgnores
    ) -> list[tuple[Path, bool]]:
        """The files and folders in `folder` to go on with, and which is a folder."""
        excluded = self.excluded(folder)
        wanted = []
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder or (entry.name.endswith(SUFFIXES) and entry.is_file(follow_symlinks=False)):
                path = folder / entry.name
                if not excluded.fits(path) and not _is_ignored(path, is_folder, ignores):
                    wanted.append((path, is_folder))
        return wanted


def _ignores_round(folder: Path) -> GitIgnores:
    """What the folders round `folder` say, where it lies in a repository."""
    if (folder / ".git").exists():
        return ()
    root = next((parent for parent in folder.parents if (parent / ".git").exists()), None)
    if root is None:
        return ()
    between = [parent for parent in folder.parents if parent == root or root in parent.parents]
    return tuple(entry for parent in reversed(between) for entry in _read_ignores(parent))


def _read_ignores(folder: Path) -> GitIgnores:
    try:
        text = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace")
    except OSError:  # most folders have none
        return ()
    from pathspec import GitIgnoreSpec  # costs more than the rest, and many a folder has no such file

    def is_valid(line: str) -> bool:
        try:
            return bool(GitIgnoreSpec.from_lines([line]))
        except (ValueError, re.error):
            return False  # git passes over it too

    return ((folder, GitIgnoreSpec.from_lines(filter(is_valid, text.splitlines()))),)


def _is_ignored(path: Path, is_folder: bool, ignores: GitIgnores) -> bool:
    """What the innermost file that speaks of a path says."""
    for folder, spec in reversed(ignores):
        relative = path.relative_to(folder).as_posix() + "/" * is_folder
        if (included := spec.check_file(relative).include) is not None:
            return included
    return False


def shown(path: Path | str) -> str:
    """A path as it is printed: as seen from the current folder."""
    try:
        return os.path.relpath(path)
    except ValueError:  # on another drive
        return str(path)
