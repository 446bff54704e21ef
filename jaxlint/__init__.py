"""jaxlint: a linter for JAX whose every rule is proven by running it."""

__version__ = "0.1.0"
