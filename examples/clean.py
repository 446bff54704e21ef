"""The same things done right. jaxlint has nothing to say here."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import random


def moving_average(signal: jax.Array, width: int) -> jax.Array:
    """Arrays are immutable: an update gives a new one."""
    averages = jnp.zeros(len(signal) - width)
    for i in range(len(averages)):
        averages = averages.at[i].set(signal[i : i + width].mean())
    return averages


def prepare_on_the_host(size: int) -> jax.Array:
    """A NumPy array may be filled in place before it goes to the device."""
    table = np.zeros(size)
    for i in range(size):
        table[i] = i % 7
    return jax.device_put(table)


def roll_dice(rolls: int) -> list[int]:
    """Each pass derives a key of its own and keeps the rest for the next."""
    key = random.key(0)
    results = []
    for _ in range(rolls):
        key, subkey = random.split(key)
        results.append(int(random.randint(subkey, (), 1, 7)))
    return results


def reset_environments(count: int) -> jax.Array:
    """One key for each environment."""
    keys = random.split(random.key(1), count)
    return jax.vmap(lambda key: random.uniform(key, (4,)))(keys)


def sum_of_noise(passes: int) -> float:
    """An array of 4 MB is let go before the next one is made."""
    total = 0.0
    for i in range(passes):
        x = jnp.ones((1000, 1000)) * i
        total += float(x.sum())
        del x
    return total


def luminance(red: jax.Array, green: jax.Array, blue: jax.Array) -> jax.Array:
    """One pixel."""
    return 0.299 * red + 0.587 * green + 0.114 * blue


def to_grey(image: jax.Array) -> jax.Array:
    """Over rows outside, over columns inside: no loop in Python."""
    by_row = jax.vmap(luminance, in_axes=-1)
    by_image = jax.vmap(by_row, in_axes=(0, 0, 0))
    return by_image(image[0], image[1], image[2])


def main() -> None:
    print(moving_average(prepare_on_the_host(40), 5))
    print(roll_dice(6))
    print(reset_environments(3))
    print(sum_of_noise(3))
    print(to_grey(random.uniform(random.key(2), (3, 4, 5))).shape)


if __name__ == "__main__":
    main()
