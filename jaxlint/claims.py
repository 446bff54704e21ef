"""What running a bad fixture must show.

A claim is plain data: the linter carries it, prints it on the rule's page, and
never acts on it. `jaxlint.verify.observers` holds one observer per claim, which
runs a program and says whether the claim was seen.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """Base of all claims."""

    @property
    def alternatives(self) -> tuple[Claim, ...]:
        """The claims of which one is enough; each is observed by itself."""
        return (self,)

    def __str__(self) -> str:
        return type(self).__name__


@dataclass(frozen=True, slots=True, init=False)
class AnyOf(Claim):
    """One of several claims holds, each program shows the one that it can.

    The good twin must show none of them.
    """

    claims: tuple[Claim, ...]

    def __init__(self, *claims: Claim) -> None:
        object.__setattr__(self, "claims", claims)

    @property
    def alternatives(self) -> tuple[Claim, ...]:
        return self.claims

    def __str__(self) -> str:
        return ", or ".join(map(str, self.claims))


@dataclass(frozen=True, slots=True)
class Raises(Claim):
    """The program ends in exception `error` whose message contains `match`.

    `error` is the name of the class, or several separated by `|`, since JAX
    moves between classes from release to release; `match` is a regular
    expression.
    """

    error: str
    match: str

    def __str__(self) -> str:
        return f"raises {self.error} ({self.match})"


@dataclass(frozen=True, slots=True)
class IdenticalDraws(Claim):
    """The draws that the program returns are not all different.

    The program returns a sequence of arrays (or of keys), one per draw; the
    claim holds where two of them are equal bit for bit.
    """

    def __str__(self) -> str:
        return "identical draws"


@dataclass(frozen=True, slots=True)
class Correlated(Claim):
    """Two of the draws that the program returns move together.

    The program returns a sequence of arrays, one per draw; the claim holds where
    Spearman's rank correlation of two of one size is `rank` or more, or `-rank`
    or less.
    """

    rank: float

    def __str__(self) -> str:
        return f"draws of rank correlation {self.rank:g} or more"


@dataclass(frozen=True, slots=True)
class KeyReuse(Claim):
    """JAX's own runtime checker (`jax_debug_key_reuse`) objects.

    The program builds typed keys (`jax.random.key`) and ends in KeyReuseError.
    """

    def __str__(self) -> str:
        return "KeyReuseError from jax_debug_key_reuse"


@dataclass(frozen=True, slots=True)
class KeepsAlive(Claim):
    """At its peak the program holds `ratio` times the device bytes of its twin.

    Measured from the moment an array exists to the moment its name is rebound.
    """

    ratio: float

    def __str__(self) -> str:
        return f"peak live device bytes at least {self.ratio:g} times the good twin's"
