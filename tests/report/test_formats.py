"""Each format, byte for byte: `golden/FORMAT.txt` is what it makes of findings in `golden/program.txt`."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from jaxlint import report
from jaxlint.finding import Finding, Position, Range

GOLDEN = Path(__file__).parent / "golden"
PROGRAM = (GOLDEN / "program.txt").read_text(encoding="utf-8")


def finding(code: str, name: str, message: str, start: tuple[int, int], end: tuple[int, int]) -> Finding:
    place = Range(Position(*start), Position(*end))
    return Finding("a,b/program.py", code, name, message, place, f"Cure of {name}.")


FINDINGS = [
    finding("JAX101", "item-assignment", "after a tab, in wide characters", (8, 2), (8, 10)),
    finding("JAX101", "item-assignment", "over four lines", (9, 2), (12, 3)),
    finding("JAX101", "item-assignment", "over more lines than are shown", (5, 1), (14, 10)),
    finding("JAX301", "large-allocation-in-loop", "100% of a: b, c\nand more", (18, 5), (18, 8)),
    finding("JAX202", "key-reused-in-loop", "far out in a long line", (20, 199), (20, 217)),
    finding("JAX000", "syntax-error", "where no line is", (30, 1), (30, 2)),
]


def rendered(name: str, findings: list[Finding]) -> str:
    out = io.StringIO()
    lines = PROGRAM.split("\n")[:-1]
    report.write(report.load(name).render(findings, lambda _: lines), out)
    return out.getvalue().replace(f'"{Path.cwd()}', '"FOLDER')


@pytest.mark.parametrize("name", report.formats())
def test_format(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    assert rendered(name, FINDINGS) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_formats_without_findings() -> None:
    assert {name: rendered(name, []) for name in report.formats()} == {
        "concise": "",
        "full": "",
        "github": "",
        "json": "[]\n",
    }


def test_github_takes_names_from_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step may run in a folder of its own."""
    monkeypatch.setenv("GITHUB_WORKSPACE", str(Path.cwd().parent))
    assert f"file={Path.cwd().name}/a%2Cb/program.py,line=8," in rendered("github", FINDINGS[:1])


def test_summary() -> None:
    assert report.summary([]) == "All checks passed."
    assert report.summary(FINDINGS[:1]) == "Found 1 finding in 1 file."
    assert report.summary(FINDINGS) == "Found 6 findings in 1 file."


def test_control_characters_do_not_reach_the_terminal() -> None:
    out = io.StringIO()
    lines = report.load("full").render(FINDINGS[:1], lambda _: ["x\x1b[31m\f = 1"] * 8)
    report.write(lines, out)
    assert "x [31m  = 1" in out.getvalue()
