"""Rendering frames one after the other, with two frames on the device where one would do."""

import jax
import jax.numpy as jnp

HEIGHT, WIDTH = 1080, 1920


def render(frame: int) -> jax.Array:
    """A frame of 8 MB: rings that move outwards."""
    y, x = jnp.mgrid[0:HEIGHT, 0:WIDTH]
    return jnp.sin(jnp.hypot(x - WIDTH / 2, y - HEIGHT / 2) / 20 - frame)


def brightness_of_film(frames: int) -> list[float]:
    brightness = []
    for frame in range(frames):
        fade = jnp.ones((HEIGHT, WIDTH)) * (frame / frames)  # JAX301: the last fade lives on
        brightness.append(float(fade.mean()))
    return brightness


def brightness_in_a_function(frames: int) -> list[float]:
    def brightness(frame: int) -> float:
        return float((render(frame) * frame / frames).mean())  # nothing outlives the call

    return [brightness(frame) for frame in range(frames)]


def brightness_with_del(frames: int) -> list[float]:
    brightness = []
    for frame in range(frames):
        fade = jnp.ones((HEIGHT, WIDTH)) * (frame / frames)
        brightness.append(float(fade.mean()))
        del fade
    return brightness


def main() -> None:
    print(brightness_of_film(4))
    print(brightness_with_del(4))
    print(brightness_in_a_function(4))


if __name__ == "__main__":
    main()
