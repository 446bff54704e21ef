"""Runs a function with room for deep recursion.

Both the parser (native code) and the interpreter (Python) recurse with the nesting of
what they read. `jaxlint.source.nesting` bounds that nesting; this gives the bound room.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

# Address space only: pages that are not touched take no memory.
STACK_BYTES = 512 << 20
RECURSION_LIMIT = 50_000

R = TypeVar("R")


def run_with_deep_stack(function: Callable[[], R]) -> R:
    """What `function` returns or raises, called in a thread with a large stack."""
    results: list[R] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    old_limit, old_size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
    sys.setrecursionlimit(max(old_limit, RECURSION_LIMIT))
    try:
        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old_size)
        sys.setrecursionlimit(old_limit)
    if errors:
        raise errors[0]
    return results[0]
