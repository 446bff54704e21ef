"""JAX2xx: random keys."""
