"""Runs jaxlint over the sources of real packages, and prints what it finds.

usage: python benchmarks/packages.py [NAME…] [--quiet]

Takes the wheels named in `packages.txt` from the package index, unpacks them in a cache folder outside the
repository, and lints each. Read every finding; a false alarm becomes a `good_` function in a fixture.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

PINS = Path(__file__).with_name("packages.txt")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jaxlint-benchmarks"

# Newer than the Python that runs this may be: some packages have wheels for nothing older.
PYTHON_OF_WHEELS = "3.12"


def pins() -> dict[str, str]:
    """What `packages.txt` asks for: each name with its requirement."""
    lines = (line.partition("#")[0].strip() for line in PINS.read_text().splitlines())
    return {line.partition("==")[0]: line for line in lines if line}


def source(requirement: str) -> Path:
    """The folder with the package's files, fetched unless it is there already."""
    folder = CACHE / requirement
    if not folder.is_dir():
        download(requirement, folder)
    return folder


def download(requirement: str, folder: Path) -> None:
    """Unpack the package's wheel into `folder`; an interrupted run leaves nothing that looks complete."""
    wheels = CACHE / "wheels" / requirement
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--python-version", PYTHON_OF_WHEELS, "--dest", str(wheels), requirement]
    subprocess.run(command, check=True)
    (wheel,) = wheels.glob("*.whl")
    unfinished = folder.with_name(folder.name + ".part")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unfinished)
    unfinished.rename(folder)


def lint(folder: Path) -> tuple[list[dict[str, Any]], int, str]:
    """The findings in `folder`, the exit status, and what was said on standard error."""
    command = [
        sys.executable,
        "-m",
        "jaxlint",
        "check",
        "--isolated",
        "--no-cache",
        "--output-format",
        "json",
        ".",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return json.loads(done.stdout or "[]"), done.returncode, done.stderr


def report(requirement: str, quiet: bool) -> bool:
    """Print what jaxlint finds in one package; whether it ran without an internal error."""
    folder = source(requirement)
    start = time.perf_counter()
    findings, status, errors = lint(folder)
    seconds = time.perf_counter() - start
    for found in () if quiet else findings:
        place = f"{requirement}/{found['filename']}:{found['location']['row']}"
        print(f"{place}: {found['code']} {found['message']}")
    counts = Counter(found["code"] for found in findings)
    files = sum(1 for _ in folder.rglob("*.py"))
    total = ", ".join(f"{code} {count}" for code, count in sorted(counts.items())) or "no findings"
    print(f"{requirement}: {total}; {files} files, {seconds:.1f} s, exit status {status}", flush=True)
    print(errors, end="", file=sys.stderr)
    return status in (0, 1)


def main() -> int:
    """Exit status 1 where a run ended in an internal error."""
    known = pins()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"packages (default: all: {', '.join(known)})"
    )
    parser.add_argument("--quiet", action="store_true", help="only the counts")
    options = parser.parse_args()
    succeeded = [report(known[name], options.quiet) for name in options.names or known]
    return int(not all(succeeded))


if __name__ == "__main__":
    sys.exit(main())
