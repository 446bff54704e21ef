"""What the transformations do to the functions they wrap.

A function is traced with abstract values under most transformations. Under those in
`CONCRETE` the tracers carry concrete values, so that a branch on one runs.
"""

from __future__ import annotations

import libcst as cst

from jaxlint.model.values import Constant, Function, Transformed, Tuple, Value

CONCRETE = frozenset(
    {
        "grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "jvp", "vjp", "linearize",
        "linear_transpose", "custom_jvp", "custom_vjp", "custom_gradient", "named_call",
        "annotate_function", "associative_scan", "filter_grad", "filter_value_and_grad",
        "filter_jacfwd", "filter_jacrev", "filter_hessian", "filter_jvp", "filter_vjp", "nnx.grad",
        "nnx.value_and_grad",
    }
)  # fmt: skip
ABSTRACT = frozenset({"eval_shape", "filter_eval_shape", "filter_make_jaxpr", "make_jaxpr", "nnx.eval_shape"})
"""These run a function for its shapes alone: no number is drawn, no key is spent."""
DECORATORS = frozenset({"cached_property", "property", "staticmethod", "classmethod", "decorator"})
"""Wrappings of Python itself, which are kept as transformations too."""

OPTIONS = {
    "static": (
        ("static_argnums", "static_broadcasted_argnums", "nondiff_argnums"),
        ("static_argnames", "nondiff_argnames"),
    ),
    "donate": (("donate_argnums",), ("donate_argnames",)),
}


def parameter_names(function: Value) -> list[str]:
    """The names of the parameters that positional arguments go to."""
    while isinstance(function, Transformed):
        function = function.function
    if not isinstance(function, Function) or function.node is None:
        return []
    params = function.node.params
    names = [param.name.value for param in (*params.posonly_params, *params.params)]
    return names[1:] if function.owner is not None and type(function.node) is cst.FunctionDef else names


def static_positions(transformed: Transformed, function: Value, role: str = "static") -> set[int | str]:
    """The positions and names of the arguments that `static_argnums` and its like mean."""
    by_number, by_name = OPTIONS[role]
    names = parameter_names(function)
    bound = transformed.option("bound")
    shift = bound.value if isinstance(bound, Constant) else 0
    chosen: set[int | str] = set()
    for option in by_number:
        for value in _literals(transformed.option(option)):
            if isinstance(value, int):
                chosen.add(value + shift if value >= 0 else value + len(names))
    for option in by_name:
        chosen.update(value for value in _literals(transformed.option(option)) if isinstance(value, str))
    chosen |= {names[index] for index in list(chosen) if isinstance(index, int) and 0 <= index < len(names)}
    chosen |= {names.index(name) for name in list(chosen) if isinstance(name, str) and name in names}
    chosen.update(range(shift))
    chosen.update(names[:shift])
    return chosen


def _literals(value: Value | None) -> list[object]:
    if isinstance(value, Constant):
        return [value.value]
    if isinstance(value, Tuple):
        return [item.value for item in value.items if isinstance(item, Constant)]
    return []


def mapped_axes(transformed: Transformed, count: int) -> list[int | None]:
    """The axis over which `vmap` maps each of `count` positional arguments."""
    axes = transformed.option("in_axes")
    if axes is None:
        return [0] * count
    if isinstance(axes, Constant):
        return [axes.value if isinstance(axes.value, int) else None] * count
    if isinstance(axes, Tuple) and len(axes.items) == count:
        return [item.value if isinstance(item, Constant) else 0 for item in axes.items]
    return [0] * count
