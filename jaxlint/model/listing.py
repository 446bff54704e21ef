"""`jaxlint values`: what the model knows, line by line."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from jaxlint.model.interpreter import Options, analyse
from jaxlint.source.positions import locate


def list_values(source: str) -> Iterator[tuple[int, str, str]]:
    """Row, name and description of every binding, in the order of the file. A name that
    is bound several times with different values is listed once for each."""
    module = cst.parse_module(source)
    bound: list[tuple[cst.CSTNode, str, str]] = []
    analyse(
        module,
        lambda event: None,
        Options(),
        lambda site, name, value: bound.append((site, name, value.describe())),
    )
    places = locate(module, {site for site, _, _ in bound})
    rows = {(places[site].start, name, description) for site, name, description in bound}
    for start, name, description in sorted(rows):
        yield start.row, name, description
