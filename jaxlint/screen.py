"""Tells, without parsing, which files cannot hold a finding.

The model knows a value of JAX only by way of an import of a library that the knowledge
knows. A file that does not even contain the name of one cannot have such an import, so
nothing is looked at further: no parser is loaded, and no syntax error is reported.
"""

from __future__ import annotations

from functools import cache

from jaxlint.knowledge import roots


def may_have_findings(text: str) -> bool:
    """Whether the text names a library that jaxlint knows."""
    return any(name in text for name in _names())


@cache
def _names() -> tuple[str, ...]:
    """Those to look for: "jax" stands for "blackjax" as well."""
    return tuple(sorted(name for name in roots() if not any(other in name for other in roots() - {name})))
