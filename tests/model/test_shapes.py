"""What the model works out of shapes and dtypes is what JAX gives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from model.reveal import revealed

SETUP = """\
import jax
import jax.numpy as jnp
import numpy as np
x = jnp.ones((2, 3))
y = jnp.ones((3,), jnp.int32)
z = jnp.arange(4)
b = x > 0
h = jnp.zeros((2, 3), jnp.bfloat16)
n = np.ones((2, 3))
"""

EXPRESSIONS = """\
jnp.zeros(5)
jnp.zeros((2, 3), dtype=bool)
jnp.ones([2, 4], dtype="int8")
jnp.full((2, 2), 7)
jnp.full((2, 2), 1.5)
jnp.full((2, 2), True)
jnp.empty((1, 0, 3))
jnp.zeros_like(x, dtype=jnp.int32)
jnp.ones_like(h)
jnp.full_like(y, 2.5)
jnp.eye(3)
jnp.eye(3, 4)
jnp.identity(2)
jnp.arange(10)
jnp.arange(2, 10, 3)
jnp.arange(10, 2, -3)
jnp.arange(0.0, 1.0, 0.25).dtype
jnp.linspace(0, 1, 7)
jnp.linspace(0.0, 1.0)
jnp.array([[1, 2], [3, 4]])
jnp.array([1.0, 2])
jnp.array(3)
jnp.array([True, False])
jnp.array(n)
jnp.asarray(x)
jnp.array([x, x])
jax.random.normal(jax.random.key(0), (3, 2))
jax.random.randint(jax.random.key(0), (3,), 0, 9)
jax.random.bernoulli(jax.random.key(0), 0.5, (4,))
jax.random.uniform(jax.random.key(0))
x + 1
x * y
x + z[:3]
y + 1.5
y / 2
y // 2
y ** 2
b + 1
b & b
-y
h * 2.5
h + x
h * y
x @ x.T
x @ jnp.ones((3, 5))
x > y
x[0]
x[:, 1]
x[None]
x[..., 0]
x[1:, :2]
x[-1, -1]
x[0, None]
x.T
x.reshape(6)
x.reshape(3, -1)
x.reshape((1, 2, 3))
jnp.reshape(x, (-1,))
x.ravel()
x.flatten()
x.astype(jnp.int32)
x.astype(int)
x.sum()
x.sum(axis=0)
x.sum(axis=1, keepdims=True)
x.mean(axis=(0, 1))
y.mean()
jnp.max(x, axis=-1)
jnp.sum(b)
jnp.argmax(x, axis=0)
jnp.all(b)
jnp.any(b, axis=1)
x.std(axis=0)
jnp.sin(x)
jnp.sin(y)
jnp.exp(h)
jnp.abs(y)
jnp.maximum(x, 0)
jnp.add(x, y)
jnp.where(b, x, 0.0)
jnp.where(b, 0, 1)
jnp.transpose(x)
jnp.transpose(x[None], (2, 0, 1))
jnp.swapaxes(x, 0, 1)
jnp.expand_dims(x, 0)
jnp.expand_dims(x, -1)
jnp.squeeze(x[None])
jnp.squeeze(x[None], axis=0)
jnp.concatenate([x, x])
jnp.concatenate((x, x), axis=1)
jnp.stack([x, x, x])
jnp.stack([x, x], axis=-1)
jnp.vstack([x, x])
jnp.hstack([y, y])
jnp.hstack([x, x])
jnp.broadcast_to(y, (4, 3))
jnp.tile(y, 2)
jnp.tile(x, (2, 2))
jnp.outer(y, z)
jnp.dot(x, x.T)
jnp.repeat(y, 2)
jnp.repeat(x, 2, axis=0)
jnp.cumsum(x, axis=0)
jnp.cumsum(x)
jnp.sort(x)
jnp.argsort(x)
jax.nn.one_hot(z, 5)
jax.nn.relu(x)
x.at[0].set(1.0)
x.at[0].add(y)
jax.device_put(n)
jnp.float32(3)
jnp.float16(x)
x.shape
x.ndim
x.size
x.shape[0]
len(x)
n.shape
""".splitlines()


def written(value: object) -> str:
    """What JAX gives, in the words of the model."""
    if isinstance(value, (jax.Array, np.ndarray)):
        word = "array" if isinstance(value, jax.Array) else "numpy array"
        return f"{word} {value.dtype}[{','.join(map(str, value.shape))}]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(written, value)) + ("," if len(value) == 1 else "") + ")"
    return f"constant {value!r}" if isinstance(value, (int, float, bool)) else f"dtype:{value}"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_shape_and_dtype_are_what_jax_gives(expression: str) -> None:
    names: dict[str, object] = {}
    exec(SETUP, names)
    value = eval(expression, names)
    assert revealed(f"{SETUP}reveal({expression})\n") == [written(value)]


def test_what_is_not_known_stays_unknown() -> None:
    source = (
        SETUP + "def f(a, k):\n    reveal(jnp.zeros(a))\n    reveal(a + 1)\n    reveal(x.reshape(k, 2))\n"
    )
    assert revealed(source) == ["array float32", "unknown", "array float32[?,2]"]


def test_sixty_four_bits_are_narrowed_unless_x64_is_on() -> None:
    narrow = "import jax, jax.numpy as jnp\nreveal(jnp.zeros(3, jnp.float64))\n"
    wide = narrow.replace("\nreveal", "\njax.config.update('jax_enable_x64', True)\nreveal")
    assert revealed(narrow) == ["array float32[3]"]
    assert revealed(wide) == ["array float64[3]"]
    assert jnp.zeros(3).dtype == jnp.float32
