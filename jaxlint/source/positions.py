"""Where nodes stand in the source. Worked out for the few that end in a finding, by
writing the module out once, since libcst's tree holds no positions."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst
from libcst._nodes.internal import CodegenState

from jaxlint.finding import Position, Range


class _Recorder(CodegenState):
    """Counts rows and columns while code is written, and notes the wanted nodes."""

    def __init__(self, module: cst.Module, wanted: set[cst.CSTNode]) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.wanted = {id(node): node for node in wanted}
        self.found: dict[cst.CSTNode, Range] = {}
        self.row, self.column = 1, 1

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        lines = value.count("\n") or value.count("\r")
        if lines:
            self.row += lines
            self.column = len(value) - max(value.rfind("\n"), value.rfind("\r"))
        else:
            self.column += len(value)

    @property
    def here(self) -> Position:
        return Position(self.row, self.column)

    def record_syntactic_position(self, node: cst.CSTNode, **kwargs: object) -> _Recording:  # type: ignore[override]
        return _Recording(self, node)

    def before_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self.wanted:
            self.found.setdefault(node, Range(self.here, self.here))

    def after_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self.wanted and self.found[node].start == self.found[node].end:
            self.found[node] = Range(self.found[node].start, self.here)


class _Recording:
    """The part of a node's code that is not white space round it."""

    def __init__(self, state: _Recorder, node: cst.CSTNode) -> None:
        self.state, self.node = state, node
        self.wanted = id(node) in state.wanted

    def __enter__(self) -> None:
        if self.wanted:
            self.start = self.state.here

    def __exit__(self, *error: object) -> None:
        if self.wanted:
            self.state.found[self.node] = Range(self.start, self.state.here)


def locate(module: cst.Module, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, Range]:
    """The range of each of `nodes`, all of them nodes of `module`."""
    state = _Recorder(module, set(nodes))
    module._codegen(state)
    return state.found
