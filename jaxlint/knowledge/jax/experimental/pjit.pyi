pjit = jax.jit
