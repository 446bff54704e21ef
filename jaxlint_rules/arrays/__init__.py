"""JAX1xx: arrays and immutability."""
