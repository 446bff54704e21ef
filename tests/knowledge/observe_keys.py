"""Asks JAX's runtime checker what functions do to a key. Run with JAX_DEBUG_KEY_REUSE=1.

Reads {path: {"key": parameter, "required": [parameter, …]}} and prints {path: "Consumed" or "Borrowed"}:
a key that was given once is given again, and the checker objects or does not.
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp

SAMPLES: dict[str, Any] = {
    "a": 1.5, "b": 0.5, "d": 2, "p": 0.5, "n": 3, "df": 2.0, "dfnum": 2.0, "dfden": 3.0, "lam": 1.0,
    "scale": 1.0, "concentration": 1.0, "loc": 0.0, "left": -1.0, "mode": 0.0, "right": 1.0, "lower": -1.0,
    "upper": 1.0, "mean": 1.0, "minval": 0, "maxval": 9, "logits": jnp.zeros(4), "alpha": jnp.ones(3), "x": 5,
    "data": 1, "shape": (2,),
}  # fmt: skip
SPECIAL: dict[str, dict[str, Any]] = {
    "jax.random.choice": {"a": 5},
    "jax.random.multivariate_normal": {"mean": jnp.zeros(2), "cov": jnp.eye(2)},
    "jax.random.multinomial": {"n": 3.0, "p": jnp.ones(3) / 3},
}


def function(path: str) -> Callable[..., object]:
    """The function of that path."""
    if path == "jax.nn.initializers.Initializer":
        return cast("Callable[..., object]", jax.nn.initializers.normal())
    module, _, name = path.rpartition(".")
    return cast("Callable[..., object]", getattr(importlib.import_module(module), name))


def use(path: str, row: dict[str, Any]) -> str:
    """What the function does to its key."""
    key = jax.random.key(0)
    samples = {**SAMPLES, **SPECIAL.get(path, {})}
    arguments = {name: samples[name] for name in row["required"] if name != row["key"]}
    call = functools.partial(function(path), **{row["key"]: key}, **arguments)
    call()
    try:
        jax.random.bits(key)
    except jax.errors.KeyReuseError:
        return "Consumed"
    return "Borrowed"


print(json.dumps({path: use(path, row) for path, row in json.load(sys.stdin).items()}))
