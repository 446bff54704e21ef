"""Random small programs over keys: the linter and JAX's own checker agree on them.

A program that JAX's checker stops, for some values of its booleans, must have a finding; a
program that it lets run for all of them must have none. What the two see differently on
purpose is not generated: `fold_in` twice with the same data (JAX's checker takes no notice),
an element of a batch that is taken twice and used once (JAX's checker counts the taking), the
keys that iteration over a batch gives (JAX's checker does not know them again), and
for the first half of the claim conditions that are not related to each other (the linter says
nothing about them, since they may exclude each other).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from key_programs import SETTINGS, explain, programs
from model.reveal import findings


class Observer:
    """A process that runs programs under JAX's checker."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("observe_reuse.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def is_reused(self, source: str) -> bool:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(source) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert isinstance(answer, bool), f"{answer}\n{source}"
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)


@pytest.fixture(scope="module")
def observer() -> Iterator[Observer]:
    made = Observer()
    yield made
    made.close()


def found(source: str) -> list[tuple[int, str]]:
    return [(row, code) for row, code in findings(source) if code.startswith("JAX2")]


@SETTINGS
@given(source=programs(related=True))
def test_jax_and_the_linter_agree(observer: Observer, source: str) -> None:
    rows, reused = found(source), observer.is_reused(source)
    assert bool(rows) is reused, explain(source, rows)


@SETTINGS
@given(source=programs(related=False))
def test_what_jax_lets_run_has_no_finding(observer: Observer, source: str) -> None:
    rows = found(source)
    assert not rows or observer.is_reused(source), explain(source, rows)
