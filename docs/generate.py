"""Writes `docs/rules/`: a page per rule, from the rule's docstring and what running its fixtures showed.

usage: python docs/generate.py

A number on a page always comes from `docs/evidence/`, which `jaxlint verify --update` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxlint.registry import all_rules
from jaxlint.rule import Rule

DOCS = Path(__file__).parent
NOTE = "<!-- Made by docs/generate.py: edit the rule's docstring, not this page. -->\n"

Row = dict[str, Any]


def pages() -> dict[Path, str]:
    """Every file of `docs/rules`, with its text."""
    evidence = read_evidence()
    rules = {
        DOCS / "rules" / f"{rule.code}.md": page(rule, [row for row in evidence if row["code"] == rule.code])
        for rule in all_rules()
    }
    return rules | {DOCS / "rules" / "index.md": catalogue()}


def read_evidence() -> list[Row]:
    """The rows of all evidence files, the oldest JAX first."""
    rows: list[Row] = []
    for path in (DOCS / "evidence").glob("*.json"):
        rows += json.loads(path.read_text(encoding="utf-8"))["results"]
    return sorted(rows, key=lambda row: ([int(part) for part in row["jax"].split(".")], row["backend"]))


def catalogue() -> str:
    """The table of all rules."""
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.group} | {summary(rule)} |"
        for rule in all_rules()
    ]
    return "\n".join(
        [NOTE, "# Rules\n", "| code | name | group | what it reports |", "|---|---|---|---|", *rows, ""]
    )


def summary(rule: Rule) -> str:
    """The first line of the rule's page, as part of a sentence."""
    return rule.page.splitlines()[0].removesuffix(".")


def page(rule: Rule, rows: list[Row]) -> str:
    """One rule's page."""
    return "\n".join(
        [
            NOTE,
            f"# {rule.name} ({rule.code})\n",
            rule.page,
            "\n## Shown by running it\n",
            *proof(rule, rows),
            "",
        ]
    )


def proof(rule: Rule, rows: list[Row]) -> Iterator[str]:
    """What the rule claims, and a table of what its fixtures showed."""
    fixtures = f"tests/fixtures/{rule.family}/{rule.name.replace('-', '_')}.py"
    yield f"Claim: `{rule.claim}`. The programs are in [`{fixtures}`](../../{fixtures}).\n"
    if not rows:
        yield "No evidence is recorded yet."
        return
    yield "| what the bad programs showed | what their good twins showed | with | programs |"
    yield "|---|---|---|---|"
    for (bad, good, platforms), programs in grouped(rows).items():
        yield f"| {cell(bad)} | {cell(good)} | {', '.join(platforms)} | {', '.join(sorted(programs))} |"


def grouped(rows: list[Row]) -> dict[tuple[str, str, tuple[str, ...]], list[str]]:
    """The programs of which the same was seen on the same platforms, those that are only good last."""
    platforms: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        key = row["observed"], row["twin"], row["fixture"].partition("::")[2]
        platforms.setdefault(key, []).append(f"jax {row['jax']} {row['backend']}")
    programs: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (bad, good, program), seen in platforms.items():
        programs.setdefault((bad, good, tuple(seen)), []).append(program)
    return dict(sorted(programs.items(), key=lambda item: item[0][0].startswith("look-alike")))


def cell(text: str) -> str:
    """Text as code, in a form that fits a cell of a table."""
    return f"`{text}`".replace("|", "\\|")


def main() -> None:
    """Write the pages, and remove those of rules that are gone."""
    wanted = pages()
    (DOCS / "rules").mkdir(exist_ok=True)
    for old in (DOCS / "rules").glob("*.md"):
        if old not in wanted:
            old.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
