"""Runs commands as a user does, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from checkout import ROOT, clean_environment

BUG = "import jax.numpy as jnp\n\nx = jnp.zeros(3)\nx[0] = 1.0\n"
CLEAN = "import jax.numpy as jnp\n\nx = jnp.zeros(3)\nx = x.at[0].set(1.0)\n"


def run_module(
    module: str, *arguments: str | Path, cwd: Path, stdin: str | bytes = b"", **environment: str
) -> subprocess.CompletedProcess[str]:
    """`python -m MODULE ARGUMENTS` in the folder `cwd`."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=cwd,
        env=clean_environment(**{"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"} | environment),
        input=stdin if isinstance(stdin, bytes) else stdin.encode(),
        capture_output=True,
        check=False,
    )
    out, err = (os.fsdecode(stream) for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def jaxlint(
    *arguments: str | Path, cwd: Path, stdin: str | bytes = b"", **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command, in the folder `cwd`."""
    return run_module("jaxlint", *arguments, cwd=cwd, stdin=stdin, **environment)


def write_files(folder: Path, files: dict[str, str | bytes]) -> None:
    """Files by their names, with the folders that they lie in."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
