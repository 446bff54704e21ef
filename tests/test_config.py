"""Settings are found, read, checked and applied."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from jaxlint.config import ConfigError, Configuration, Settings
from jaxlint.selection import Selection
from jaxlint.source.discovery import shown

TOML = """\
select = ["correctness"]
ignore = ["JAX2"]
extend-select = ["JAX301"]
preview = true
exclude = ["third_party"]
extend-exclude = ["tests/fixtures", "*.gen.py"]
large-array-bytes = 4096
target-jax = "0.4.30"
output-format = "json"
jobs = 2
force-exclude = true
statistics = true
exit-zero = true
quiet = true
no-cache = true

[per-file-ignores]
"tests/*" = ["JAX101", "item-assignment"]
"conftest.py" = ["JAX"]
"""
INI = """\
[jaxlint]
select = correctness
ignore = JAX2
extend-select = JAX301
preview = true
exclude = third_party
extend-exclude =
    # mistakes on purpose
    tests/fixtures
    *.gen.py
large-array-bytes = 4_096
target-jax = 0.4.30
output-format = json
jobs = 2
force-exclude = yes
statistics = on
exit-zero = True
quiet = true
no-cache = true
per-file-ignores =
    tests/*: JAX101, item-assignment
    conftest.py: JAX
"""
PYPROJECT = "[tool.jaxlint]\n" + TOML.replace("[per-file", "[tool.jaxlint.per-file")
READ = {
    "selections": (Selection(("correctness",), ("JAX301",), ("JAX2",)),),
    "preview": True,
    "exclude": ("third_party",),
    "extend_exclude": ("tests/fixtures", "*.gen.py"),
    "force_exclude": True,
    "large_array_bytes": 4096,
    "target_jax": "0.4.30",
    "output_format": "json",
    "statistics": True,
    "exit_zero": True,
    "quiet": True,
    "no_cache": True,
    "jobs": 2,
    "per_file_ignores": (("tests/*", ("JAX101", "item-assignment")), ("conftest.py", ("JAX",))),
}
FILES = {"jaxlint.toml": TOML, "pyproject.toml": PYPROJECT, "setup.cfg": INI, "tox.ini": INI, ".flake8": INI}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def settings_of(folder: Path) -> Settings:
    return Configuration().for_folder(folder)


# --- where settings come from -------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_each_file_can_hold_all_settings(name: str, tmp_path: Path) -> None:
    file = write(tmp_path / name, FILES[name])
    assert settings_of(tmp_path) == Settings(tmp_path, **READ)  # type: ignore[arg-type]
    assert Configuration(file=file).for_folder(Path("/")) == settings_of(tmp_path)


def test_what_is_written_above_is_all_that_there_is() -> None:
    assert READ.keys() | {"root"} == {field.name for field in fields(Settings)}


def test_no_file_leaves_the_defaults(tmp_path: Path) -> None:
    assert settings_of(tmp_path) == Settings(Path.cwd())


def test_nearest_file_wins_and_one_without_our_section_does_not_count(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.jaxlint]\njobs = 1\n")
    write(tmp_path / "a" / "setup.cfg", "[jaxlint]\njobs = 2\n")
    write(tmp_path / "a" / "b" / "pyproject.toml", "[tool.ruff]\nline-length = 100\n# not jaxlint\n")
    write(tmp_path / "a" / "b" / ".flake8", "[flake8]\nignore = E203\n# [jaxlint]\n")
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir()
    assert settings_of(deep) == Settings(tmp_path / "a", jobs=2)
    assert settings_of(tmp_path).jobs == 1


def test_order_within_a_folder(tmp_path: Path) -> None:
    names = ("jaxlint.toml", "pyproject.toml", "setup.cfg", "tox.ini", ".flake8")
    for count in range(1, len(names) + 1):
        folder = tmp_path / str(count)
        for jobs, name in list(enumerate(names, 1))[-count:]:
            table = {"jaxlint.toml": "", "pyproject.toml": "[tool.jaxlint]"}.get(name, "[jaxlint]")
            write(folder / name, f"{table}\njobs = {jobs}\n")
        assert settings_of(folder).jobs == len(names) - count + 1


def test_the_command_line_is_on_top_and_isolated_reads_no_file(tmp_path: Path) -> None:
    write(tmp_path / "jaxlint.toml", "jobs = 3\nselect = ['JAX1']\npreview = true\n")
    over = {"jobs": 5, "extend-select": ("JAX2",)}
    both = Configuration(over).for_folder(tmp_path)
    assert (both.jobs, both.preview, both.root) == (5, True, tmp_path)
    assert both.selections == (Selection(("JAX1",)), Selection(None, ("JAX2",)))
    alone = Configuration(over, isolated=True).for_folder(tmp_path)
    assert alone == Settings(Path.cwd(), (Selection(None, ("JAX2",)),), jobs=5)


def test_a_file_of_any_name_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "ci" / "strict.toml", "jobs = 3\n")
    file = write(tmp_path / "strict.ini", "[jaxlint]\njobs = 4\n")
    monkeypatch.chdir(tmp_path)
    assert Configuration(file=Path("ci/strict.toml")).for_folder(tmp_path).root == tmp_path / "ci"
    assert Configuration(file=file).for_folder(tmp_path).jobs == 4


# --- what is wrong in them ----------------------------------------------------------------

WRONG = {
    "key": ("selct = ['JAX101']", "unknown setting `selct`, did you mean `select`?"),
    "key with an underscore": (
        "target_jax = '0.6'",
        "unknown setting `target_jax`, did you mean `target-jax`?",
    ),
    "number for a list": ("ignore = 3", "ignore: must be a list of text"),
    "list of numbers": ("ignore = [101]", "ignore: must be a list of text"),
    "text for a flag": ("preview = 'maybe'", "preview: must be true or false"),
    "number for a flag": ("preview = 1", "preview: must be true or false"),
    "zero": ("jobs = 0", "jobs: must be a whole number from 1"),
    "flag for a number": ("jobs = true", "jobs: must be a whole number from 1"),
    "fraction": ("large-array-bytes = 1.5", "large-array-bytes: must be a whole number from 1"),
    "version": ("target-jax = 'new'", 'target-jax: must be a version such as "0.6"'),
    "format": ("output-format = 'jsn'", "output-format: unknown format `jsn`, did you mean `json`?"),
    "list for a table": ("per-file-ignores = ['a']", "per-file-ignores: must be a table of patterns and"),
    "code": ("select = ['JAX2O1']", "unknown rule `JAX2O1`, did you mean `JAX201`?"),
    "code in lower case": (
        "ignore = ['JAX']\nselect = ['jax2o1']",
        "unknown rule `jax2o1`, did you mean `JAX201`?",
    ),
    "name": (
        "extend-select = ['item_assignment']",
        "unknown rule `item_assignment`, did you mean `item-assignment`?",
    ),
    "group": ("ignore = ['corectness']", "unknown rule `corectness`, did you mean `correctness`?"),
    "no name": ("ignore = ['']", "unknown rule ``"),
    "code for files": (
        "per-file-ignores = {'a' = ['JAX2O1']}",
        "unknown rule `JAX2O1`, did you mean `JAX201`?",
    ),
    "TOML": ("jobs = ", "Invalid value"),
}


@pytest.mark.parametrize(("line", "message"), WRONG.values(), ids=WRONG)
def test_an_error_is_one_line_that_names_file_and_key(line: str, message: str, tmp_path: Path) -> None:
    file = write(tmp_path / "jaxlint.toml", line + "\n")
    with pytest.raises(ConfigError) as refusal:
        settings_of(tmp_path)
    assert str(refusal.value).startswith(f"{shown(file)}: {message}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("pyproject.toml", "[tool]\njaxlint = 3\n", "tool.jaxlint must be a table"),
        ("pyproject.toml", "tool = 'jaxlint'\n", "says nothing of jaxlint"),
        ("setup.cfg", "[metadata]\n", "says nothing of jaxlint"),
        ("setup.cfg", "[jaxlint]\njobs = many\n", "jobs: must be a whole number from 1"),
        ("setup.cfg", "[jaxlint]\njobs = 1\njobs = 2\n", "While reading from"),
        ("setup.cfg", "jobs = 1\n[jaxlint]\n", "File contains no section headers"),
    ],
)
def test_errors_of_a_file_that_is_named(name: str, text: str, message: str, tmp_path: Path) -> None:
    file = write(tmp_path / name, text)
    with pytest.raises(ConfigError) as refusal:
        Configuration(file=file).for_folder(tmp_path)
    assert str(refusal.value).startswith(f"{shown(file)}: {message}")
    assert "\n" not in str(refusal.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read: No such file"):
        Configuration(file=tmp_path / "gone.toml").for_folder(tmp_path)
    (tmp_path / "jaxlint.toml").write_bytes(b"# \xff\n")
    with pytest.raises(ConfigError, match=r"jaxlint\.toml: cannot be read: it is not utf-8"):
        settings_of(tmp_path)


# --- what they do -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("tests/*", "tests/test_a.py", True),
        ("tests/*", "tests/deep/test_a.py", True),
        ("tests/*", "src/tests/test_a.py", False),
        ("tests", "src/tests/test_a.py", True),
        ("conftest.py", "tests/conftest.py", True),
        ("*_pb2.py", "src/a_pb2.py", True),
        ("src/*_pb2.py", "src/a_pb2.py", True),
        ("src/*_pb2.py", "src/b/a_pb2.py", False),
        ("src/**/a.py", "src/b/c/a.py", True),
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "src/a.pyi", False),
        ("./a.py", "a.py", True),
        ("./a.py", "src/a.py", False),
        ("{a,b}.py", "a.py", False),
    ],
)
def test_codes_are_ignored_in_files_that_a_pattern_fits(
    pattern: str, path: str, fits: bool, tmp_path: Path
) -> None:
    settings = Settings(tmp_path, per_file_ignores=((pattern, ("JAX1",)), ("other.py", ("JAX",))))
    assert settings.ignores(tmp_path / path, "JAX101") is fits
    assert not settings.ignores(tmp_path / path, "JAX201")


def test_no_library_is_loaded_where_there_is_nothing_to_read(tmp_path: Path) -> None:
    write(tmp_path / "a.py", "")
    program = """
import sys
from pathlib import Path
from jaxlint.config import Configuration
from jaxlint.source.discovery import Discovery
configuration = Configuration()
discovery = Discovery(lambda folder: configuration.for_folder(folder).excluded, force_exclude=True)
files = discovery.files([Path(sys.argv[1])])
assert [file.name for file in files] == ["a.py"], files
print(*{"libcst", "rich", "pathspec", "tomllib", "tomli", "configparser"} & sys.modules.keys())
"""
    run = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert (run.stdout.strip(), run.stderr) == ("", "")


def test_one_file_for_all_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text("jobs = 3\n")
    for configuration in (Configuration(file=file), Configuration(isolated=True)):
        assert configuration.for_folder(tmp_path) is configuration.for_folder(tmp_path / "sub")
