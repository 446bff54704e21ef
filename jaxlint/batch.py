"""Checks many files, in several processes where that is faster.

What is found does not depend on how the work is shared out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.config import Configuration, Settings
from jaxlint.finding import Finding
from jaxlint.runner import FileResult, Options, check_source
from jaxlint.screen import may_have_findings
from jaxlint.source.decode import DecodeError, decode
from jaxlint.source.discovery import Discovery, shown

# Starting a worker takes as long as checking so much, about.
CHARACTERS_PER_WORKER = 200_000
CHUNKS_PER_WORKER = 8


@dataclass(frozen=True, slots=True)
class Task:
    """A file to check."""

    filename: str
    text: str
    options: Options


@dataclass
class Outcome:
    """What there is to say of all files; errors are lines for standard error. `texts` holds
    the source of files with findings."""

    findings: list[Finding] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def lines_of(self, filename: str) -> list[str]:
        """The lines of a file with findings."""
        return self.texts[filename].replace("\r\n", "\n").split("\n")


Progress = Callable[[Iterable[FileResult], int], Iterable[FileResult]]


def check_paths(
    paths: Iterable[Path], configuration: Configuration, settings: Settings, progress: Progress
) -> Outcome:
    """Check files and folders. `settings` are those of the run: jobs, cache."""
    found = Discovery(lambda folder: configuration.for_folder(folder).excluded, settings.force_exclude)
    files = {shown(path): path for path in found.files(paths)}
    outcome = Outcome(errors=found.errors)
    tasks = list(_read_all(files, configuration, outcome))
    for result in progress(_check_cached(tasks, settings), len(tasks)):
        _add(outcome, result, files, configuration)
    outcome.findings.sort(key=lambda finding: (*finding.sort_key, finding.message))
    outcome.errors.sort()
    outcome.texts = {task.filename: task.text for task in tasks}
    return outcome


def check_text(data: bytes, filename: str, configuration: Configuration) -> Outcome:
    """Check what came from standard input."""
    path = Path(filename).absolute()
    settings = configuration.for_folder(path.parent)
    outcome = Outcome()
    if settings.force_exclude and settings.excluded.fits_or_parent(path):
        return outcome
    for task in _tasks(filename, data, settings, outcome):
        outcome.texts[filename] = task.text
        for result in _check_each([task]):
            _add(outcome, result, {filename: path}, configuration)
    return outcome


def _read_all(files: Mapping[str, Path], configuration: Configuration, outcome: Outcome) -> Iterator[Task]:
    for filename, path in files.items():
        try:
            data = path.read_bytes()
        except OSError as error:
            outcome.errors.append(f"{filename}: cannot be read: {error.strerror}")
        else:
            yield from _tasks(filename, data, configuration.for_folder(path.parent), outcome)


def _tasks(filename: str, data: bytes, settings: Settings, outcome: Outcome) -> Iterator[Task]:
    """The task of a file, unless it cannot hold a finding or be decoded."""
    try:
        text = decode(data)
    except DecodeError as error:
        outcome.errors.append(f"{filename}: cannot be decoded: {error}")
    else:
        if may_have_findings(text):
            yield Task(filename, text, Options(settings.codes, settings.large_array_bytes))


def _add(
    outcome: Outcome, result: FileResult, files: Mapping[str, Path], configuration: Configuration
) -> None:
    path = files[result.filename]
    settings = configuration.for_folder(path.parent)
    outcome.findings += [found for found in result.findings if not settings.ignores(path, found.code)]
    outcome.errors += [f"{result.filename}: {error}" for error in result.errors]


def _check_cached(tasks: Sequence[Task], settings: Settings) -> Iterator[FileResult]:
    if settings.no_cache or not tasks:
        yield from check_all(tasks, settings.jobs)
        return
    from jaxlint.cache import Cache

    cache = Cache(Path.cwd())
    known = {task.filename: cache.get(task) for task in tasks}
    yield from filter(None, known.values())
    missing = {task.filename: task for task in tasks if known[task.filename] is None}
    for result in check_all(list(missing.values()), settings.jobs):
        cache.put(missing[result.filename], result)
        yield result
    cache.save()


def check_all(tasks: Sequence[Task], jobs: int | None = None) -> Iterator[FileResult]:
    """The result of each task, as they come. `jobs` is the number of processes; without it,
    as many as the machine has and the work is worth."""
    size = sum(len(task.text) for task in tasks)
    wanted = jobs or min(os.cpu_count() or 1, size // CHARACTERS_PER_WORKER)
    workers = min(wanted, len(tasks))
    if workers > 1:
        yield from _in_workers(_chunks(tasks, size // (workers * CHUNKS_PER_WORKER)), workers)
    else:
        yield from _check_each(tasks)


def _check_each(tasks: Iterable[Task]) -> list[FileResult]:
    return [check_source(task.text, task.filename, task.options) for task in tasks]


def _chunks(tasks: Sequence[Task], size: int) -> Iterator[list[Task]]:
    """Parts of about that size, those with the largest files first, so that none is left
    to the end."""
    chunk: list[Task] = []
    filled = 0
    for task in sorted(tasks, key=lambda task: len(task.text), reverse=True):
        chunk.append(task)
        filled += len(task.text)
        if filled >= size:
            yield chunk
            chunk, filled = [], 0
    if chunk:
        yield chunk


def _in_workers(chunks: Iterable[list[Task]], workers: int) -> Iterator[FileResult]:
    # Both cost time to import, and most runs need neither.
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(_check_each, chunk): chunk for chunk in chunks}
        for future in as_completed(futures):
            try:
                yield from future.result()
            except BrokenProcessPool:
                for task in futures[future]:
                    yield FileResult(task.filename, errors=("the worker process died",))
