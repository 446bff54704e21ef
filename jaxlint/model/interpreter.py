"""The abstract interpreter: a libcst visitor that follows execution order.

It executes a module over abstract values instead of walking its tree:

- **Values** (`values`): what is known, and `UNKNOWN`, which never makes a finding.
- **State** (`state`): names, heap, uses of keys and conditions on one path. A branch
  works on a fork; where paths meet, they are joined. A path that returns, raises,
  breaks or continues does not reach the join.
- **Loops** (`statements`): a body is run twice, the second time with what the first
  pass left, which is what a second iteration meets. In the second pass inner loops
  run once, so that cost stays linear in nesting.
- **Calls** (`calls`): functions of the file are followed with their actual arguments;
  library functions do what their row in `jaxlint.knowledge` says. Recursion, depth and
  an overall budget of statements cut off with an unknown result.
- **Functions that nobody calls** are analysed alone, with unknown arguments, after the
  code that defines them; methods with an instance of their class.
- **Tracing** (`tracing`): a function that a transformation wraps is analysed with
  tracers for its arguments, unless they are static.

`Machine` holds what is running and the ledger of keys; `Expressions`, `Calls` and
`Statements` each add the visitors of their kind. Rules hear of what happens through
`events`, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from jaxlint.model import events
from jaxlint.model.machine import Options
from jaxlint.model.statements import Statements
from jaxlint.model.values import Value

__all__ = ["Interpreter", "Options", "analyse"]


class Interpreter(Statements):
    """Executes one module."""

    def run(self) -> None:
        self.run_block(self.module)
        self.reachable = True
        self.run_pending(self.frame)


def analyse(
    module: cst.Module,
    emit: Callable[[events.Event], None],
    options: Options,
    on_bound: Callable[[cst.CSTNode, str, Value], None] | None = None,
) -> None:
    """Execute `module` over abstract values; `emit` is told of every event, `on_bound` of
    every name that is bound."""
    interpreter = Interpreter(module, emit, options)
    interpreter.on_bound = on_bound
    interpreter.run()
