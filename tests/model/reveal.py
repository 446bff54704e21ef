"""Runs the model over a program and tells what it made of it."""

from __future__ import annotations

from textwrap import dedent

import libcst as cst

from jaxlint.model.events import Event, Revealed
from jaxlint.model.interpreter import Interpreter, Options
from jaxlint.registry import all_rules
from jaxlint.runner import Options as CheckOptions
from jaxlint.runner import check_source

SETUP = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"


def run(source: str, kind: type[Interpreter] = Interpreter) -> tuple[Interpreter, list[Event]]:
    """The interpreter after it has run a program, and the events in order."""
    found: list[Event] = []
    interpreter = kind(cst.parse_module(dedent(source)), found.append, Options())
    interpreter.run()
    return interpreter, found


def revealed(source: str) -> list[str]:
    """What `reveal` says in a program, in order."""
    return [event.description for event in run(source)[1] if isinstance(event, Revealed)]


def findings(source: str) -> list[tuple[int, str]]:
    """Line and code of each finding in a program."""
    result = check_source(source, "program.py", CheckOptions(frozenset(rule.code for rule in all_rules())))
    return [(finding.range.start.row, finding.code) for finding in result.findings]
