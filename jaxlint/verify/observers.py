"""One observer per claim: runs a program and says whether the claim was seen.

An observer is a function of the claim, the program and its good twin (which is
the program itself where the good program is observed). It runs in a process of
`worker`; what that process must look like is said where it is registered:

    @observes(KeyReuse, JAX_DEBUG_KEY_REUSE="1")
    def key_reuse(claim, program, twin): …

An exception that the claim does not speak of is left to the worker.
"""

from __future__ import annotations

import gc
import itertools
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from jaxlint.claims import Claim, Correlated, IdenticalDraws, KeepsAlive, KeyReuse, Raises

if TYPE_CHECKING:
    from types import FrameType

    import numpy as np
    from numpy.typing import NDArray

Outcome: TypeAlias = Literal["seen", "absent", "failed", "skipped"]


class Program(Protocol):
    """A function of a fixture."""

    __code__: Any

    def __call__(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Observation:
    """What running a program showed.

    "failed" is a program that ended in an exception that no claim speaks of,
    "skipped" one that needs what is not installed. `lines` are the lines of the
    fixture file that an exception passed through, the innermost last.
    """

    outcome: Outcome
    text: str
    lines: tuple[int, ...] = ()


C = TypeVar("C", bound=Claim)
Observe: TypeAlias = Callable[[C, Program, Program], Observation]


@dataclass(frozen=True, slots=True)
class Observer:
    """An observing function and the process that it needs: environment variables
    set before JAX is imported, and whether it shares the process with others."""

    observe: Observe[Any]
    environment: Mapping[str, str]
    alone: bool


OBSERVERS: dict[type[Claim], Observer] = {}


def observes(
    claim: type[C], *, alone: bool = False, **environment: str
) -> Callable[[Observe[C]], Observe[C]]:
    """Register the decorated function as the observer of a claim."""

    def register(observe: Observe[C]) -> Observe[C]:
        OBSERVERS[claim] = Observer(observe, environment, alone)
        return observe

    return register


@observes(Raises)
def raises(claim: Raises, program: Program, _twin: Program) -> Observation:
    """Run the program; compare the exception that ends it."""
    try:
        program()
    except Exception as error:
        if type(error).__name__ in claim.error.split("|") and re.search(claim.match, str(error)):
            return Observation("seen", describe(error), lines_of(error, program))
        raise
    return Observation("absent", "no exception")


@observes(KeyReuse, JAX_DEBUG_KEY_REUSE="1")
def key_reuse(_claim: KeyReuse, program: Program, twin: Program) -> Observation:
    """Run the program under JAX's own checker, which must be on before JAX is imported:
    switched on later it misses what was traced before."""
    return raises(Raises("KeyReuseError", "consumed"), program, twin)


@observes(IdenticalDraws)
def identical_draws(_claim: IdenticalDraws, program: Program, _twin: Program) -> Observation:
    """Compare the draws that the program returns bit for bit."""
    draws = _draws(program())
    seen = {(draw.shape, draw.dtype.str, draw.tobytes()) for draw in draws}
    text = f"{len(seen)} different of {len(draws)} draws"
    return Observation("seen" if len(seen) < len(draws) else "absent", text)


@observes(Correlated)
def correlated(claim: Correlated, program: Program, _twin: Program) -> Observation:
    """Compare the order of the numbers in each two draws of one size."""
    pairs = itertools.combinations(_draws(program()), 2)
    strongest = max((abs(rank_correlation(a, b)) for a, b in pairs if _comparable(a, b)), default=0.0)
    return Observation(
        "seen" if strongest >= claim.rank else "absent", f"strongest rank correlation {strongest:.2f}"
    )


@observes(KeepsAlive, alone=True)
def keeps_alive(claim: KeepsAlive, program: Program, twin: Program) -> Observation:
    """Compare the device bytes that the program and its twin hold at their peaks."""
    ratio = peak_live_bytes(program) / max(1, peak_live_bytes(twin))
    return Observation(
        "seen" if ratio >= claim.ratio else "absent", f"peak live bytes {ratio:.1f} times the good twin's"
    )


def describe(error: BaseException) -> str:
    """An exception on one short line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message if len(message) <= 120 else message[:119] + '…'}"


def lines_of(error: BaseException, program: Program) -> tuple[int, ...]:
    """The lines of the program's file that an exception passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    source = program.__code__.co_filename
    return tuple(frame.lineno for frame in frames if frame.filename == source and frame.lineno)


def peak_live_bytes(program: Program) -> int:
    """The most device bytes that the program holds at any of its own steps.

    A step is one bytecode instruction of the fixture file. Looking before each of
    them sees the moment that matters, when a new array exists and the name is not
    rebound yet, in any form of loop and without a word in the fixture. (Peak
    resident memory does not tell: since 0.6 the old buffer is dropped before the
    pages of the new one are touched.)
    """
    program()  # compiles, so that this does not count
    gc.collect()
    before = peak = live_bytes()
    source = program.__code__.co_filename

    def step(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal peak
        if frame.f_code.co_filename != source:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            peak = max(peak, live_bytes())
        return step

    outer = sys.gettrace()
    # Python 3.12 reports no instructions at all unless a frame asks before settrace.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(step)
    try:
        program()
    finally:
        sys.settrace(outer)
    return peak - before


def live_bytes() -> int:
    """Device bytes in use: from the device where it counts them, else from the arrays alive."""
    import jax

    jax.block_until_ready(jax.live_arrays())  # a device frees a buffer when the work on it is done
    counts = [device.memory_stats() for device in jax.local_devices()]
    if all(counts):
        return sum(int(count["bytes_in_use"]) for count in counts)
    return sum(array.nbytes for array in jax.live_arrays())


SAMPLE = 1000
"""Fewer numbers than this say nothing about correlation."""


def _comparable(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.size == b.size >= SAMPLE


def rank_correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Spearman's rank correlation of two arrays of one size."""
    import numpy as np

    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: NDArray[Any]) -> NDArray[np.float64]:
    """The rank of each number, equal numbers sharing the mean of theirs."""
    import numpy as np

    _, place, count = np.unique(values.ravel(), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[place.ravel()]


def _draws(result: Sequence[Any]) -> list[NDArray[Any]]:
    draws = [_numbers(draw) for draw in result]
    if len(draws) < 2:
        raise ValueError("the program must return two draws or more")
    return draws


def _numbers(draw: Any) -> NDArray[Any]:
    import jax
    import numpy as np

    if jax.numpy.issubdtype(draw.dtype, jax.dtypes.prng_key):
        draw = jax.random.key_data(draw)
    return np.asarray(draw)
