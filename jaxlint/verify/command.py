"""`jaxlint verify`: run the fixtures of the rules on this machine and print the evidence."""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import TYPE_CHECKING

from jaxlint.registry import all_rules
from jaxlint.verify import evidence
from jaxlint.verify.fixture import FixtureError, fixtures_of, root
from jaxlint.verify.runner import NoJaxError, backends, observe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxlint.rule import Rule


class UsageError(Exception):
    """Something on the command line is wrong."""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0: every claim was seen; 1: one was not, or a good program shows it; 2: wrong usage."""
    options = _parser().parse_args(argv)
    try:
        return _verify(options)
    except (UsageError, FixtureError) as error:
        print(f"jaxlint verify: {error}", file=sys.stderr)
    except NoJaxError as error:
        print(f"jaxlint verify: needs JAX, pip install flake8-jaxlint[verify] ({error})", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jaxlint verify",
        description="Run the fixtures of the rules on real jaxlib, and print what was seen.",
    )
    parser.add_argument("codes", nargs="*", metavar="CODE", help="rules to verify (default: all)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--update", action="store_true", help=f"record the results in {evidence.FOLDER}/")
    return parser


def _verify(options: argparse.Namespace) -> int:
    fixtures = [fixture for rule in _chosen(options.codes) for fixture in fixtures_of(rule, root())]
    environments = backends()
    results = [result for environment in environments for result in observe(fixtures, environment)]
    if options.json:
        print(evidence.as_json([evidence.entry(result) for result in results]), end="")
    else:
        print("\n".join(evidence.table(results)))
        held = sum(result.ok for result in results)
        print(f"{held} of {len(results)} fixtures show what their rule claims")
        if len(environments) == 1:
            print("no GPU on this machine")
    if options.update:
        for path in evidence.record(results, evidence.FOLDER):
            print(f"recorded {path}", file=sys.stderr)
    return 0 if all(result.ok for result in results) else 1


def _chosen(codes: Sequence[str]) -> list[Rule]:
    rules = {rule.code: rule for rule in all_rules()}
    for code in codes:
        if code not in rules:
            near = difflib.get_close_matches(code, rules, n=1, cutoff=0)
            raise UsageError(f"unknown rule {code}" + (f", did you mean {near[0]}?" if near else ""))
    return [rules[code] for code in dict.fromkeys(codes)] if codes else list(rules.values())
