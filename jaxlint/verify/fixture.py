"""Finds the fixtures: for each rule one file of small programs.

A fixture file `tests/fixtures/<family>/<rule_name>.py` holds functions
`bad_<scenario>()` and `good_<scenario>()`; a scenario without a bad function is a
look-alike, right code that a rule may take for wrong.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxlint.claims import Claim
    from jaxlint.rule import Rule

PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Fixture:
    """One scenario: the good program, and the bad one unless it is a look-alike."""

    code: str
    claim: Claim
    path: Path
    scenario: str
    has_bad: bool

    @property
    def name(self) -> str:
        """What reports call it: "item_assignment::slice"."""
        return f"{self.path.stem}::{self.scenario}"

    @property
    def bad(self) -> str:
        return f"bad_{self.scenario}"

    @property
    def good(self) -> str:
        return f"good_{self.scenario}"


class FixtureError(Exception):
    """A fixture file is missing or not made as it should be."""


def root() -> Path:
    """The fixtures of the checkout that this package lies in, or the copy in the wheel."""
    checkout = PACKAGE.parent / "tests" / "fixtures"
    return checkout if checkout.is_dir() else PACKAGE / "verify" / "fixtures"


def path_of(rule: Rule, folder: Path) -> Path:
    """Where the fixtures of `rule` lie below `folder`."""
    return folder / rule.family / f"{rule.name.replace('-', '_')}.py"


def fixtures_of(rule: Rule, folder: Path) -> list[Fixture]:
    """The fixtures of `rule`, in the order of the file.

    Raises:
        FixtureError: no file, no bad program, or a bad program without a good twin.
    """
    path = path_of(rule, folder)
    if not path.is_file():
        raise FixtureError(f"{rule.code}: no fixture file {path}")
    programs = dict.fromkeys(_programs(path))
    scenarios = dict.fromkeys(name.partition("_")[2] for name in programs)
    for scenario in scenarios:
        if f"good_{scenario}" not in programs:
            raise FixtureError(f"{path}: bad_{scenario} has no twin good_{scenario}")
    found = [
        Fixture(rule.code, rule.claim, path, scenario, f"bad_{scenario}" in programs)
        for scenario in scenarios
    ]
    if not any(fixture.has_bad for fixture in found):
        raise FixtureError(f"{path}: no function bad_…")
    return found


def _programs(path: Path) -> Iterator[str]:
    for statement in ast.parse(path.read_bytes(), str(path)).body:
        if isinstance(statement, ast.FunctionDef) and statement.name.startswith(("bad_", "good_")):
            yield statement.name
