"""The cache remembers, and is never worse than none."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlint import cache as module
from jaxlint.batch import Task
from jaxlint.cache import FOLDER, Cache
from jaxlint.finding import Finding, Position, Range
from jaxlint.runner import FileResult, Options

OPTIONS = Options(frozenset({"JAX101", "JAX201"}))


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, which the test runs in."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def task(name: str, text: str = "x = 1\n") -> Task:
    Path(name).touch()
    return Task(name, text, OPTIONS)


def result(name: str, row: int = 1, help_text: str | None = None) -> FileResult:
    place = Range(Position(row, 5), Position(row, 9))
    return FileResult(
        name, (Finding(name, "JAX101", "item-assignment", "`é` is immutable", place, help_text),)
    )


def remember(*results: FileResult) -> None:
    cache = Cache(Path.cwd())
    for one in results:
        cache.put(task(one.filename), one)
    cache.save()


def known(wanted: Task) -> FileResult | None:
    return Cache(Path.cwd()).get(wanted)


def files_on_disk(project: Path) -> set[str]:
    return set(json.loads((project / FOLDER / "findings.json").read_bytes())["files"])


def test_findings_come_back() -> None:
    bad, worse, clean = result("bad.py"), result("worse.py", 2, "use `.at`"), FileResult("clean.py")
    remember(bad, worse, clean)
    assert [known(task(one.filename)) for one in (bad, worse, clean)] == [bad, worse, clean]


def test_what_went_wrong_is_not_remembered() -> None:
    remember(FileResult("a.py", errors=("a.py: the worker process died",)))
    assert known(task("a.py")) is None


def test_other_text_name_or_options_are_not_known() -> None:
    remember(result("a.py"))
    assert known(task("a.py")) == result("a.py")
    assert known(task("a.py", "x = 2\n")) is None
    assert known(task("b.py")) is None
    assert known(replace(task("a.py"), options=replace(OPTIONS, codes=frozenset({"JAX101"})))) is None
    assert known(replace(task("a.py"), options=replace(OPTIONS, large_array_bytes=1))) is None


def test_another_version_starts_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    remember(result("a.py"))
    monkeypatch.setattr(module, "__version__", "999")
    assert known(task("a.py")) is None


def test_a_file_is_the_same_from_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub").mkdir()
    remember(result("sub/a.py"))
    assert known(task("a.py")) is None
    monkeypatch.chdir("sub")
    assert known(task("a.py")) == result("a.py")


def test_the_folder_says_what_it_is(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], check=True)
    remember(result("a.py"))
    status = subprocess.run(["git", "status", "--porcelain"], check=True, capture_output=True, text=True)
    assert status.stdout.split() == ["??", "a.py", "??", "pyproject.toml"]
    assert (
        (project / FOLDER / "CACHEDIR.TAG")
        .read_text()
        .startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )
    assert len(list((project / FOLDER).iterdir())) == 3, "nothing is left over"


def test_nothing_is_written_where_nothing_is_new(project: Path) -> None:
    Cache(project).save()
    assert not (project / FOLDER).exists()
    remember(result("a.py"))
    before = (project / FOLDER / "findings.json").stat().st_ino
    cache = Cache(project)
    cache.get(task("a.py"))
    cache.save()
    assert (project / FOLDER / "findings.json").stat().st_ino == before


def test_entries_of_files_that_are_gone_are_dropped(project: Path) -> None:
    remember(result("a.py"), result("b.py"))
    Path("a.py").unlink()
    remember(result("c.py"))
    assert files_on_disk(project) == {"b.py", "c.py"}


def test_what_another_run_wrote_meanwhile_stays(project: Path) -> None:
    mine, theirs = Cache(project), Cache(project)
    mine.put(task("a.py"), result("a.py"))
    theirs.put(task("b.py"), result("b.py"))
    theirs.save()
    mine.save()
    assert files_on_disk(project) == {"a.py", "b.py"}


def write_often(number: int) -> None:
    for _ in range(30):
        remember(result(f"{number}.py"))
        assert known(task("base.py")), "a reader saw half a file"


def test_runs_that_write_at_once_leave_a_whole_file(project: Path) -> None:
    remember(result("base.py"))
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=write_often, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert "base.py" in files_on_disk(project)
    assert len(list((project / FOLDER).iterdir())) == 3, "nothing is left over"


SPOILED = [
    "", "{", "[]", "null", "[" * 100_000, "{}", '{"version": VERSION}', '{"version": VERSION, "files": 3}',
    '{"version": "other", "files": {"a.py": [DIGEST, []]}}',
]  # fmt: skip
SPOILED_ENTRIES = [
    "null", "[]", "[DIGEST]", "[DIGEST, 3]", "[DIGEST, [[]]]", '[DIGEST, [["JAX101"]]]',
    '[DIGEST, [["JAX101", "n", "m", null, 1, 5, 1]]]', '[DIGEST, [["JAX101", "n", "m", null, 1, 5, 1, "9"]]]',
    '[DIGEST, [[101, "n", "m", null, 1, 5, 1, 9]]]',
    '[DIGEST, [["JAX101", "n", null, null, 1, 5, 1, 9]]]',
    '[DIGEST, [["JAX101", "n", "m", 3, 1, 5, 1, 9]]]',
    '[DIGEST, [["JAX101", "n", "m", null, 1, 5, 1, 9, 9]]]',
]  # fmt: skip
SPOILED += [
    '{"version": VERSION, "files": {"a.py": ENTRY}}'.replace("ENTRY", entry) for entry in SPOILED_ENTRIES
]


@pytest.mark.parametrize("content", SPOILED, ids=range(len(SPOILED)))
def test_a_spoiled_cache_is_none(content: str, project: Path) -> None:
    remember(result("a.py"))
    file = project / FOLDER / "findings.json"
    written = json.loads(file.read_bytes())
    version, digest = json.dumps(written["version"]), json.dumps(written["files"]["a.py"][0])
    file.write_text(content.replace("VERSION", version).replace("DIGEST", digest), encoding="utf-8")
    assert known(task("a.py")) is None
    remember(result("a.py"))
    assert known(task("a.py")) == result("a.py")


def test_a_cache_that_cannot_be_written_is_none(project: Path) -> None:
    (project / FOLDER).write_text("in the way")
    remember(result("a.py"))
    assert known(task("a.py")) is None
    assert (project / FOLDER).read_text() == "in the way"


def test_names_that_are_not_text_are_known_too() -> None:
    name = os.fsdecode(b"caf\xe9.py")
    remember(FileResult(name))
    assert known(task(name)) == FileResult(name)


def test_thousands_of_files_take_no_time(project: Path) -> None:
    tasks = [task(f"{number}.py", "x = 1\n" * 2000) for number in range(2000)]
    cache = Cache(project)
    for one in tasks:
        cache.put(one, result(one.filename))
    cache.save()
    start = time.process_time()
    again = Cache(project)
    assert all(again.get(one) for one in tasks)
    again.save()
    assert time.process_time() - start < 1
