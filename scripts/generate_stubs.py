"""Generate stubs for modules of array functions by asking JAX itself.

    python scripts/generate_stubs.py RELEASES

RELEASES is a folder of unpacked JAX wheels, one a release, named by version; they tell since when a
name exists. The rest comes from the installed JAX, the newest supported one: what a function takes
from its signature, what it returns from tracing it with sample arguments.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.knowledge.compiler import GENERATED, STUBS, Version
from jaxlint.knowledge.vocabulary import DTYPE_RULES

OLDEST: Version = (0, 4, 30)

MODULES = [
    "jax.image",
    "jax.lax",
    "jax.lax.linalg",
    "jax.nn",
    "jax.numpy",
    "jax.numpy.fft",
    "jax.numpy.linalg",
    "jax.ops",
    "jax.scipy.fft",
    "jax.scipy.integrate",
    "jax.scipy.interpolate",
    "jax.scipy.linalg",
    "jax.scipy.ndimage",
    "jax.scipy.signal",
    "jax.scipy.special",
    "jax.scipy.stats",
    "jax.scipy.stats.bernoulli",
    "jax.scipy.stats.beta",
    "jax.scipy.stats.betabinom",
    "jax.scipy.stats.binom",
    "jax.scipy.stats.cauchy",
    "jax.scipy.stats.chi2",
    "jax.scipy.stats.dirichlet",
    "jax.scipy.stats.expon",
    "jax.scipy.stats.gamma",
    "jax.scipy.stats.gennorm",
    "jax.scipy.stats.geom",
    "jax.scipy.stats.laplace",
    "jax.scipy.stats.logistic",
    "jax.scipy.stats.multinomial",
    "jax.scipy.stats.multivariate_normal",
    "jax.scipy.stats.nbinom",
    "jax.scipy.stats.norm",
    "jax.scipy.stats.pareto",
    "jax.scipy.stats.poisson",
    "jax.scipy.stats.t",
    "jax.scipy.stats.truncnorm",
    "jax.scipy.stats.uniform",
    "jax.scipy.stats.vonmises",
    "jax.scipy.stats.wrapcauchy",
]

Shape = tuple[int, ...]

SHAPES: dict[int, list[tuple[Shape, ...]]] = {
    1: [((),), ((3,),), ((2, 3),), ((3, 3),), ((2, 3, 4),)],
    2: [((), ()), ((3,), (3,)), ((3, 3), (3, 3)), ((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3))],
    3: [((), (), ()), ((3,), (3,), (3,)), ((2, 3), (2, 3), (2, 3)), ((2, 3), (3,), ()), ((2, 1), (1, 3), ())],
}
DTYPES = ["float32", "int32", "bool", "float16", "uint8", "complex64"]


def main(releases: Path) -> None:
    """Write the stub of every module."""
    warnings.simplefilter("ignore")
    for name in MODULES:
        module = importlib.import_module(name)
        parts = name.split(".")
        package = hasattr(module, "__path__")
        path = STUBS / GENERATED / Path(*parts, "__init__.pyi" if package else "").with_suffix(".pyi")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stub(module, first_versions(name, releases)), encoding="utf-8")


def stub(module: ModuleType, since: dict[str, Version]) -> str:
    """The text of a module's stub: what was always there, then what came later."""
    lines: dict[Version, list[str]] = {}
    for name in sorted(vars(module)):
        if not name.startswith("_") and (line := definition(name, getattr(module, name))):
            lines.setdefault(max(since.get(name, OLDEST), OLDEST), []).append(line)
    text = "# Made by scripts/generate_stubs.py\n" + "".join(line + "\n" for line in lines.pop(OLDEST, []))
    for version, later in sorted(lines.items()):
        text += f"if JAX_VERSION >= {version}:\n" + "".join(f"    {line}\n" for line in later)
    return text


def definition(name: str, thing: Any) -> str | None:
    """The line for one name of a module; None for what is no business of a stub."""
    if isinstance(thing, ModuleType):
        return None
    if isinstance(thing, float | int | type(None)):
        return f'{name}: Python["{type(thing).__name__}"]'
    if isinstance(dtype := getattr(thing, "dtype", None), np.dtype):
        return f'{name}: DTypeName["{dtype}"]'
    if isinstance(thing, type) and not issubclass(thing, jnp.ufunc):
        return f'{name}: Python["type"]'
    try:
        signature = ufunc_signature(thing) if isinstance(thing, jnp.ufunc) else inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    parameters = [p for p in signature.parameters.values() if not (p.name.startswith("_") and optional(p))]
    written = signature.replace(
        parameters=[declared(p) for p in parameters], return_annotation=inspect.Signature.empty
    )
    return f"def {name}{written} -> {returned(thing, parameters, str(signature.return_annotation))}: ..."


def ufunc_signature(function: jnp.ufunc) -> inspect.Signature:
    """JAX gives its ufuncs no signature; this is that of the functions they were before."""
    kind = inspect.Parameter.POSITIONAL_ONLY
    return inspect.Signature([inspect.Parameter(name, kind) for name in "xyz"[: function.nin]])


class Literal:
    """Prints as the text that it is given."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def optional(parameter: inspect.Parameter) -> bool:
    """Whether a call may leave it out."""
    return parameter.default is not parameter.empty or parameter.kind in (
        parameter.VAR_POSITIONAL,
        parameter.VAR_KEYWORD,
    )


def declared(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter as a stub declares it: a word where its name says one, a default that can be written."""
    word = {"shape": Literal("Shape"), "dtype": Literal("DType")}.get(parameter.name, parameter.empty)
    default = parameter.default
    if default is not parameter.empty and not writable(default):
        default = Literal("...")
    return parameter.replace(annotation=word, default=default)


def writable(value: Any) -> bool:
    """Whether a default is a constant that can be written in a stub."""
    if isinstance(value, tuple):
        return all(map(writable, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or type(value) in (bool, int, str)


# What a function returns.


def returned(function: Callable[..., Any], parameters: list[inspect.Parameter], annotation: str) -> str:
    """The word for what a function returns, as far as tracing it tells."""
    required = [p.name for p in parameters if not optional(p)]
    names = {p.name for p in parameters}
    arguments = len(required)
    if (
        arguments in SHAPES
        and not names & {"axis", "axes"}
        and (rule := elementwise(function, arguments)) is not None
    ):
        return f"Broadcast[{', '.join(required + rule)}]"
    if arguments == 1 and {"axis", "keepdims"} <= names and (rule := reduction(function)) is not None:
        return f"Reduced[{', '.join(required + rule)}]"
    results = [result for count in SHAPES if count == len(required) for result in samples(function, count)]
    kinds = {kind(result) for result in results}
    if len(kinds) == 1:
        return kinds.pop()
    return "Array" if not kinds and annotation in ("Array", "jax.Array", str(jax.Array)) else "Unknown"


def kind(result: Any) -> str:
    """The word for a result."""
    if isinstance(result, jax.Array):
        return "Array"
    if isinstance(result, tuple | list) and result and all(isinstance(item, jax.Array) for item in result):
        return "Arrays"
    if isinstance(result, np.dtype):
        return 'Python["dtype"]'
    if type(result) in (bool, int, float, str, np.bool_):
        return f'Python["{type(result).__name__.rstrip("_")}"]'
    return "Unknown"


def samples(function: Callable[..., Any], count: int) -> Iterator[Any]:
    """Results of calls with arrays, traced or, where that is refused, run."""
    for shapes in SHAPES[count]:
        for dtype in ("float32", "int32"):
            result = trace(function, shapes, (dtype,) * count)
            if result is None:
                result = run(function, shapes, dtype)
            if result is not None:
                yield result


def run(function: Callable[..., Any], shapes: tuple[Shape, ...], dtype: str) -> Any:
    """What the function returns for arrays of ones; None where it refuses."""
    try:
        return function(*[jnp.ones(shape, dtype) for shape in shapes])
    except Exception:
        return None


def trace(
    function: Callable[..., Any], shapes: tuple[Shape, ...], dtypes: tuple[str, ...], **options: Any
) -> Any:
    """What the function returns when it is traced with arrays like these; None where it refuses."""
    results = []
    arguments = [
        jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    try:
        jax.eval_shape(lambda *args: results.append(function(*args, **options)), *arguments)
    except Exception:
        return None
    return results[0]


def elementwise(function: Callable[..., Any], count: int) -> list[str] | None:
    """The dtype rule of a function that works element by element; None for another one."""
    seen = 0
    for shapes in SHAPES[count]:
        result = trace(function, shapes, ("float32",) * count)
        if result is None:
            result = trace(function, shapes, ("int32",) * count)
        if result is not None and (
            not isinstance(result, jax.Array) or result.shape != np.broadcast_shapes(*shapes)
        ):
            return None
        seen += result is not None
        if seen == 0:  # it refuses scalars
            return None
    if seen < 3:
        return None
    observed = []
    shapes = SHAPES[count][1]
    for dtypes in itertools.product(DTYPES, repeat=count):
        result = trace(function, shapes, dtypes)
        if result is not None:
            observed.append((str(jnp.result_type(*dtypes)), str(result.dtype)))
    return dtype_rule(observed)


def reduction(function: Callable[..., Any]) -> list[str] | None:
    """The same for a function that reduces over `axis`."""
    for shape in ((3,), (2, 3), (2, 3, 4)):
        for axis, keepdims in itertools.product((None, 0, -1), (False, True)):
            result = trace(function, (shape,), ("float32",), axis=axis, keepdims=keepdims)
            if not isinstance(result, jax.Array) or result.shape != reduced(shape, axis, keepdims):
                return None
    results = [(dtype, trace(function, ((3,),), (dtype,))) for dtype in DTYPES]
    return dtype_rule([(dtype, str(result.dtype)) for dtype, result in results if result is not None])


def reduced(shape: Shape, axis: int | None, keepdims: bool) -> Shape:
    """The shape after a reduction."""
    gone = range(len(shape)) if axis is None else [axis % len(shape)]
    kept = [
        1 if number in gone else size for number, size in enumerate(shape) if keepdims or number not in gone
    ]
    return tuple(kept)


def dtype_rule(observed: list[tuple[str, str]]) -> list[str]:
    """The first rule that explains every (promoted dtype, dtype of the result)."""
    if observed and all(promoted == result for promoted, result in observed):
        return []
    for word, rule in DTYPE_RULES.items():
        if observed and all(rule(promoted) == result for promoted, result in observed):
            return [word]
    return ["Unknown"]


# Since when a name exists.


def first_versions(module: str, releases: Path) -> dict[str, Version]:
    """The first release of the last unbroken run of releases in which each name is there."""
    first: dict[str, Version] = {}
    for version, folder in sorted((read_version(folder.name), folder) for folder in releases.iterdir()):
        names = exported(folder.joinpath(*module.split(".")))
        first = {name: first.get(name, version) for name in names}
    return first


def read_version(text: str) -> Version:
    """The first three numbers of a version."""
    return tuple(int(part) for part in text.split("."))[:3]


def exported(base: Path) -> set[str]:
    """The public names that a module binds at its top level, deprecated ones left out."""
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    if not path.exists():
        return set()
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom | ast.Import):
            names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


if __name__ == "__main__":
    main(Path(sys.argv[1]))
