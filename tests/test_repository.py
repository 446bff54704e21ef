"""What holds across the files of the repository: what belongs together, style, the direction of imports."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from string import Formatter

import pytest
from checkout import ROOT

from jaxlint.registry import all_rules
from jaxlint.rule import GROUPS, Rule

FAMILIES = {
    "1": "arrays",
    "2": "random",
    "3": "memory",
    "4": "tracing",
    "5": "transforms",
    "6": "dispatch",
    "7": "upgrade",
}
HEADINGS = ("## Why is this bad?", "## Use instead", "## Not reported")

RULES = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


def stem(rule: Rule) -> str:
    return rule.name.replace("-", "_")


def test_every_rule_module_has_its_rule() -> None:
    modules = {
        f"{path.parent.name}/{path.stem}"
        for path in (ROOT / "jaxlint_rules").glob("*/*.py")
        if path.stem != "__init__"
    }
    assert modules == {f"{rule.family}/{stem(rule)}" for rule in all_rules()}


def test_every_rule_has_a_fixture_file() -> None:
    folder = ROOT / "tests" / "fixtures"
    rules = {f"{rule.family}/{stem(rule)}.py" for rule in all_rules()}
    families = set(FAMILIES.values())
    found = {
        f"{path.parent.name}/{path.name}" for path in folder.glob("*/*.py") if path.parent.name in families
    }
    assert found == rules


def test_pages_are_up_to_date() -> None:
    """`python docs/generate.py` writes them."""
    wanted = runpy.run_path(str(ROOT / "docs" / "generate.py"))["pages"]()
    written = {path: path.read_text() for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert written.keys() == wanted.keys()
    assert [path.name for path in wanted if wanted[path] != written[path]] == []


@RULES
def test_every_rule_has_a_changelog_entry(rule: Rule) -> None:
    entry = f"- `{rule.code}` [{rule.name}](docs/rules/{rule.code}.md): "
    assert entry in (ROOT / "CHANGELOG.md").read_text()


@RULES
def test_code_is_valid_and_in_its_family(rule: Rule) -> None:
    assert re.fullmatch(r"JAX[1-9]\d\d", rule.code)
    assert rule.family == FAMILIES[rule.code[3]]
    assert rule.group in GROUPS


@RULES
def test_name_is_the_bad_pattern_in_kebab_case(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)
    assert not rule.name.startswith(("no-", "use-", "disallow-"))


@RULES
def test_message_is_in_the_house_style(rule: Rule) -> None:
    """A message is half a sentence, since it stands behind a place; help is a sentence."""
    assert not re.match(r"[A-Z](?!AX|[A-Z])", rule.message), "starts small, or with a name"
    assert not rule.message.endswith((".", "!"))
    assert not rule.help or re.fullmatch(r"[A-Z`].*\.", rule.help)
    for text in (rule.message, rule.help):
        assert text == " ".join(text.split())
        assert text.count("`") % 2 == 0
        assert all(name is None or name.isidentifier() for _, name, _, _ in Formatter().parse(text))


@RULES
def test_page_has_its_headings_in_order(rule: Rule) -> None:
    places = [rule.page.find(heading) for heading in HEADINGS]
    assert -1 not in places
    assert places == sorted(places)
    assert rule.page.splitlines()[0].endswith(".")


# Nobody pays for what they do not use: flake8 imports the plugin for every run.
HEAVY = ("jax", "jaxlib", "numpy", "libcst", "rich", "pathspec")

LIGHT = (
    "import jaxlint, jaxlint.cli, jaxlint.flake8_plugin",
    "import jaxlint.model.events, jaxlint.model.values",
    "from jaxlint.registry import all_rules; all_rules()",
    "import jaxlint.verify.command, jaxlint.verify.worker",
)


@pytest.mark.parametrize("statement", LIGHT)
def test_light_modules_import_nothing_heavy(statement: str) -> None:
    program = f"{statement}\nimport sys\nprint(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


# For each part of the engine, what it may import of jaxlint. Nothing flows backwards.
ARROWS = {
    "jaxlint_rules": ("jaxlint.rule", "jaxlint.claims", "jaxlint.model.events", "jaxlint.model.values"),
    "jaxlint.finding": (),
    "jaxlint.claims": (),
    "jaxlint.rule": ("jaxlint.claims", "jaxlint.model.events"),
    "jaxlint.registry": ("jaxlint.rule",),
    "jaxlint.knowledge": ("jaxlint.knowledge",),
    "jaxlint.model": ("jaxlint.model", "jaxlint.knowledge", "jaxlint.source", "jaxlint.finding"),
    "jaxlint.source": ("jaxlint.source", "jaxlint.finding"),
    "jaxlint.verify": ("jaxlint.verify", "jaxlint.rule", "jaxlint.registry", "jaxlint.claims"),
}


def imports_of(module: str) -> Iterator[tuple[str, str]]:
    """Each module of jaxlint below `module`, with what it imports of jaxlint or of JAX."""
    folder = ROOT.joinpath(*module.split("."))
    for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]:
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                names = []
            for name in names:
                if name.split(".")[0] in ("jaxlint", "jaxlint_rules", "jax", "jaxlib"):
                    yield path.relative_to(ROOT).as_posix(), name


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


@pytest.mark.parametrize("part", ARROWS)
def test_imports_point_one_way(part: str) -> None:
    allowed = ARROWS[part] + (("jax", "jaxlib") if part == "jaxlint.verify" else ())
    assert [(path, name) for path, name in imports_of(part) if not within(name, allowed)] == []


def test_only_verify_imports_jax() -> None:
    found = {path for path, name in imports_of("jaxlint") if within(name, ("jax", "jaxlib"))}
    assert [path for path in found if not path.startswith("jaxlint/verify/")] == []


def test_only_the_runner_imports_the_interpreter() -> None:
    found = {path for path, name in imports_of("jaxlint") if within(name, ("jaxlint.model.interpreter",))}
    assert {path for path in found if not path.startswith("jaxlint/model/")} == {"jaxlint/runner.py"}


def test_the_engine_knows_no_rule_by_name() -> None:
    assert [path for path, name in imports_of("jaxlint") if within(name, ("jaxlint_rules",))] == []
