"""The process that runs programs of one fixture file: `python -m jaxlint.verify.worker`.

Reads a pickled `Job` from standard input and writes one JSON object a line:
first the platform, then an observation for each task. Each is written as soon as
it is known, so that a crash or the time limit loses only what comes after.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import sys
import unittest
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from jaxlint.verify.observers import OBSERVERS, Observation, describe, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from jaxlint.claims import Claim


@dataclass(frozen=True, slots=True)
class Task:
    """Look for a claim in `program`, a function's name; `twin` is the good program."""

    claim: Claim
    program: str
    twin: str


@dataclass(frozen=True, slots=True)
class Job:
    """Tasks for one process. Without a file it only says what the platform is."""

    path: Path | None
    tasks: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True)
class Platform:
    """Where something was observed."""

    jax: str
    backend: str
    device: str


def main() -> None:
    """Do the job on standard input."""
    job: Job = pickle.load(sys.stdin.buffer)
    report = _reporter()
    report(_platform())
    if job.path:
        module = _load(job.path)
        for task in job.tasks:
            report(_observe(module, task))


def _reporter() -> Callable[[Any], None]:
    """Keeps standard output for the answers; what a program prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return lambda answer: print(json.dumps(asdict(answer)), file=answers, flush=True)


def _platform() -> Platform:
    import jax

    return Platform(jax.__version__, jax.default_backend(), jax.devices()[0].device_kind)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _observe(module: ModuleType, task: Task) -> Observation:
    program, twin = getattr(module, task.program), getattr(module, task.twin)
    try:
        return OBSERVERS[type(task.claim)].observe(task.claim, program, twin)
    except (unittest.SkipTest, ModuleNotFoundError) as reason:
        return Observation("skipped", str(reason))
    except Exception as error:
        return Observation("failed", describe(error), lines_of(error, program))


if __name__ == "__main__":
    main()
