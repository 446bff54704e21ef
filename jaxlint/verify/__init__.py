"""Runs the fixtures on real jaxlib and says whether what a rule claims was seen.

The only part of jaxlint that imports JAX, and that in processes of its own:
`worker` runs inside them, all else stays outside. Needs JAX and the standard
library, no parser.
"""

from jaxlint.verify.command import main

__all__ = ["main"]
