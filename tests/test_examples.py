"""The examples hold the mistakes that their comments name, and no others."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT

from jaxlint.cli import main

PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
MISTAKE = re.compile(r"# (JAX\d{3}): ")

EACH = pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)


@EACH
def test_findings_are_the_mistakes_that_comments_name(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = program.read_text(encoding="utf-8").splitlines()
    named = [(row, code) for row, line in enumerate(lines, 1) for code in MISTAKE.findall(line)]
    main(["check", "--isolated", "--no-cache", "--output-format", "json", str(program)])
    findings = json.loads(capsys.readouterr().out)
    assert [(finding["location"]["row"], finding["code"]) for finding in findings] == named


@EACH
def test_examples_run_and_those_with_immutable_arrays_do_not(program: Path) -> None:
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    if program.stem == "immutable_arrays":
        assert "JAX arrays are immutable" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
