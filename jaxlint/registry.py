"""Finds the rules. There is no list to edit: a rule module is found by being there."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from jaxlint.rule import Rule

ENTRY_POINTS = "jaxlint.rules"


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule that is installed, ordered by code.

    Built-in rules live in `jaxlint_rules`; a third-party package names its own
    package under the entry-point group `jaxlint.rules`.

    Raises:
        ValueError: two rules share a code or a name.
    """
    from importlib.metadata import entry_points  # a third of what a run without findings takes

    packages = [importlib.import_module("jaxlint_rules")]
    packages += [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
    rules = {id(rule): rule for package in packages for rule in _rules_in(package)}
    found = sorted(rules.values(), key=lambda rule: rule.code)
    for attribute in ("code", "name"):
        values = [getattr(rule, attribute) for rule in found]
        if twice := {value for value in values if values.count(value) > 1}:
            raise ValueError(f"two rules share the {attribute} {', '.join(sorted(twice))}")
    return tuple(found)


def _rules_in(package: ModuleType) -> list[Rule]:
    modules = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    loaded = [importlib.import_module(module.name) for module in modules]
    return [rule for module in loaded if isinstance(rule := getattr(module, "rule", None), Rule)]
