"""Generate the stub of NumPy by asking which of its functions give a JAX array for a JAX array.

    python scripts/generate_numpy_stub.py

One form of call is tried for each function, with NumPy arrays and with JAX arrays.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.knowledge.compiler import GENERATED, STUBS

EXTRA: dict[str, tuple[Any, ...]] = {
    "argpartition": (1,),
    "array_split": (2,),
    "expand_dims": (0,),
    "moveaxis": (0, 1),
    "partition": (1,),
    "percentile": (50,),
    "quantile": (0.5,),
    "repeat": (2,),
    "reshape": ((4,),),
    "roll": (1,),
    "rollaxis": (0,),
    "split": (2,),
    "swapaxes": (0, 1),
    "tile": (2,),
}
"""What a function needs beside an array."""

SIDE_EFFECTS = frozenset(
    {"save", "savetxt", "savez", "savez_compressed", "test", "info", "show_config", "show_runtime"}
)


def main() -> None:
    """Write the stub."""
    warnings.simplefilter("ignore")
    path = STUBS / GENERATED / "numpy" / "__init__.pyi"
    path.parent.mkdir(parents=True, exist_ok=True)
    names = [name for name in sorted(np.__all__) if not name.startswith("_")]
    lines = [line for name in names if (line := definition(name, getattr(np, name)))]
    path.write_text("# Made by scripts/generate_numpy_stub.py\n" + "\n".join(lines) + "\n", encoding="utf-8")


def definition(name: str, thing: Any) -> str | None:
    """The line for one name of NumPy."""
    if isinstance(thing, type):
        is_dtype = (
            issubclass(thing, np.generic)
            and thing.__subclasses__() == []
            and np.dtype(thing).kind in "biufc"
            and np.dtype(thing).name in jnp.__dict__
        )
        return f'{name}: NumPyDType["{np.dtype(thing)}"]' if is_dtype else f'{name}: Python["type"]'
    if isinstance(thing, float | int | type(None)):
        return f'{name}: Python["{type(thing).__name__}"]'
    if not callable(thing) or name in SIDE_EFFECTS:
        return None
    word = returned(thing, EXTRA.get(name, ()))
    if word == "Unknown":
        return None
    return f"def {name}({'a, ' if '[a]' in word else ''}*args, **kwargs) -> {word}: ..."


def returned(function: Callable[..., Any], extra: tuple[Any, ...]) -> str:
    """The word for what a function returns."""
    for dtype, shape, count in itertools.product((np.float32, np.int32), ((2, 2), (4,)), (1, 2, 3)):
        result = attempt(function, *[np.ones(shape, dtype)] * count, *extra)
        if result is not None:
            of_jax = attempt(function, *[jnp.ones(shape, dtype)] * count, *extra)
            return "Dispatch[a]" if isinstance(of_jax, jax.Array) else kind(result)
    return "Unknown"


def kind(result: Any) -> str:
    """The word for a result."""
    if type(result) in (bool, int, float, str):
        return f'Python["{type(result).__name__}"]'
    if isinstance(result, np.dtype):
        return 'Python["dtype"]'
    return "NumPy" if isinstance(result, np.ndarray | np.generic) else "Unknown"


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call; None where it is refused."""
    try:
        return function(*arguments)
    except Exception:
        return None


if __name__ == "__main__":
    main()
