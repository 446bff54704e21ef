"""The one test of the rules: each fixture file is linted, and run on real jaxlib.

Marks at the end of a line say what the linter reports there:
`# expect: JAX101` (several codes, with commas), `# miss: JAX101` for what it should
report and does not yet.
"""

from __future__ import annotations

import io
import json
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

from jaxlint.cli import main
from jaxlint.registry import all_rules
from jaxlint.rule import Rule
from jaxlint.verify.fixture import Fixture, fixtures_of, path_of, root
from jaxlint.verify.runner import CPU, Result, backends, observe

MARK = re.compile(r"# (expect|miss): (JAX\d{3}(?:, JAX\d{3})*)$")

RULES = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
FIXTURES = pytest.mark.parametrize(
    ("rule", "fixture"),
    [
        # One worker of pytest-xdist for a rule, so that its programs run once.
        pytest.param(
            rule,
            fixture,
            id=f"{rule.code}-{fixture.scenario}",
            marks=pytest.mark.xdist_group(rule.code),
        )
        for rule in all_rules()
        for fixture in fixtures_of(rule, root())
    ],
)


@cache
def marks(path: Path, word: str) -> frozenset[tuple[int, str]]:
    """Line and code of each mark."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    found = (
        (token.start[0], MARK.search(token.string)) for token in tokens if token.type == tokenize.COMMENT
    )
    return frozenset(
        (row, code) for row, mark in found if mark and mark[1] == word for code in mark[2].split(", ")
    )


@cache
def observed(rule: Rule) -> dict[str, Result]:
    """What running the fixtures of a rule on the CPU showed."""
    return {result.fixture.scenario: result for result in observe(fixtures_of(rule, root()), CPU)}


@RULES
def test_findings_are_the_marks(rule: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    path = path_of(rule, root())
    main(["check", "--isolated", "--no-cache", "--output-format", "json", str(path)])
    findings = json.loads(capsys.readouterr().out)
    reported = {(finding["location"]["row"], finding["code"]) for finding in findings}
    expected = marks(path, "expect")
    assert sorted(reported - expected) == []
    assert sorted(expected - reported) == []
    assert marks(path, "miss").isdisjoint(reported), "found at last: make it `expect`"


@FIXTURES
def test_claim_holds_for_bad_and_not_for_good(rule: Rule, fixture: Fixture) -> None:
    result = observed(rule)[fixture.scenario]
    if result.skipped:
        pytest.skip(result.good.text)
    assert result.good.outcome == "absent", result.good.text
    assert result.bad is None or result.bad.outcome == "seen", result.bad.text


@FIXTURES
def test_exception_comes_from_a_marked_line(rule: Rule, fixture: Fixture) -> None:
    """From the line itself, or from a helper that it calls."""
    result = observed(rule)[fixture.scenario]
    if result.skipped:
        pytest.skip(result.good.text)
    if result.bad and result.bad.lines:
        marked = marks(fixture.path, "expect") | marks(fixture.path, "miss")
        assert {(line, rule.code) for line in result.bad.lines} & marked


@RULES
def test_claims_hold_on_the_gpu(rule: Rule) -> None:
    accelerators = [environment for environment in backends() if environment is not CPU]
    if not accelerators:
        pytest.skip("no GPU on this machine")
    for environment in accelerators:
        results = observe(fixtures_of(rule, root()), environment)
        assert [result for result in results if not result.ok] == []
