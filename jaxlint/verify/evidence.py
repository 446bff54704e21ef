"""What was observed, as a table, as data, and as the files in `docs/evidence`."""

from __future__ import annotations

import json
import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from jaxlint.verify.observers import Observation
    from jaxlint.verify.runner import Result

FOLDER = Path("docs", "evidence")
"""Where evidence is recorded, below the working directory."""


def entry(result: Result) -> dict[str, Any]:
    """A result as plain data."""
    return {
        "code": result.fixture.code,
        "fixture": result.fixture.name,
        "claim": str(result.fixture.claim),
        "observed": _text(result.bad) if result.bad else "look-alike, only a good program",
        "twin": _text(result.good),
        "ok": result.ok,
        "jax": result.platform.jax,
        "backend": result.platform.backend,
        "device": result.platform.device,
    }


def _text(observation: Observation) -> str:
    marks = {"failed": "ended in ", "skipped": "skipped, "}
    return marks.get(observation.outcome, "") + observation.text


def table(results: Sequence[Result]) -> Iterator[str]:
    """The lines of the evidence table, one block per rule."""
    entries = [entry(result) for result in results]
    for code, block in groupby(entries, key=lambda row: (row["code"], row["claim"])):
        yield f"{code[0]}  claim: {code[1]}"
        rows = [
            (
                "ok" if row["ok"] else "FAIL",
                row["fixture"],
                row["observed"] if row["ok"] else f"{row['observed']}; good twin: {row['twin']}",
                f"jax {row['jax']}",
                row["backend"],
                row["device"],
            )
            for row in block
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield (
                "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            )
        yield ""


def record(results: Iterable[Result], folder: Path) -> list[Path]:
    """Write results to a file per platform; of rules that were not run it keeps what it has."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for platform, group in groupby(results, key=lambda result: result.platform):
        name = f"{platform.jax}-{platform.backend}-{platform.device}"
        path = folder / (re.sub(r"[^\w.-]+", "_", name) + ".json")
        entries = [entry(result) for result in group]
        codes = {row["code"] for row in entries}
        old = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else []
        entries += [row for row in old if row["code"] not in codes]
        entries.sort(key=lambda row: row["code"])
        path.write_text(as_json(entries), encoding="utf-8")
        written.append(path)
    return written


def as_json(entries: list[dict[str, Any]]) -> str:
    """The text of `--json` and of an evidence file."""
    return json.dumps({"results": entries}, indent=1, ensure_ascii=False) + "\n"
