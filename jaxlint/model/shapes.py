"""Shapes, dtypes and sizes, as far as they can be worked out from the source.

An unknown dimension or dtype is None, an unknown shape too. Semantics are those of
`jax.numpy`: weakly typed Python scalars, 64-bit types narrowed unless x64 is on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from jaxlint.model.values import AnyArray, Constant, Imported, Reference, Scalar, Shape, Tuple, Value

Contents = Callable[[Value], "tuple[Value, ...] | None"]

ITEM_BYTES = {
    "bool": 1, "int4": 1, "uint4": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1, "float16": 2, "bfloat16": 2, "float32": 4,
    "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
NARROWED = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
CATEGORIES = {"bool": 0, "int": 1, "uint": 1, "float": 2, "bfloat": 2, "complex": 3}
CATEGORY = {name: CATEGORIES[name.rstrip("0123456789").split("8_")[0]] for name in ITEM_BYTES}
WEAK = {"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64"}
PYTHON_TYPES = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}
INTEGERS = {size: (f"int{8 * size}", f"uint{8 * size}") for size in (1, 2, 4, 8)}


def nbytes(array: AnyArray) -> int | None:
    """The bytes that an array takes, where shape and dtype are known."""
    if array.shape is None or array.dtype is None or any(size is None for size in array.shape):
        return None
    return math.prod(size or 0 for size in array.shape) * ITEM_BYTES.get(array.dtype, 0)


def promote(left: str | None, right: str | None) -> str | None:
    """The dtype of an operation on two arrays."""
    if left is None or right is None or left == right:
        return left if left == right else None
    ranks = CATEGORY.get(left), CATEGORY.get(right)
    if None in ranks:
        return None
    if ranks[0] != ranks[1]:
        return left if (ranks[0] or 0) > (ranks[1] or 0) else right
    small, large = sorted((left, right), key=lambda name: ITEM_BYTES[name])
    if ITEM_BYTES[small] == ITEM_BYTES[large]:
        if ranks[0] == 2:
            return "float32"
        return INTEGERS[min(8, 2 * ITEM_BYTES[small])][0]
    if small.startswith("int") and large.startswith("uint"):
        return INTEGERS[min(8, 2 * ITEM_BYTES[large])][0]
    return large


def promote_weak(array: str | None, scalar: str) -> str | None:
    """The dtype of an operation on an array and a Python scalar of type `scalar`."""
    weak = WEAK.get(scalar)
    if array is None or weak is None or array not in CATEGORY:
        return None
    return array if CATEGORY[weak] <= CATEGORY[array] else weak


def broadcast(shapes: list[Shape]) -> Shape:
    """The shape of an elementwise operation; None where it is unknown or does not fit."""
    result: list[int | None] = []
    for shape in shapes:
        if shape is None:
            return None
        padded = [*[1] * (len(shape) - len(result)), *result]
        for axis in range(1, len(shape) + 1):
            mine, theirs = padded[-axis], shape[-axis]
            if mine == 1:
                padded[-axis] = theirs
            elif theirs not in (1, mine):
                padded[-axis] = None
        result = padded
    return tuple(result)


def as_dimension(value: Value) -> int | None:
    """The integer that a value is, if it is a known one."""
    if isinstance(value, Constant) and type(value.value) is int:
        return value.value
    return None


def as_shape(value: Value | None, contents: Contents) -> Shape:
    """The shape that a `shape=` argument says."""
    if value is None:
        return None
    if isinstance(value, Tuple):
        return tuple(as_dimension(item) for item in value.items)
    if isinstance(value, Constant) and type(value.value) is int:
        return (value.value,)
    if isinstance(value, Scalar) and value.type == "int":
        return (None,)
    if isinstance(value, Reference) and (items := contents(value)) is not None:
        return tuple(as_dimension(item) for item in items)
    return None


def as_dtype(value: Value | None, default: str | None, x64: bool) -> str | None:
    """The dtype that a `dtype=` argument asks for, as JAX grants it."""
    if value is None or (isinstance(value, Constant) and value.value is None):
        return default
    name = None
    if isinstance(value, Imported):
        tail = value.path.rpartition(".")[2]
        name = PYTHON_TYPES.get(tail) if value.path.startswith("builtins.") else tail.rstrip("_")
    elif isinstance(value, Constant) and isinstance(value.value, str):
        name = value.value
    elif isinstance(value, Scalar) and value.type.startswith("dtype:"):
        name = value.type[6:]
    return canonical(name, x64) if name in ITEM_BYTES else None


def canonical(dtype: str | None, x64: bool) -> str | None:
    """What JAX makes of a dtype: 64 bits become 32 unless x64 is on."""
    return dtype if x64 or dtype is None else NARROWED.get(dtype, dtype)


def element_dtype(value: Value, x64: bool) -> str | None:
    """The dtype of `jnp.asarray(value)`."""
    if isinstance(value, AnyArray):
        return canonical(value.dtype, x64)
    if isinstance(value, Constant):
        return canonical(PYTHON_TYPES.get(type(value.value).__name__), x64)
    if isinstance(value, Scalar):
        return canonical(PYTHON_TYPES.get(value.type), x64)
    return None


def shape_of(value: Value, contents: Contents) -> Shape:
    """The shape of `jnp.asarray(value)`."""
    if isinstance(value, AnyArray):
        return value.shape
    if isinstance(value, Constant) and isinstance(value.value, (bool, int, float, complex)):
        return ()
    if isinstance(value, Scalar) and value.type in WEAK:
        return ()
    items = _elements(value, contents)
    if not items:
        return None if items is None else (0,)
    first = shape_of(items[0], contents)
    if first is None or any(shape_of(item, contents) != first for item in items[1:]):
        return None
    return (len(items), *first)


def _elements(value: Value, contents: Contents) -> tuple[Value, ...] | None:
    """The elements of a tuple or list."""
    if isinstance(value, Tuple):
        return value.items
    return contents(value) if isinstance(value, Reference) else None


def elementwise(operands: list[Value], contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    """Shape and dtype of an elementwise operation over arrays and Python scalars."""
    shape = broadcast([shape_of(operand, contents) for operand in operands])
    dtypes = [canonical(operand.dtype, x64) for operand in operands if isinstance(operand, AnyArray)]
    if not dtypes:
        names = [element_dtype(operand, x64) for operand in operands]
        dtypes, scalars = names, []
    else:
        scalars = [name for operand in operands if (name := _weak_type(operand)) is not None]
        if len(dtypes) + len(scalars) < len(operands):
            return shape, None
    dtype = dtypes[0]
    for other in dtypes[1:]:
        dtype = promote(dtype, other)
    for name in scalars:
        dtype = promote_weak(dtype, name)
    return shape, canonical(dtype, x64)


def _weak_type(value: Value) -> str | None:
    if isinstance(value, Constant):
        name = type(value.value).__name__
    elif isinstance(value, Scalar):
        name = value.type
    else:
        return None
    return name if name in WEAK else None


def reduced(shape: Shape, axis: Value | None, keepdims: Value | None) -> Shape:
    """The shape of a reduction of `shape` over `axis`."""
    if shape is None or not (keepdims is None or isinstance(keepdims, Constant)):
        return None
    keep = bool(keepdims and keepdims.value)
    axes = _axes(axis, len(shape))
    if axes is None:
        return None
    sizes = [1 if index in axes else size for index, size in enumerate(shape) if keep or index not in axes]
    return tuple(sizes)


def _axes(axis: Value | None, rank: int) -> set[int] | None:
    if axis is None or (isinstance(axis, Constant) and axis.value is None):
        return set(range(rank))
    chosen = axis.items if isinstance(axis, Tuple) else (axis,)
    known = [as_dimension(item) for item in chosen]
    if not rank or any(index is None for index in known):
        return None
    return {(index or 0) % rank for index in known}


Arguments = Mapping[str, Value]


def _arange(args: Arguments, _: Contents, x64: bool) -> tuple[Shape, str | None]:
    start, stop, step = (args.get(name) for name in ("start", "stop", "step"))
    if stop is None or (isinstance(stop, Constant) and stop.value is None):
        start, stop = Constant(value=0), start
    bounds = [bound for bound in (start, stop, step) if bound is not None]
    if len(bounds) < 2:
        return (None,), None
    size = None
    if all(as_dimension(bound) is not None for bound in bounds):
        first, last = as_dimension(bounds[0]) or 0, as_dimension(bounds[1]) or 0
        stride = (as_dimension(bounds[2]) or 1) if len(bounds) > 2 else 1
        size = max(0, -(-(last - first) // stride))
    dtypes = [element_dtype(bound, x64) for bound in bounds]
    floating = "float32" if any(name and name.startswith("float") for name in dtypes) else None
    default = floating or (None if None in dtypes else canonical("int64", x64))
    return (size,), as_dtype(args.get("dtype"), default, x64)


def _linspace(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    number = args.get("num")
    size = 50 if number is None else as_dimension(number)
    scalar = all(shape_of(args[name], contents) == () for name in ("start", "stop") if name in args)
    return (size,) if scalar else None, as_dtype(args.get("dtype"), canonical("float64", x64), x64)


def _eye(args: Arguments, _: Contents, x64: bool) -> tuple[Shape, str | None]:
    rows = as_dimension(args.get("N") or args.get("n") or Scalar())
    columns = args.get("M")
    square = columns is None or (isinstance(columns, Constant) and columns.value is None)
    width = rows if square else as_dimension(columns or Scalar())
    return (rows, width), as_dtype(args.get("dtype"), canonical("float64", x64), x64)


def _reshape(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    source = args.get("a") or args.get("self") or Scalar(type="object")
    wanted = args.get("shape") or args.get("newshape") or args.get("args")
    if (
        isinstance(wanted, Tuple)
        and len(wanted.items) == 1
        and not isinstance(wanted.items[0], (Constant, Scalar))
    ):
        wanted = wanted.items[0]
    shape, before = as_shape(wanted, contents), shape_of(source, contents)
    if shape is not None and -1 in shape:
        rest = math.prod(size or 0 for size in shape if size != -1)
        total = None if before is None or None in before else math.prod(size or 0 for size in before)
        known = total is not None and rest > 0 and None not in shape
        missing = total // rest if known and total is not None else None
        shape = tuple(missing if size == -1 else size for size in shape)
    return shape, element_dtype(source, x64)


def _transpose(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    source = args.get("a") or args.get("self") or Scalar(type="object")
    shape = shape_of(source, contents)
    axes = args.get("axes") or args.get("args")
    plain = axes is None or (isinstance(axes, Constant) and axes.value is None) or axes == Tuple()
    if shape is not None and not plain:
        order = as_shape(axes, contents)
        known = order is not None and len(order) == len(shape) and None not in order
        return (
            tuple(shape[axis or 0] for axis in order or ()) if known else (None,) * len(shape)
        ), element_dtype(source, x64)
    return (None if shape is None else shape[::-1]), element_dtype(source, x64)


def _sequence(args: Arguments, contents: Contents) -> tuple[Value, ...] | None:
    arrays = next((args[name] for name in ("arrays", "tup") if name in args), None)
    if isinstance(arrays, Tuple):
        return arrays.items
    return contents(arrays) if isinstance(arrays, Reference) else None


def _concatenate(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    items = _sequence(args, contents)
    axis = args.get("axis")
    index = 0 if axis is None else as_dimension(axis)
    if not items or index is None:
        return None, None
    shapes = [shape_of(item, contents) for item in items]
    dtype = _joined_dtype(items, x64)
    first = shapes[0]
    if first is None or not first or any(shape is None or len(shape) != len(first) for shape in shapes):
        return None, dtype
    sizes = [shape[index] for shape in shapes if shape is not None and -len(shape) <= index < len(shape)]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    merged = list(first)
    merged[index] = total
    return tuple(merged), dtype


def _stack(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    items = _sequence(args, contents)
    axis = args.get("axis")
    index = 0 if axis is None else as_dimension(axis)
    if not items or index is None:
        return None, None
    shape = shape_of(items[0], contents)
    dtype = _joined_dtype(items, x64)
    if shape is None or any(shape_of(item, contents) != shape for item in items):
        return None, dtype
    index %= len(shape) + 1
    return (*shape[:index], len(items), *shape[index:]), dtype


def _joined_dtype(items: tuple[Value, ...], x64: bool) -> str | None:
    dtype = element_dtype(items[0], x64)
    for item in items[1:]:
        dtype = promote(dtype, element_dtype(item, x64))
    return dtype


def _broadcast_to(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    source = args.get("array") or args.get("arr") or args.get("operand") or Scalar(type="object")
    return as_shape(args.get("shape"), contents), element_dtype(source, x64)


def _matmul(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    left, right = list(args.values())[:2] if len(args) >= 2 else (Scalar(type="object"),) * 2
    dtype = promote(element_dtype(left, x64), element_dtype(right, x64))
    a, b = shape_of(left, contents), shape_of(right, contents)
    if a is None or b is None or len(a) != 2 or len(b) != 2:
        return None, dtype
    return (a[0], b[1]), dtype


def _outer(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    left, right = list(args.values())[:2] if len(args) >= 2 else (Scalar(type="object"),) * 2
    sizes = [None if shape is None or None in shape else math.prod(size or 0 for size in shape)
             for shape in (shape_of(left, contents), shape_of(right, contents))]  # fmt: skip
    return tuple(sizes), promote(element_dtype(left, x64), element_dtype(right, x64))


def _expand_dims(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    source = args.get("a") or Scalar(type="object")
    shape, axis = shape_of(source, contents), as_dimension(args.get("axis") or Scalar())
    if shape is None or axis is None:
        return None, element_dtype(source, x64)
    axis %= len(shape) + 1
    return (*shape[:axis], 1, *shape[axis:]), element_dtype(source, x64)


def _ravel(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    source = args.get("a") or args.get("self") or Scalar(type="object")
    shape = shape_of(source, contents)
    known = shape is not None and None not in shape
    return (
        (math.prod(size or 0 for size in shape) if known and shape is not None else None),
    ), element_dtype(source, x64)


def _tile(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    source = args.get("A") or Scalar(type="object")
    shape, reps = shape_of(source, contents), as_shape(args.get("reps"), contents)
    if shape is None or reps is None:
        return None, element_dtype(source, x64)
    rank = max(len(shape), len(reps))
    sizes = (1,) * (rank - len(shape)) + shape
    times = (1,) * (rank - len(reps)) + reps
    tiled = tuple(None if a is None or b is None else a * b for a, b in zip(sizes, times, strict=True))
    return tiled, element_dtype(source, x64)


def _array(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    source = args.get("object") or args.get("a") or Scalar(type="object")
    shape = shape_of(source, contents)
    minimum = args.get("ndmin")
    if minimum is not None and minimum != Constant(value=0):
        shape = None
    dtype = element_dtype(source, x64) if not isinstance(source, (Tuple, Reference)) else None
    return shape, as_dtype(args.get("dtype"), dtype or _nested_dtype(source, contents, x64), x64)


def _nested_dtype(value: Value, contents: Contents, x64: bool) -> str | None:
    """The dtype of an array made of nested sequences: the widest of the elements'."""
    items = _elements(value, contents)
    if items is None:
        return element_dtype(value, x64)
    if not items:
        return canonical("float64", x64)
    dtype = _nested_dtype(items[0], contents, x64)
    for item in items[1:]:
        dtype = promote(dtype, _nested_dtype(item, contents, x64))
    return dtype


def _same(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    source = args.get("a") or args.get("self") or Scalar(type="object")
    return shape_of(source, contents), element_dtype(source, x64)


def _argsort(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    return _same(args, contents, x64)[0], canonical("int64", x64)


def _where(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    chosen = [args[name] for name in ("x", "y") if name in args]
    if len(chosen) < 2 or "condition" not in args:
        return None, None
    shape = broadcast([shape_of(value, contents) for value in (args["condition"], *chosen)])
    return shape, elementwise(chosen, contents, x64)[1]


def _vstack(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    items = _sequence(args, contents)
    if not items or any(len(shape_of(item, contents) or ()) < 2 for item in items):
        return None, None if not items else _joined_dtype(items, x64)
    return _concatenate({**args, "axis": Constant(value=0)}, contents, x64)


def _hstack(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    items = _sequence(args, contents)
    ranks = {len(shape_of(item, contents) or ()) for item in items or ()}
    if len(ranks) != 1 or 0 in ranks:
        return None, None if not items else _joined_dtype(items, x64)
    return _concatenate({**args, "axis": Constant(value=0 if ranks == {1} else 1)}, contents, x64)


def _squeeze(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    shape, dtype = _same(args, contents, x64)
    axis = args.get("axis")
    if shape is None or (axis is None and None in shape):
        return None, dtype
    axes = _axes(axis, len(shape)) if shape else set()
    if axes is None:
        return None, dtype
    return tuple(size for index, size in enumerate(shape) if index not in axes or size != 1), dtype


def _swapaxes(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    shape, dtype = _same(args, contents, x64)
    first, second = (as_dimension(args.get(name) or Scalar()) for name in ("axis1", "axis2"))
    if shape is None or first is None or second is None:
        return None if shape is None else (None,) * len(shape), dtype
    sizes = list(shape)
    sizes[first], sizes[second] = sizes[second], sizes[first]
    return tuple(sizes), dtype


def _cumulative(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    shape, dtype = _same(args, contents, x64)
    flat = args.get("axis") in (None, Constant(value=None))
    widened = canonical("int64", x64) if dtype == "bool" else dtype
    return _ravel(args, contents, x64)[0] if flat else shape, as_dtype(args.get("dtype"), widened, x64)


def _repeat(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    shape, dtype = _same(args, contents, x64)
    times, axis = as_dimension(args.get("repeats") or Scalar()), args.get("axis")
    if shape is None or times is None:
        return None, dtype
    if axis in (None, Constant(value=None)):
        flat = _ravel(args, contents, x64)[0]
        return None if flat is None or flat[0] is None else (flat[0] * times,), dtype
    index = as_dimension(axis or Scalar())
    if index is None or not -len(shape) <= index < len(shape) or shape[index] is None:
        return None, dtype
    sizes = list(shape)
    sizes[index] = (sizes[index] or 0) * times
    return tuple(sizes), dtype


def _one_hot(args: Arguments, contents: Contents, x64: bool) -> tuple[Shape, str | None]:
    shape = shape_of(args.get("x") or Scalar(type="object"), contents)
    plain = args.get("axis") in (None, Constant(value=-1))
    classes = as_dimension(args.get("num_classes") or Scalar())
    dtype = as_dtype(args.get("dtype"), canonical("float64", x64), x64)
    return (*shape, classes) if shape is not None and plain else None, dtype


COMPUTED: dict[str, Callable[[Arguments, Contents, bool], tuple[Shape, str | None]]] = {
    "arange": _arange,
    "linspace": _linspace,
    "eye": _eye,
    "identity": _eye,
    "reshape": _reshape,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "stack": _stack,
    "broadcast_to": _broadcast_to,
    "matmul": _matmul,
    "dot": _matmul,
    "outer": _outer,
    "expand_dims": _expand_dims,
    "ravel": _ravel,
    "flatten": _ravel,
    "tile": _tile,
    "array": _array,
    "asarray": _array,
    "copy": _same,
    "sort": _same,
    "argsort": _argsort,
    "where": _where,
    "vstack": _vstack,
    "hstack": _hstack,
    "concat": _concatenate,
    "squeeze": _squeeze,
    "swapaxes": _swapaxes,
    "matrix_transpose": lambda args, contents, x64: (None, _same(args, contents, x64)[1]),
    "permute_dims": _transpose,
    "cumsum": _cumulative,
    "cumprod": _cumulative,
    "repeat": _repeat,
    "one_hot": _one_hot,
}
