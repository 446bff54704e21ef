"""Measures how much CPU time jaxlint takes, in ratios to parsing, and how it grows with the code.

usage: python benchmarks/speed.py DIR… [--repeat N]

Everything is measured in one run, in one process and without a cache, so that a ratio holds on any machine:

- `ast.parse` of all files;
- `libcst.parse_module` of the files that mention JAX, the garbage collector paused: the floor;
- `jaxlint check --no-cache --jobs 1`, called in this process, and as a command of its own;
- the same over packages of the standard library, which never mention JAX;
- generated programs, and the same twice as large.

Exit status 1 where one of the `LIMITS` is passed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import io
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import libcst

from jaxlint.cli import main as jaxlint

LIMITS = {
    "check / libcst parse": 1.8,
    "without JAX / ast.parse": 0.1,
    "twice the nested loops": 3.2,  # a loop at depth n is run n times: n loops cost n² / 2 at worst
    "twice the sequential ifs": 2.6,
    "twice the functions": 2.6,
}

COMMAND = ["check", "--isolated", "--no-cache", "--jobs", "1", "--exit-zero", "--quiet"]

PACKAGES_WITHOUT_JAX = (
    "asyncio",
    "concurrent",
    "ctypes",
    "email",
    "http",
    "idlelib",
    "json",
    "unittest",
    "xml",
)


def cpu_seconds(work: Callable[[], object]) -> float:
    """User and system time of `work`, with the processes that it waited for."""
    before = os.times()[:4]
    work()
    return sum(os.times()[:4]) - sum(before)


def parse_ast(sources: Sequence[bytes]) -> None:
    """What any linter that is written in Python pays."""
    for source in sources:
        with contextlib.suppress(SyntaxError, ValueError):
            ast.parse(source)


def parse_libcst(sources: Sequence[bytes]) -> None:
    """What any linter that is built on libcst pays."""
    gc.disable()
    for source in sources:
        with contextlib.suppress(libcst.ParserSyntaxError, UnicodeDecodeError):
            libcst.parse_module(source)
    gc.enable()


def check(paths: Sequence[Path]) -> None:
    """`jaxlint check` in this process."""
    with contextlib.redirect_stdout(io.StringIO()):
        status = jaxlint([*COMMAND, *map(str, paths)])
    if status:
        raise SystemExit(f"jaxlint ended with exit status {status}")


def check_as_command(paths: Sequence[Path]) -> None:
    """`jaxlint check` with all it takes to start."""
    subprocess.run(
        [sys.executable, "-m", "jaxlint", *COMMAND, *map(str, paths)], check=True, capture_output=True
    )


def median(repeat: int, *works: Callable[[], object]) -> list[float]:
    """The median time of each, measured in turns, so that what slows the machine slows all."""
    rounds = [[cpu_seconds(work) for work in works] for _ in range(repeat)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def real_code(paths: Sequence[Path], repeat: int) -> Iterator[tuple[str, float]]:
    """Compare with the parsers over the files below `paths`."""
    sources = [file.read_bytes() for path in paths for file in sorted(path.rglob("*.py"))]
    with_jax = [source for source in sources if b"jax" in source]
    print(f"{len(sources)} files, {len(with_jax)} of them mention JAX")
    names = (
        "ast.parse",
        "libcst.parse_module, files with JAX",
        "jaxlint check",
        "jaxlint check, as a command",
    )
    times = median(
        repeat,
        lambda: parse_ast(sources),
        lambda: parse_libcst(with_jax),
        lambda: check(paths),
        lambda: check_as_command(paths),
    )
    for name, seconds in zip(names, times, strict=True):
        print(
            f"  {name:37} {seconds:7.2f} s  {seconds / times[0]:6.2f} ast  {seconds / times[1]:6.2f} libcst"
        )
    yield "check / libcst parse", times[3] / times[1]


def code_without_jax(repeat: int) -> Iterator[tuple[str, float]]:
    """Compare with `ast.parse` where there is nothing to do; what it takes to start is taken off."""
    library = Path(sysconfig.get_path("stdlib"))
    paths = [library / name for name in PACKAGES_WITHOUT_JAX]
    sources = [file.read_bytes() for path in paths for file in path.rglob("*.py")]
    with tempfile.TemporaryDirectory() as empty:
        parse, start, whole = median(
            repeat,
            lambda: parse_ast(sources),
            lambda: check_as_command([Path(empty)]),
            lambda: check_as_command(paths),
        )
    print(f"{len(sources)} files of the standard library")
    print(f"  ast.parse {parse:.2f} s, jaxlint check {whole:.2f} s, of which start-up {start:.2f} s")
    yield "without JAX / ast.parse", (whole - start) / parse


HEAD = """\
import jax
import jax.numpy as jnp

"""


def nested_loops(depth: int) -> str:
    """Twenty functions with loops in loops."""
    lines = [f"{'    ' * (level + 1)}for i{level} in range(3):" for level in range(depth)]
    body = textwrap.indent(
        "key, subkey = jax.random.split(key)\nx = x + jax.random.normal(subkey, (4,))", "    " * (depth + 1)
    )
    function = "\n".join(["def f{}(key):", "    x = jnp.zeros(4)", *lines, body, "    return x", ""])
    return HEAD + "\n".join(function.format(number) for number in range(20))


def sequential_ifs(count: int) -> str:
    """One function with one branch after the other."""
    branch = "    if a > {}:\n        x = x * 2\n    else:\n        key, subkey = jax.random.split(key)\n"
    branches = "".join(branch.format(number) for number in range(count))
    return f"{HEAD}def f(a, key):\n    x = jnp.zeros(4)\n{branches}    return x, key\n"


def functions(count: int) -> str:
    """Functions that call the one before."""
    function = """\
def f{number}(key, x):
    key, subkey = jax.random.split(key)
    y = jnp.dot(x, x.T) + jax.random.normal(subkey, (4, 4))
    for i in range(3):
        y = y.at[i].set(i)
    return f{previous}(key, y)


"""
    defined = [function.format(number=number, previous=max(number - 1, 0)) for number in range(count)]
    return HEAD + "".join(defined)


GROWTH: dict[str, tuple[Callable[[int], str], int]] = {
    "twice the nested loops": (nested_loops, 6),
    "twice the sequential ifs": (sequential_ifs, 150),
    "twice the functions": (functions, 200),
}


def growth(repeat: int) -> Iterator[tuple[str, float]]:
    """Compare generated programs with the same twice as large."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small.py"), Path(folder, "large.py")
        for name, (program, size) in GROWTH.items():
            small.write_text(program(size))
            large.write_text(program(2 * size))
            one, two = median(repeat, lambda: check([small]), lambda: check([large]))
            print(f"{name}: {size} {one:.2f} s, {2 * size} {two:.2f} s")
            yield name, two / one


def main() -> int:
    """Print the ratios, and which of them are too large."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", metavar="DIR", type=Path)
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="measure N times, take medians")
    options = parser.parse_args()
    ratios = dict(real_code(options.paths, options.repeat))
    ratios |= code_without_jax(options.repeat)
    ratios |= growth(options.repeat)
    print("ratios, and their limits")
    for name, ratio in ratios.items():
        print(
            f"  {name:28} {ratio:5.2f}  {LIMITS[name]:4.1f}  {'ok' if ratio <= LIMITS[name] else 'TOO MUCH'}"
        )
    return int(any(ratio > LIMITS[name] for name, ratio in ratios.items()))


if __name__ == "__main__":
    sys.exit(main())
