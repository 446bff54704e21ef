"""jaxlint as a plugin of flake8.

flake8 decides which codes it shows and reads `# noqa` on the line of a finding; what is
found, and all other suppressions, are as in `jaxlint check`. A file that Python cannot
parse is flake8's to report (E999): it calls no plugin then.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from jaxlint import __version__


class Plugin:
    """What flake8 makes for each file."""

    name = "jaxlint"
    version = __version__
    disable_noqa: ClassVar[bool] = False

    def __init__(self, tree: ast.AST, lines: Sequence[str], filename: str) -> None:
        self.text = "".join(lines)
        self.filename = filename

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """flake8 tells its options once, before any file."""
        cls.disable_noqa = options.disable_noqa

    def run(self) -> Iterator[tuple[int, int, str, type[Any]]]:
        """Row from 1, column from 0, code and message of each finding."""
        from jaxlint.screen import may_have_findings

        if may_have_findings(self.text):
            yield from self._check()

    def _check(self) -> Iterator[tuple[int, int, str, type[Any]]]:
        from jaxlint.config import ConfigError, Configuration, Settings
        from jaxlint.runner import Options, check_source
        from jaxlint.selection import INTERNAL_ERROR

        try:
            settings = Configuration().for_folder(Path(self.filename).absolute().parent)
        except ConfigError as error:
            yield 1, 0, f"{INTERNAL_ERROR} {error}", type(self)
            return
        # flake8's own select and ignore say which codes are shown.
        codes = Settings(settings.root).codes
        options = Options(codes, settings.large_array_bytes, noqa=not self.disable_noqa)
        result = check_source(self.text, self.filename, options)
        for finding in result.findings:
            start = finding.range.start
            yield start.row, start.column - 1, f"{finding.code} {finding.message}", type(self)
        for message in result.errors:
            yield 1, 0, f"{INTERNAL_ERROR} {message.removeprefix(INTERNAL_ERROR).strip()}", type(self)
