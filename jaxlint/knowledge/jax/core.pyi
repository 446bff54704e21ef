Tracer: Python["type"]
ShapedArray: Python["type"]
ensure_compile_time_eval = jax.ensure_compile_time_eval
