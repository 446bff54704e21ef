"""Programs that are right, though they look like something a rule warns of.

`silent_programs.txt` holds them, each under a line `### name`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from model.reveal import findings

TEXT = Path(__file__).with_name("silent_programs.txt").read_text(encoding="utf-8")
NAMED = re.split(r"^### (\S+)\n", TEXT, flags=re.MULTILINE)[1:]
PROGRAMS = dict(zip(NAMED[::2], NAMED[1::2], strict=True))


def test_each_program_has_a_name_of_its_own() -> None:
    assert len(PROGRAMS) == TEXT.count("### ") > 200


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_right_program_is_not_warned_of(name: str) -> None:
    assert findings(PROGRAMS[name]) == []
