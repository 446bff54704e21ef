closure_convert = jax.closure_convert
custom_gradient = jax.custom_gradient
custom_jvp = jax.custom_jvp
custom_vjp = jax.custom_vjp
