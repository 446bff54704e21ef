"""JAX3xx: device memory and devices."""
