"""Smoothing a signal: NumPy habits that JAX refuses. Each commented line raises TypeError when it runs."""

import jax
import jax.numpy as jnp


def remove_outliers(signal: jax.Array, limit: float) -> jax.Array:
    signal[jnp.abs(signal) > limit] = 0.0  # JAX101: right is jnp.where(jnp.abs(signal) > limit, 0.0, signal)
    return signal


def moving_average(signal: jax.Array, width: int) -> jax.Array:
    averages = jnp.zeros(len(signal) - width)
    for i in range(len(averages)):
        averages[i] = signal[i : i + width].mean()  # JAX101: right is averages = averages.at[i].set(...)
    return averages


def with_borders(averages: jax.Array) -> jax.Array:
    padded = jnp.pad(averages, 1)
    padded[0] += averages[0]  # JAX101: right is padded = padded.at[0].add(averages[0])
    padded[-1] = averages[-1]  # JAX101: right is padded = padded.at[-1].set(averages[-1])
    return padded


def main() -> None:
    signal = jnp.sin(jnp.linspace(0.0, 6.0, 200))
    signal = remove_outliers(signal, 0.9)
    print(with_borders(moving_average(signal, 5)))


if __name__ == "__main__":
    main()
