"""What the model makes of a value, as `reveal` tells it.

`values.txt` holds programs, each under a line `### title`. Behind each `reveal(…)` stands what
is known there; where it is met with several values, all of them, with `|` between.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from model.reveal import SETUP, run

from jaxlint.model.events import Revealed
from jaxlint.source.positions import locate

TEXT = Path(__file__).with_name("values.txt").read_text(encoding="utf-8")
TITLED = re.split(r"^### (.+)\n", TEXT, flags=re.MULTILINE)[1:]
PROGRAMS = dict(zip(TITLED[::2], TITLED[1::2], strict=True))
MARK = re.compile(r"reveal\(.*\)  # (.+)")


def revealed_by_row(source: str) -> dict[int, str]:
    """What `reveal` says on each line where it stands."""
    interpreter, events = run(source)
    found = [event for event in events if isinstance(event, Revealed)]
    places = locate(interpreter.module, [event.site for event in found])
    values: dict[int, list[str]] = {}
    for event in found:
        known = values.setdefault(places[event.site].start.row, [])
        known.extend([event.description] if event.description not in known else [])
    return {row: " | ".join(known) for row, known in values.items()}


def test_each_program_has_a_title_of_its_own() -> None:
    assert len(PROGRAMS) == TEXT.count("### ")


@pytest.mark.parametrize("title", PROGRAMS)
def test_values_are_what_the_program_says(title: str) -> None:
    source = SETUP + PROGRAMS[title]
    marks = ((row, MARK.search(line)) for row, line in enumerate(source.splitlines(), 1))
    assert revealed_by_row(source) == {row: mark[1] for row, mark in marks if mark}
