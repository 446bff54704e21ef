"""Comments that silence findings.

- `# noqa`, `# noqa: JAX101, JAX2`: as flake8 reads them, codes by prefix and in any case;
- `# jaxlint: ignore[JAX101, key-reused] reason`: codes, prefixes and names of rules;
- `# jaxlint: skip-file`, `# flake8: noqa`: anywhere, for the whole file.

A comment holds for the whole statement that it stands in, or after: a finding is not
always on the line where there is room for one. What looks like a comment inside a string
is none.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jaxlint.finding import Finding

MARKER = re.compile(r"#\s*(?:noqa|jaxlint\s*:|flake8\s*[:=])", re.IGNORECASE)
NOQA = re.compile(r"#\s*noqa(?:\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)
IGNORE = re.compile(r"#\s*jaxlint\s*:\s*ignore\[(?P<rules>[^\]]*)\]", re.IGNORECASE)
SKIP_FILE = re.compile(r"#\s*jaxlint\s*:\s*skip-file\b", re.IGNORECASE)
NOQA_FILE = re.compile(r"#\s*flake8\s*[:=]\s*noqa\s*$", re.IGNORECASE)

NOT_IN_STATEMENT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True, slots=True)
class Suppression:
    """What a comment silences on rows `first` to `last`; `rules` None stands for all."""

    first: int
    last: int
    rules: tuple[str, ...] | None

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is one of those."""
        if not self.first <= finding.range.start.row <= self.last:
            return False
        return self.rules is None or finding.name in self.rules or finding.code.startswith(self.rules)


def unsuppressed(text: str, findings: Iterable[Finding], *, noqa: bool = True) -> list[Finding]:
    """The findings that no comment in `text` silences. Without `noqa`, flake8's own comments
    do not count."""
    kept = list(findings)
    if not kept or not MARKER.search(text):
        return kept
    comments = list(_comments(text))
    if any(SKIP_FILE.search(text) or (noqa and NOQA_FILE.search(text)) for text, _, _ in comments):
        return []
    suppressions = [found for comment in comments for found in _read(*comment, noqa=noqa)]
    return [finding for finding in kept if not any(entry.covers(finding) for entry in suppressions)]


def _read(comment: str, first: int, last: int, *, noqa: bool) -> Iterator[Suppression]:
    if noqa and (found := NOQA.search(comment)):
        codes = found["codes"]
        yield Suppression(first, last, tuple(re.split(r"[,\s]+", codes.upper())) if codes else None)
    for found in IGNORE.finditer(comment):
        named = list(filter(None, re.split(r"[,\s]+", found["rules"])))
        yield Suppression(first, last, (*named, *map(str.upper, named)))


def _comments(text: str) -> Iterator[tuple[str, int, int]]:
    """Each comment, with the first and last row of the statement that it belongs to."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        # Newer syntax than that of the Python that runs this: take each line by itself.
        for row, line in enumerate(text.split("\n"), 1):
            if found := MARKER.search(line):
                yield line[found.start() :], row, row
    else:
        yield from _comments_among(tokens)


def _comments_among(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tuple[str, int, int]]:
    first, comments = 0, list[str]()
    for token in tokens:
        if token.type == tokenize.COMMENT:
            comments.append(token.string)
        elif token.type not in NOT_IN_STATEMENT:
            first = first or token.start[0]
        if token.type == tokenize.NEWLINE or (token.type == tokenize.NL and not first):
            for comment in comments:
                yield comment, first or token.start[0], token.end[0]
            first, comments = 0, []
