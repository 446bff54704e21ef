"""The stub files and the table agree, and mistakes in a stub are told with file and line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from jaxlint import knowledge
from jaxlint.knowledge import TABLE, lookup, roots
from jaxlint.knowledge.compiler import STUBS, Guard, StubError, Stubs, compile_stubs
from jaxlint.knowledge.signature import ClassRow, Signature, Word
from jaxlint.knowledge.vocabulary import VOCABULARY


def compiled(folder: Path, files: dict[str, str]) -> Stubs:
    for name, text in files.items():
        path = folder / f"{name}.pyi"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return compile_stubs(folder)


def test_the_table_is_up_to_date() -> None:
    assert TABLE.read_text(encoding="utf-8") == compile_stubs().table(), "run scripts/compile_knowledge.py"


def test_every_row_can_be_read() -> None:
    rows = compile_stubs().rows
    for path, text in rows.items():
        while text.startswith("= "):
            text = rows.get(text[2:], "in a catch-all")
        assert text == "module" or lookup(path) is not None, path


def test_every_word_is_explained() -> None:
    readme = (STUBS / "README.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", readme))))
    assert VOCABULARY.keys() - explained == set()


def test_loading_is_cheap() -> None:
    code = """
import sys, time, json
from jaxlint import knowledge
start = time.perf_counter()
knowledge.roots()
print(time.perf_counter() - start, "libcst" in sys.modules, "jax" in sys.modules)
"""
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    times, *imported = zip(*[run.stdout.split() for run in runs], strict=True)
    assert min(map(float, times)) < 0.003
    assert imported == [("False",) * 3] * 2


@pytest.mark.parametrize(
    ("stub", "message"),
    [
        ("def f(x: Eaten) -> Array: ...", "`Eaten` is no word"),
        ("def f(x) -> Array[y]: ...", "`y` in `Array[y]` is no parameter"),
        ("def f(x: Array): ...", "`Array` cannot stand here"),
        ("def f(x) -> Consumed: ...", "`Consumed` cannot stand here"),
        ("def f(x) -> Key[x]: ...", "`Key` takes no arguments"),
        ("def f(x) -> int | None: ...", "`int | None` is no word"),
        ("f: Body", "`Body` cannot stand here"),
        ("def f(x): ...\ndef f(y): ...", "lib.f is defined twice"),
        ("if JAX: pass", "`JAX` is not of the form"),
        ("while True: pass", "has no meaning in a stub"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, stub: str, message: str) -> None:
    line = stub.count("\n") + 2
    with pytest.raises(StubError) as error:
        compiled(tmp_path, {"lib": "\n" + stub})
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'lib.pyi'}:{line}: ")


def test_another_name_must_lead_somewhere(tmp_path: Path) -> None:
    with pytest.raises(StubError, match=r"lib\.f is another name for lib2\.g"):
        compiled(tmp_path, {"lib": "f = lib2.g"})
    with pytest.raises(StubError, match="another name for itself"):
        compiled(tmp_path, {"lib": "f = lib.g\ng = lib.f"})


def test_guards(tmp_path: Path) -> None:
    stubs = compiled(
        tmp_path,
        {
            "lib": """
        if JAX_VERSION >= (0, 6, 0):
            def new(): ...
        if JAX_VERSION < (0, 7, 0):
            def old(): ...
        if (0, 5, 0) <= JAX_VERSION < (0, 7, 0):
            def between(): ...
        def always(): ...
        """
        },
    )
    assert stubs.guards == {
        "lib.new": Guard(since=(0, 6, 0)),
        "lib.old": Guard(until=(0, 7, 0)),
        "lib.between": Guard((0, 5, 0), (0, 7, 0)),
    }
    assert [Guard((0, 5, 0), (0, 7, 0)).admits(version) for version in [(0, 4, 9), (0, 5, 0), (0, 7, 0)]] == [
        False,
        True,
        False,
    ]


def test_what_is_written_by_hand_wins(tmp_path: Path) -> None:
    generated = "def f() -> Array: ...\ndef g() -> Array: ..."
    stubs = compiled(tmp_path, {"lib": "def f() -> Key: ...", "generated/lib": generated})
    assert stubs.rows["lib.f"] == "() -> Key"
    assert stubs.rows["lib.g"] == "() -> Array"


def test_names_and_members_are_found_under_every_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stubs = compiled(
        tmp_path,
        {
            "lib/__init__": """
        class Base:
            def __init__(self, key: Consumed): ...
            def method(self, x) -> Array: ...
            size: Python["int"]
        class Derived(Base):
            def own(self) -> Key: ...
        from lib import inner as short
        """,
            "lib/inner": """
        def f(key: Consumed) -> Array: ...
        def __getattr__(name) -> Array: ...
        from lib import Derived as Again
        """,
            "numpy": "pi: Python['float']",
        },
    )
    (tmp_path / "table.json").write_text(stubs.table(), encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(knowledge, "TABLE", tmp_path / "table.json")
        for cached in (knowledge.lookup, knowledge.roots, knowledge._table):
            cached.cache_clear()
        try:
            found = {path: lookup(path) for path in PATHS}
            assert roots() == {"lib"}
        finally:
            for cached in (knowledge.lookup, knowledge.roots, knowledge._table):
                cached.cache_clear()
    assert {
        path: row.path if isinstance(row, Signature | ClassRow) else row for path, row in found.items()
    } == PATHS
    derived = found["lib.Derived"]
    assert isinstance(derived, ClassRow)
    assert derived.bases == ("lib.Base",)
    assert derived.init is not None
    assert [parameter.name for parameter in derived.init.parameters] == ["key"]


PATHS = {
    "lib": None,
    "lib.inner": None,
    "lib.inner.f": "lib.inner.f",
    "lib.short.f": "lib.inner.f",
    "lib.short.anything": "lib.inner.anything",
    "lib.short._private": None,
    "lib.Derived": "lib.Derived",
    "lib.Derived.method": "lib.Base.method",
    "lib.Derived.size": Word("Python", ("int",)),
    "lib.Derived.own": "lib.Derived.own",
    "lib.inner.Again.method": "lib.Base.method",
    "lib.unknown": None,
    "other.f": None,
    "numpy.pi": Word("Python", ("float",)),
}


def test_the_table_holds_one_row_a_line() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert len(lines) > len(json.loads(TABLE.read_text(encoding="utf-8"))["rows"])
