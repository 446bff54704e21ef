"""Runs the fixtures with the oldest JAX that jaxlint speaks of, the newest, and two between.

usage: nox            runs the fixtures and records what was seen in docs/evidence
       nox -- JAX101  only those of some rules
"""

import nox

nox.options.reuse_existing_virtualenvs = True


@nox.session
@nox.parametrize(
    ("python", "jax"),
    [("3.10", "0.4.30"), ("3.10", "0.6.2"), ("3.11", "0.10.2"), ("3.12", "0.12.0.1")],
    ids=["0.4.30", "0.6.2", "0.10.2", "0.12.0.1"],
)
def verify(session: nox.Session, jax: str) -> None:
    """Install the package as a user would, and look for what the rules claim."""
    session.install(".", f"jax=={jax}", "chex", "jaxtyping")  # the last two for annotations in fixtures
    session.run("jaxlint", "verify", "--update", *session.posargs)
