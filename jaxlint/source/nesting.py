"""How deep expressions go, found without parsing.

The parser recurses with every level and takes half a megabyte of stack for some of
them; where the stack ends, so does the process. It also takes quadratic time for long
chains (`a + b + …`, `a.b.c…`), which look the same from here. So a file is looked at
before it is parsed.
"""

from __future__ import annotations

import re

MAX_DEPTH = 1000
MAX_BRACKETS = 200  # Python's own limit

# Each becomes one quote. The prefix of an f-string stays in front of it.
PASSED_OVER = re.compile(
    r"""
      \#[^\n]*
    | \\\r?\n
    | \"{3} (?:[^\\"]+|\\.|\"(?!\"\"))* (?:\"{3})?
    | '{3} (?:[^\\']+|\\.|'(?!''))* (?:'{3})?
    | \" (?:[^\\"\n]+|\\.)* \"?
    | ' (?:[^\\'\n]+|\\.)* '?
    """,
    re.VERBOSE | re.DOTALL,
)

# An f-string counts, since another one may stand in it; in quotes of the same kind it
# seems to end there.
TOKEN = re.compile(
    r"""
      (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<part> [,;] )
    | (?P<operator> [-+*/%@&|^~.] | << | >> | \b(?:lambda|not|if|else|await)\b | [fFtT][rR]?\" )
    """,
    re.VERBOSE,
)


def is_too_deep(text: str) -> bool:
    """Whether an expression in `text` may nest deeper than one of the limits."""
    lines = PASSED_OVER.sub('"', text).split("\n")
    first, size, opened, closed = 0, 0, 0, 0
    for row, line in enumerate(lines):
        size += len(line)
        opened += sum(map(line.count, "([{"))
        closed += sum(map(line.count, ")]}"))
        if opened <= closed or row == len(lines) - 1:
            # Each level takes a character, so few statements are worth a closer look.
            may_be = size > MAX_DEPTH or opened > MAX_BRACKETS
            if may_be and _is_too_deep("\n".join(lines[first : row + 1])):
                return True
            first, size, opened, closed = row + 1, 0, 0, 0
    return False


def _is_too_deep(statement: str) -> bool:
    # `inner` counts what the innermost open bracket has nested so far, `outer` what
    # those round it have. A comma starts afresh.
    inner, outer, stack = 0, 0, list[int]()
    for token in TOKEN.finditer(statement):
        kind = token.lastgroup
        if kind == "open":
            stack.append(inner)
            inner, outer = 0, outer + inner + 1
        elif kind == "close":
            # The bracket stays as one link of its chain: `f()()()`.
            opened = stack.pop() if stack else 0
            inner, outer = opened + 1, max(outer - opened - 1, 0)
        elif kind == "part":
            inner = 0
        else:
            inner += 1
        if inner + outer > MAX_DEPTH or len(stack) > MAX_BRACKETS:
            return True
    return False
