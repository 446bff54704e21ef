"""Runs programs over keys under JAX's own checker of key reuse: one JSON string a line comes
in, `true`, `false` or an error's text goes out. It imports nothing of jaxlint."""

from __future__ import annotations

import itertools
import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_DEBUG_KEY_REUSE"] = "1"  # set later, it gives wrong answers on some releases

import jax
from jax.errors import KeyReuseError


def is_reused(source: str) -> bool:
    """Whether `program(key, a, b)` of a source uses a key twice for some booleans."""
    names: dict[str, object] = {}
    exec(source, names)
    program = names["program"]
    assert callable(program)
    for flags in itertools.product((False, True), repeat=2):
        try:
            program(jax.random.key(0), *flags)
        except KeyReuseError:
            return True
    return False


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            answer: object = is_reused(json.loads(line))
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)
