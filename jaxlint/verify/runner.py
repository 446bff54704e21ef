"""Runs fixtures in processes and puts the observations together."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from jaxlint.verify.fixture import PACKAGE, Fixture
from jaxlint.verify.observers import OBSERVERS, Observation, Outcome
from jaxlint.verify.worker import Job, Platform, Task

if TYPE_CHECKING:
    from pathlib import Path

    from jaxlint.claims import Claim

TIME_LIMIT = 300.0
"""Seconds for one process: all programs of a file, compilations included."""

PROCESSES = min(4, os.cpu_count() or 1)

Environment: TypeAlias = Mapping[str, str]

CPU: Environment = {"JAX_PLATFORMS": "cpu"}
# On a GPU each process would else take three quarters of the memory when it starts.
ACCELERATOR: Environment = {"JAX_PLATFORMS": "", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


class NoJaxError(Exception):
    """JAX cannot be imported."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was observed of one fixture on one platform; `bad` is None for a look-alike."""

    fixture: Fixture
    platform: Platform
    bad: Observation | None
    good: Observation

    @property
    def skipped(self) -> bool:
        """Something that the fixture needs is not installed."""
        return self.good.outcome == "skipped"

    @property
    def ok(self) -> bool:
        """The claim was seen in the bad program and not in the good one."""
        if self.skipped:
            return True
        return self.good.outcome == "absent" and (self.bad is None or self.bad.outcome == "seen")


@cache
def platform_of(environment: tuple[tuple[str, str], ...]) -> Platform:
    """The platform that JAX chooses in `environment`.

    Raises:
        NoJaxError: JAX is not installed, or does not start.
    """
    answers, trouble = _run(Job(None), dict(environment))
    if not answers:
        raise NoJaxError(trouble)
    return Platform(**answers[0])


def backends() -> list[Environment]:
    """The environments to run in: the CPU, then the GPU if this machine has one."""
    return [CPU, ACCELERATOR] if platform_of(_items(ACCELERATOR)).backend != "cpu" else [CPU]


def observe(fixtures: Sequence[Fixture], environment: Environment) -> list[Result]:
    """Run fixtures on one backend."""
    platform = platform_of(_items(environment))
    with ThreadPoolExecutor(PROCESSES) as pool:
        groups = _groups(fixtures).items()
        parts = pool.map(lambda item: _work(item[0], item[1], environment), groups)
        seen = {key: observation for part in parts for key, observation in part.items()}

    def together(fixture: Fixture, program: str) -> Observation:
        return _join(
            [seen[fixture.path, _task(fixture, claim, program)] for claim in fixture.claim.alternatives]
        )

    return [
        Result(
            fixture,
            platform,
            together(fixture, fixture.bad) if fixture.has_bad else None,
            together(fixture, fixture.good),
        )
        for fixture in fixtures
    ]


Group: TypeAlias = "tuple[Path, tuple[tuple[str, str], ...], str]"
"""What programs that share a process have in common: the file, the environment
variables, and the scenario if it must be alone."""


def _groups(fixtures: Iterable[Fixture]) -> dict[Group, list[Task]]:
    groups: dict[Group, list[Task]] = {}
    for fixture in fixtures:
        for claim in fixture.claim.alternatives:
            observer = OBSERVERS[type(claim)]
            alone = observer.alone and fixture.has_bad
            group = fixture.path, _items(observer.environment), fixture.scenario if alone else ""
            programs = [fixture.bad, fixture.good] if fixture.has_bad else [fixture.good]
            groups.setdefault(group, []).extend(_task(fixture, claim, program) for program in programs)
    return groups


def _task(fixture: Fixture, claim: Claim, program: str) -> Task:
    return Task(claim, program, fixture.good)


def _work(group: Group, tasks: list[Task], environment: Environment) -> dict[tuple[Path, Task], Observation]:
    path, variables, _ = group
    answers, trouble = _run(Job(path, tuple(tasks)), {**environment, **dict(variables)})
    observations = [Observation(**{**answer, "lines": tuple(answer["lines"])}) for answer in answers[1:]]
    missing = len(tasks) - len(observations)
    observations += [Observation("failed", trouble)] * missing
    return {(path, task): observation for task, observation in zip(tasks, observations, strict=True)}


def _run(job: Job, environment: Environment) -> tuple[list[Any], str]:
    """The answers of a worker, and why there are no more of them."""
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable, "-m", "jaxlint.verify.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
    )
    try:
        output, errors = process.communicate(pickle.dumps(job), TIME_LIMIT)
        last = errors.decode(errors="replace").strip().rpartition("\n")[2]
        trouble = f"the process ended with status {process.returncode}: {last}"
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        trouble = f"no answer within {TIME_LIMIT:g} seconds"
    return [json.loads(line) for line in output.splitlines()], trouble


ORDER: tuple[Outcome, ...] = ("seen", "failed", "skipped", "absent")


def _join(observations: list[Observation]) -> Observation:
    """One observation out of those of alternative claims: one that was seen decides."""
    first = min(observations, key=lambda observation: ORDER.index(observation.outcome))
    if first.outcome != "absent":
        return first
    return Observation("absent", ", ".join(observation.text for observation in observations))


def _items(environment: Environment) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(environment.items()))
