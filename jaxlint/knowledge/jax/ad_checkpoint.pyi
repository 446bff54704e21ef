def checkpoint_name(x, name) -> Same[x]: ...

if JAX_VERSION < (0, 10, 0):
    checkpoint = jax.checkpoint
