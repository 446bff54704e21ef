"""What the rows say is what the installed JAX does: every name is there, every parameter exists and
stands where the row says, and what a row claims is observed by running it."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import itertools
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

from jaxlint.knowledge import lookup  # noqa: E402
from jaxlint.knowledge.compiler import Guard, compile_stubs  # noqa: E402
from jaxlint.knowledge.signature import Parameter, Signature, Word  # noqa: E402
from jaxlint.knowledge.vocabulary import DTYPE_RULES  # noqa: E402

VERSION = tuple(int(part) for part in jax.__version__.split(".")[:3])

NEWEST = (0, 12, 0)
"""The version that signatures are written for. Older ones may lack an optional parameter, which
came or went with a release; they must agree on the rest."""

STUBS = compile_stubs()
PATHS = [path for path, text in STUBS.rows.items() if text != "module" and not path.endswith(".__getattr__")]
PRESENT = [path for path in PATHS if STUBS.guards.get(path, Guard()).admits(VERSION)]

NO_OBJECT = {
    "jax.Array.__init__",
    "jax.nn.initializers.Initializer",  # a protocol; the row describes its instances
    "jax.ShapeDtypeStruct.ndim",
    "jax.ShapeDtypeStruct.size",
    "jax.ShapeDtypeStruct.shape",
    "jax.ShapeDtypeStruct.dtype",
}


@functools.cache
def library(path: str) -> Any:
    """The object that a path names.

    Raises:
        AttributeError: there is none.
        ImportError: nor is there a module.
    """
    if path.startswith(("jax.Array.", "jax.numpy.ndarray.")):
        return getattr(jnp.ones((2, 3)), path.rpartition(".")[2])
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return functools.reduce(getattr, parts[length:], thing)
    raise ImportError(path)


def installed(path: str) -> bool:
    return importlib.util.find_spec(path.partition(".")[0]) is not None


def is_there(path: str) -> bool:
    try:
        library(path)
    except (AttributeError, ImportError):
        return False
    return True


JAX = [path for path in PRESENT if path.startswith("jax.") and path not in NO_OBJECT]


def test_every_name_is_there() -> None:
    """NumPy is left out: it deletes names too, and its versions are not told apart in the stubs."""
    missing = [
        path
        for path in PRESENT
        if installed(path) and not path.startswith("numpy.") and path not in NO_OBJECT
    ]
    assert [path for path in missing if not is_there(path)] == []


def test_guarded_names_are_not_there_before_their_time() -> None:
    absent = [path for path in STUBS.guards if path not in PRESENT and path.startswith("jax.")]
    assert [path for path in absent if is_there(path)] == []


def test_no_catch_all_says_array_of_what_is_none() -> None:
    """A public name of a module with `def __getattr__(name) -> Array` has a row, unless it is new."""
    modules = [path.rpartition(".")[0] for path in STUBS.rows if path.endswith(".__getattr__")]
    unlisted = [
        f"{module}.{name}"
        for module in modules
        if module.startswith("jax.")
        for name, thing in vars(importlib.import_module(module)).items()
        if not name.startswith("_") and not inspect.ismodule(thing) and f"{module}.{name}" not in STUBS.rows
    ]
    assert [path for path in unlisted if not inspect.isroutine(library(path))] == []


# Parameters.


def signatures() -> Iterator[tuple[str, Signature]]:
    for path in JAX:
        row = lookup(path)
        if isinstance(row, Signature) and not STUBS.rows[path].startswith("="):
            yield path, row


def disagreements(path: str, row: Signature, real: inspect.Signature) -> Iterator[str]:
    """What a row says of parameters and the library does not."""
    theirs = {name: parameter for name, parameter in real.parameters.items() if name != "self"}
    kinds = {parameter.kind for parameter in theirs.values()}
    positional = [
        name for name, p in theirs.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    mine = {parameter.name: parameter for parameter in row.parameters if parameter.name != "self"}
    places = [name for name, parameter in mine.items() if parameter.kind in ("positional", "either")]
    for name, parameter in mine.items():
        if (path, name) in OLD_FORMS or parameter.kind in ("star", "starstar"):
            continue
        if parameter.kind == "positional":
            if inspect.Parameter.VAR_POSITIONAL not in kinds and len(positional) <= places.index(name):
                yield f"{path} takes fewer arguments"
        elif name in theirs:
            yield from different(path, parameter, theirs[name])
            if parameter.kind == "either" and positional.index(name) != places.index(name):
                yield f"{path}: {name} comes elsewhere"
        elif not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} and (
            parameter.required or VERSION >= NEWEST
        ):
            yield f"{path} has no parameter {name}"
    if VERSION >= NEWEST and not any(parameter.kind in ("star", "starstar") for parameter in row.parameters):
        missing = [name for name in theirs if name not in mine and not name.startswith("_")]
        if len(theirs) > len(mine):
            yield from (f"{path}: {name} is not in the row" for name in missing)


OLD_FORMS = {
    *itertools.product(["jax.numpy.array"], ["copy", "order", "ndmin"]),  # keyword-only since 0.9
    *itertools.product(["jax.numpy.clip", "jax.Array.clip"], ["a", "a_min", "a_max"]),  # gone since 0.10
    ("jax.lax.cond", "linear"),
    ("jax.experimental.pallas.pallas_call", "kernel"),  # `f` before 0.4.33
}
"""Parameters that changed, for which a row takes the old form too."""


def different(path: str, mine: Parameter, other: inspect.Parameter) -> Iterator[str]:
    """How two parameters of one name differ; what is required, and defaults, change with the releases."""
    if mine.kind == "either" and other.kind is not other.POSITIONAL_OR_KEYWORD:
        yield f"{path}: {mine.name} is {other.kind.description}"
    if VERSION >= NEWEST:
        if mine.required != (other.default is other.empty):
            yield f"{path}: {mine.name} is {'not ' if mine.required else ''}required"
        if differs(mine, other.default):
            yield f"{path}: {mine.name} is {other.default!r}, not {mine.default!r}"


def differs(mine: Parameter, default: object) -> bool:
    """Whether a default that the row writes down is another one; a type stands for its name."""
    if mine.default is None or mine.word == Word("DType"):
        return False
    return type(default) in (bool, int, float, str, tuple) and default != mine.default


def test_parameters() -> None:
    found: list[str] = []
    for path, row in signatures():
        thing = library(path)
        if isinstance(thing, getattr(jnp, "ufunc", ())):
            continue
        try:
            real = inspect.signature(thing)
        except (TypeError, ValueError):
            continue
        found += disagreements(path, row, real)
    assert found == []


# Keys.

KEY_USE = Path(__file__).with_name("observe_keys.py")


def test_keys_are_used_as_the_rows_say() -> None:
    """JAX's own checker, switched on before JAX is imported, is asked in a process of its own."""
    rows = {path: row for path, row in signatures() if any(role(p) for p in row.parameters)}
    assert len(rows) > 40
    environment = {
        **os.environ,
        "JAX_DEBUG_KEY_REUSE": "1",
        "JAX_ENABLE_CUSTOM_PRNG": "1",
        "JAX_PLATFORMS": "cpu",
    }
    wanted = {
        path: {"key": next(p.name for p in row.parameters if role(p)), "required": required(row)}
        for path, row in rows.items()
    }
    run = subprocess.run(
        [sys.executable, str(KEY_USE)],
        input=json.dumps(wanted),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    observed = json.loads(run.stdout)
    said = {path: next(role(p) for p in row.parameters if role(p)) for path, row in rows.items()}
    assert observed == said


def role(parameter: Parameter) -> str | None:
    return parameter.word.name if parameter.word and parameter.word.name in ("Consumed", "Borrowed") else None


def required(row: Signature) -> list[str]:
    return [parameter.name for parameter in row.parameters if parameter.required]


# Shapes and dtypes of results.

SHAPES = [((2, 3), (3,)), ((3,), (3,)), ((2, 3), (2, 3)), ((2, 1), (1, 3)), ((), ())]
DTYPES = ["float32", "int32", "bool", "float16"]


def traced(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The result of tracing a call; None where it is refused."""
    try:
        return jax.eval_shape(functools.partial(function, **options), *arguments)
    except Exception:
        return None


def shaped(shape: tuple[int, ...], dtype: str) -> Any:
    return jax.ShapeDtypeStruct(shape, np.dtype(dtype))


def returning(word: str) -> list[Any]:
    """The functions whose rows say something about the array that they return."""
    return [
        pytest.param(path, row, id=path)
        for path, row in signatures()
        if row.returns.name == word and row.returns.args and not row.method and path not in UNCALLED
    ]


UNCALLED = {
    "jax.lax.scatter",
    "jax.make_array_from_callback",
    "jax.make_array_from_single_device_arrays",
    "jax.numpy.piecewise",
}
"""Those that take more than arrays and numbers."""


def after(word: Word, dtype: Any) -> str | None:
    """The dtype that a row says, given the promoted one; None where it says nothing."""
    rules = [argument.name for argument in word.args if isinstance(argument, Word)]
    if "Unknown" in rules:
        return None
    return DTYPE_RULES[rules[0]](str(dtype)) if rules else str(dtype)


CHANGED = {
    "jax.numpy.ceil": (0, 5, 0),
    "jax.numpy.floor": (0, 5, 0),
    "jax.numpy.trunc": (0, 5, 0),
    "jax.scipy.special.gammasgn": (0, 5, 0),
}
"""Functions whose dtype changed, and the release since when it is that of the row."""


@pytest.mark.parametrize(("path", "row"), returning("Broadcast"))
def test_broadcast(path: str, row: Signature) -> None:
    names = [name for name in row.returns.args if isinstance(name, str)]
    count = max(1, len([name for name in names if name in required(row)]))
    if len(required(row)) > count:
        pytest.fail("an argument is missing")
    seen = 0
    calls = [(shapes, ("float32",) * count) for shapes in SHAPES]
    # `jax.lax` asks for operands of one dtype.
    kinds = zip(DTYPES) if path.startswith("jax.lax.") else itertools.product(DTYPES, repeat=min(count, 2))
    calls += [(((3,), (3,)), dtypes) for dtypes in kinds]
    for shapes, dtypes in calls:
        operands = [(shapes[number % 2], dtypes[number % len(dtypes)]) for number in range(count)]
        result = traced(library(path), *itertools.starmap(shaped, operands))
        if result is not None:
            seen += 1
            assert result.shape == np.broadcast_shapes(*[shape for shape, _ in operands])
            dtype = after(row.returns, jnp.result_type(*dtypes))
            assert dtype is None or str(result.dtype) == dtype or CHANGED.get(path, VERSION) > VERSION, dtypes
    assert seen


@pytest.mark.parametrize(("path", "row"), returning("Reduced"))
def test_reduced(path: str, row: Signature) -> None:
    for axis, keepdims, dtype in itertools.product((None, 0, -1), (False, True), DTYPES):
        result = traced(library(path), shaped((2, 3), dtype), axis=axis, keepdims=keepdims)
        if result is None:
            assert dtype != "float32"
            continue
        assert result.shape == np.ones((2, 3)).sum(axis=axis, keepdims=keepdims).shape
        assert str(result.dtype) == (after(row.returns, dtype) or str(result.dtype)), dtype


SAMPLES: dict[str, Any] = {
    "a": 1.5, "b": 0.5, "p": 0.5, "n": 3, "df": 2.0, "dfnum": 2.0, "dfden": 3.0, "lam": 1.0, "scale": 1.0,
    "concentration": 1.0, "loc": 0.0, "left": -1.0, "mode": 0.0, "right": 1.0, "lower": -1.0, "upper": 1.0,
    "mean": 1.0, "minval": 0, "maxval": 9, "fill_value": 7.0, "logits": jnp.zeros(4), "dtype": "float32",
    "dimension": 0,
}  # fmt: skip


@pytest.mark.parametrize(("path", "row"), returning("Array"))
def test_array_of_a_shape(path: str, row: Signature) -> None:
    shape = str(row.returns.args[0])
    function = library(path)
    arguments = {name: SAMPLES[name] for name in required(row) if name in SAMPLES}
    if path == "jax.random.lognormal":
        arguments["sigma"] = 1.0
    if path == "jax.lax.dynamic_slice":
        arguments |= {"operand": jnp.ones(9), "start_indices": (0,)}
    if "key" in required(row):
        arguments["key"] = jax.random.key(0)
    asked = {"size": 8, "slice_sizes": (8,)}.get(shape, (2, 4))
    arguments[shape] = asked
    result = function(**arguments)
    assert isinstance(result, jax.Array)
    assert result.shape == ((8,) if asked == 8 else asked)
    if len(row.returns.args) > 1:
        assert str(result.dtype) == said_dtype(row, arguments)
    if (parameter := row.parameter("dtype")) and "dtype" in row.returns.args and not parameter.required:
        narrow = {"float": "float16", "int": "int16", "uint": "uint8"}.get(str(parameter.default), "float16")
        assert str(function(**{**arguments, "dtype": narrow}).dtype) == narrow


def said_dtype(row: Signature, arguments: dict[str, Any]) -> str:
    """The dtype of a call that leaves out `dtype`, as the row says."""
    dtype = row.returns.args[1]
    if isinstance(dtype, Word):
        return DTYPE_RULES[dtype.name]("float32")
    if dtype in arguments:
        return str(arguments[dtype])
    parameter = row.parameter(dtype)
    defaults = {"float": "float32", "int": "int32", "uint": "uint32"}
    return defaults.get(str(parameter and parameter.default), "float32")


@pytest.mark.parametrize(("path", "row"), returning("Like"))
def test_like(path: str, row: Signature) -> None:
    function = library(path)
    name = row.returns.args[0]
    others: dict[str, Any] = {
        "fill_value": 2, "shift": 1, "dtype": "float16", "new_dtype": "float16", "dimensions": (0,), "y": 2,
        "update": jnp.zeros((1, 1)), "start_indices": (0, 0), "start_index": 0, "axis": 0, "index": 0,
        "pred": jnp.ones((3, 3), bool), "on_false": jnp.ones((3, 3)), "on_true": jnp.ones((3, 3)),
    }  # fmt: skip
    arguments = {other: others[other] for other in required(row) if other != name}
    if path == "jax.lax.dynamic_update_slice_in_dim":
        arguments["update"] = jnp.zeros((1, 3))
    if path == "jax.lax.dynamic_update_index_in_dim":
        arguments["update"] = jnp.zeros(3)
    place = [parameter.name for parameter in row.parameters]
    values = [
        arguments.get(parameter, jnp.ones((3, 3))) for parameter in place if parameter in {*arguments, name}
    ]
    result = function(*values)
    dtype = next(
        (str(arguments[p.name]) for p in row.parameters if p.word == Word("DType") and p.name in arguments),
        None,
    )
    assert (result.shape, str(result.dtype)) == ((3, 3), dtype or "float32")


# Callables.


class Seen:
    """A callable that notes whether it was given tracers, and whether a branch on one runs."""

    def __init__(self, result: Callable[..., Any]) -> None:
        self.result = result
        self.traced: set[bool] = set()
        self.concrete: set[bool] = set()

    def __call__(self, *args: Any) -> Any:
        for leaf in jax.tree_util.tree_leaves(args):
            self.traced.add(isinstance(leaf, jax.core.Tracer))
            self.concrete.add(runs(leaf))
        return self.result(*args)


def runs(value: Any) -> bool:
    try:
        bool(value.sum() > 0)
    except jax.errors.JAXTypeError:
        return False
    return True


X = jnp.ones(3)


def first(*args: Any) -> Any:
    return args[0]


def total(*args: Any) -> Any:
    return args[0].sum()


CALLS: dict[str, Callable[[Seen], Any]] = {
    "jax.pmap": lambda f: jax.pmap(f)(jnp.ones((1, 3))),
    "jax.make_jaxpr": lambda f: jax.make_jaxpr(f)(X),
    "jax.jvp": lambda f: jax.jvp(f, (X,), (X,)),
    "jax.vjp": lambda f: jax.vjp(f, X),
    "jax.linearize": lambda f: jax.linearize(f, X),
    "jax.linear_transpose": lambda f: jax.linear_transpose(f, X),
    "jax.eval_shape": lambda f: jax.eval_shape(f, X),
    "jax.closure_convert": lambda f: jax.closure_convert(f, X),
    "jax.lax.scan": lambda f: lax.scan(lambda c, x: (f(c, x), None), X, jnp.ones((2, 3))),
    "jax.lax.map": lambda f: lax.map(f, jnp.ones((2, 3))),
    "jax.lax.fori_loop": lambda f: lax.fori_loop(0, 2, lambda i, c: f(c, i), X),
    "jax.lax.while_loop": lambda f: lax.while_loop(lambda c: f(c).sum() < 2, lambda c: f(c) + 1, X),
    "jax.lax.cond": lambda f: lax.cond(True, f, f, X),
    "jax.lax.switch": lambda f: lax.switch(0, [f, f], X),
    "jax.lax.reduce_window": lambda f: lax.reduce_window(
        X, 0.0, lambda a, b: f(a, b) + b, (2,), (1,), "VALID"
    ),
    "jax.lax.reduce": lambda f: lax.reduce(X, 0.0, lambda a, b: f(a, b) * b, (0,)),
    "jax.checkpoint": lambda f: jax.checkpoint(f)(X),
    "jax.numpy.vectorize": lambda f: jnp.vectorize(f)(X),
    "jax.numpy.apply_along_axis": lambda f: jnp.apply_along_axis(f, 0, jnp.ones((2, 3))),
    "jax.custom_batching.sequential_vmap": lambda f: jax.custom_batching.sequential_vmap(f)(X),
    "jax.tree.map": lambda f: jax.tree.map(f, {"a": X}, {"a": X}),
    "jax.tree.reduce": lambda f: jax.tree.reduce(f, {"a": X, "b": X}),
    "jax.lax.associative_scan": lambda f: lax.associative_scan(f, X),
}
"""How a callable is given to each; those missing are wrapped and called with an array."""

WRAPPERS = [
    "jax.jit",
    "jax.vmap",
    "jax.grad",
    "jax.value_and_grad",
    "jax.jacfwd",
    "jax.jacrev",
    "jax.hessian",
]
UNTRACED = {"jax.tree.map", "jax.tree.reduce", "jax.lax.associative_scan"}
CONCRETE = {
    "jax.grad", "jax.value_and_grad", "jax.jacfwd", "jax.jacrev", "jax.hessian", "jax.jvp", "jax.vjp",
    "jax.linearize",
}  # fmt: skip
"""Where a tracer carries a value, so that a branch on it runs."""


@pytest.mark.parametrize("path", [*WRAPPERS, *CALLS])
def test_callables_are_traced(path: str) -> None:
    row = lookup(path)
    assert isinstance(row, Signature)
    callables = {"Traced", "Body", "Branch", "Called"}
    words = {parameter.word.name for parameter in row.parameters if parameter.word} & callables
    seen = Seen(total if path in {"jax.grad", "jax.value_and_grad", "jax.hessian"} else first)
    if path in CALLS:
        CALLS[path](seen)
    else:
        library(path)(seen)(jnp.ones((2, 3)) if path == "jax.vmap" else X)
    assert (words == {"Called"}) == (path in UNTRACED)
    assert (True in seen.traced) == (path not in UNTRACED)
    assert (True in seen.concrete) == (path in CONCRETE | UNTRACED)


def test_host_callbacks_get_no_tracers() -> None:
    seen = Seen(np.asarray)
    call = jax.jit(lambda x: jax.pure_callback(seen, jax.ShapeDtypeStruct((3,), np.float32), x))
    call(X).block_until_ready()
    assert seen.traced == {False}


# NumPy.


SQUARE = jnp.ones((2, 2))
ZEROS = jnp.zeros((2, 2), int)
NUMPY_CALLS: dict[str, tuple[Any, ...]] = {
    "choose": (ZEROS, [SQUARE, SQUARE]),
    "compress": (jnp.ones(2), SQUARE),
    "moveaxis": (SQUARE, 0, 1),
    "repeat": (SQUARE, 2),
    "reshape": (SQUARE, (4,)),
    "rollaxis": (SQUARE, 0),
    "searchsorted": (X, X),
    "swapaxes": (SQUARE, 0, 1),
    "take_along_axis": (SQUARE, ZEROS, 0),
    "trim_zeros": (X,),
}


@pytest.mark.parametrize(
    "path", [path for path, text in STUBS.rows.items() if path.startswith("numpy.") and "Dispatch" in text]
)
def test_numpy_functions_that_keep_jax_arrays(path: str) -> None:
    name = path.rpartition(".")[2]
    if not hasattr(np, name):
        pytest.skip(f"NumPy {np.__version__} has no {name}")
    assert isinstance(library(path)(*NUMPY_CALLS.get(name, (SQUARE,))), jax.Array)


def test_numpy_views_are_read_only() -> None:
    for path, row in ((path, lookup(path)) for path in PATHS):
        if isinstance(row, Signature) and row.returns.name == "NumPyView" and installed(path):
            assert not library(path)(X).flags.writeable, path
