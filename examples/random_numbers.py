"""A game with dice, and robots that explore: random numbers that are not as random as they look.

It runs without an error. Watch what it prints.
"""

import jax
import jax.numpy as jnp
from jax import random


def roll_dice(rolls: int) -> list[int]:
    key = random.PRNGKey(0)
    results = []
    for _ in range(rolls):
        die = random.randint(key, (), 1, 7)  # JAX202: every roll is the same; split the key in each pass
        results.append(int(die))
    return results


def walk(key: jax.Array, steps: int) -> jax.Array:
    """Where a robot is after some random steps."""
    return random.normal(key, (steps, 2)).sum(axis=0)


def explore(robots: int, steps: int) -> None:
    key = random.key(42)
    for robot in range(robots):
        position = walk(key, steps)  # JAX202: all robots go the same way; one key each from random.split
        print("robot", robot, "is at", position)


def noisy_measurement(shape: tuple[int, ...]) -> tuple[jax.Array, jax.Array]:
    key = random.key(7)
    signal = random.normal(key, shape)
    noise = random.uniform(key, shape)  # JAX201: the noise follows the signal; give each a key of its own
    return signal, noise


def train_and_test_split(data: jax.Array) -> tuple[jax.Array, jax.Array]:
    key = random.key(3)
    train_key, _ = random.split(key)
    train = random.choice(train_key, data, (8,))
    test_key, _ = random.split(key)  # JAX203: the same subkeys again; write key, test_key = random.split(key)
    test = random.choice(test_key, data, (8,))
    return train, test


def main() -> None:
    print("dice:", roll_dice(6))
    explore(robots=3, steps=10)
    signal, noise = noisy_measurement((1000,))
    print("correlation of signal and noise:", jnp.corrcoef(signal, noise)[0, 1])
    train, test = train_and_test_split(jnp.arange(100))
    print("train:", train, "test:", test)


if __name__ == "__main__":
    main()
