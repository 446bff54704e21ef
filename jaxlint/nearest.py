"""Says what somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """`unknown rule JAX110, did you mean JAX101?`"""
    from difflib import get_close_matches  # only needed where something is wrong

    names = sorted(set(known))
    lower = {candidate.lower(): candidate for candidate in reversed(names)}
    close = get_close_matches(name.lower(), lower, n=1, cutoff=0.0)
    return f"unknown {kind} `{name}`" + (f", did you mean `{lower[close[0]]}`?" if close else "")
