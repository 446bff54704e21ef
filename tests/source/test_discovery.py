"""Which files are found, and in which order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import write_files

from jaxlint.source.discovery import Discovery, Patterns, shown


def found(folder: Path, *paths: str, exclude: tuple[str, ...] = (), force_exclude: bool = False) -> list[str]:
    """The files found at `paths` (the folder itself by default), relative to it."""
    patterns = Patterns(exclude, folder)
    discovery = Discovery(lambda _: patterns, force_exclude)
    files = discovery.files(folder / path for path in paths or (".",))
    assert discovery.errors == []
    return [file.relative_to(folder).as_posix() for file in files]


def make(folder: Path, *names: str) -> None:
    write_files(folder, dict.fromkeys(names, ""))


def test_python_files_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a/b/c.pyi", "a.py", "c.txt", "d.ipynb", "e.pyc", ".hidden/f.py")
    assert found(tmp_path) == [".hidden/f.py", "a/b/c.pyi", "a/z.py", "a.py", "b.py"]


def test_each_file_once_and_named_files_whatever_they_are(tmp_path: Path) -> None:
    make(tmp_path, "a/b.py", "script")
    assert found(tmp_path, "a/b.py", "a", "a/../a/b.py", ".", "script") == ["a/b.py", "script"]


def test_missing_paths_are_errors_and_the_rest_is_found(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    discovery = Discovery(lambda folder: Patterns((), folder))
    assert discovery.files([tmp_path / "gone.py", tmp_path / "a.py"]) == [tmp_path / "a.py"]
    assert discovery.errors == [f"{shown(tmp_path / 'gone.py')}: no such file or folder"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all")
def test_folders_that_cannot_be_read_are_errors(tmp_path: Path) -> None:
    make(tmp_path, "locked/a.py", "b.py")
    (tmp_path / "locked").chmod(0)
    discovery = Discovery(lambda folder: Patterns((), folder))
    assert discovery.files([tmp_path]) == [tmp_path / "b.py"]
    (tmp_path / "locked").chmod(0o700)
    assert discovery.errors == [f"{shown(tmp_path / 'locked')}: Permission denied"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("build", ["a/c.py", "a/x_pb2.py", "c.py", "x_pb2.py"]),
        ("build/", ["a/c.py", "a/x_pb2.py", "c.py", "x_pb2.py"]),
        ("**/build", ["a/c.py", "a/x_pb2.py", "c.py", "x_pb2.py"]),
        ("*_pb2.py", ["a/build/d.py", "a/c.py", "build/d.py", "c.py"]),
        ("a/build", ["a/c.py", "a/x_pb2.py", "build/d.py", "c.py", "x_pb2.py"]),
        ("./a/build/**", ["a/c.py", "a/x_pb2.py", "build/d.py", "c.py", "x_pb2.py"]),
        ("a/*", ["build/d.py", "c.py", "x_pb2.py"]),
        ("a/*.py", ["a/build/d.py", "build/d.py", "c.py", "x_pb2.py"]),
        ("/build", ["a/build/d.py", "a/c.py", "a/x_pb2.py", "c.py", "x_pb2.py"]),
        ("a/**/c.py", ["a/build/d.py", "a/x_pb2.py", "build/d.py", "c.py", "x_pb2.py"]),
        ("a/**/d.py", ["a/c.py", "a/x_pb2.py", "build/d.py", "c.py", "x_pb2.py"]),
        ("[!c]*.py", ["a/c.py", "c.py"]),
        ("?.py", ["a/x_pb2.py", "x_pb2.py"]),
        ("[z-a]", ["a/build/d.py", "a/c.py", "a/x_pb2.py", "build/d.py", "c.py", "x_pb2.py"]),
        ("c.py", ["a/build/d.py", "a/x_pb2.py", "build/d.py", "x_pb2.py"]),
        ("*", []),
    ],
)
def test_exclude(tmp_path: Path, pattern: str, left: list[str]) -> None:
    make(tmp_path, "a/build/d.py", "build/d.py", "a/c.py", "c.py", "a/x_pb2.py", "x_pb2.py")
    assert found(tmp_path, exclude=(pattern,)) == left


def test_what_is_named_is_taken_unless_exclusion_is_forced(tmp_path: Path) -> None:
    make(tmp_path, "build/d.py", "c.py")
    assert found(tmp_path, "build", "build/d.py", exclude=("build",)) == ["build/d.py"]
    assert found(tmp_path, "build", "build/d.py", "c.py", exclude=("build",), force_exclude=True) == ["c.py"]


def test_gitignore_nested_and_from_the_root_of_the_repository(tmp_path: Path) -> None:
    make(
        tmp_path,
        "made/a.py",
        "src/made/b.py",
        "src/c.py",
        "src/keep.py",
        "src/deep/d_tmp.py",
        "src/deep/e.py",
    )
    write_files(
        tmp_path,
        {
            ".git/HEAD": "",
            ".gitignore": "made/\n*_tmp.py\nkeep.py\n",
            "src/.gitignore": "!keep.py\n/c.py\n!\n[z-a]\n",
        },
    )
    assert found(tmp_path) == ["src/deep/e.py", "src/keep.py"]
    assert found(tmp_path, "src/deep") == ["src/deep/e.py"]
    assert found(tmp_path, "src/made") == ["src/made/b.py"], "a folder that is named is not left out"
    assert found(tmp_path, "src/c.py") == ["src/c.py"]


def test_exclude_is_read_as_gitignore_is(tmp_path: Path) -> None:
    names = ["a.py", "b/a.py", "b/c/a.py", "b/c/d.py", "build/e.py", "b/build/f.py", "x_pb2.py", "b/x_pb2.py"]
    for pattern in (
        "a.py",
        "/a.py",
        "b/*",
        "b/*.py",
        "b/**/a.py",
        "**/c",
        "build/",
        "*_pb2.py",
        "[a-b].py",
        "*",
    ):
        here, there = tmp_path / "here", tmp_path / "there"
        make(here, *names)
        make(there, *names)
        write_files(there, {".gitignore": pattern})
        assert found(here, exclude=(pattern,)) == found(there), pattern


def test_gitignore_outside_of_the_repository_does_not_count(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "*.py\n", "repository/.git/HEAD": "", "repository/a.py": ""})
    assert found(tmp_path, "repository") == ["repository/a.py"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "outside/secret.py", "tree/a.py", "tree/sub/b.py")
    (tmp_path / "tree" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "tree" / "sub" / "loop").symlink_to(tmp_path / "tree")
    (tmp_path / "tree" / "secret.py").symlink_to(tmp_path / "outside" / "secret.py")
    (tmp_path / "tree" / "broken.py").symlink_to(tmp_path / "gone")
    assert found(tmp_path / "tree") == ["a.py", "sub/b.py"]
    assert found(tmp_path, "tree/secret.py") == ["tree/secret.py"], "unless it is named"


def test_no_more_than_regular_files(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    assert found(tmp_path) == ["a.py"]


def test_deep_folders(tmp_path: Path) -> None:
    # Deeper ones pytest cannot remove.
    name = "/".join(["d"] * 400) + "/a.py"
    make(tmp_path, name)
    assert found(tmp_path) == [name]
