"""`jaxlint verify` as it is called."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import pytest
from checkout import ROOT

from jaxlint.registry import all_rules
from jaxlint.verify import command, evidence, main
from jaxlint.verify.fixture import fixtures_of, path_of, root
from jaxlint.verify.runner import CPU, NoJaxError, Result, backends, observe, platform_of
from jaxlint.verify.worker import Platform

RULE = next(rule for rule in all_rules() if rule.code == "JAX203")
NAMES = [fixture.name for fixture in fixtures_of(RULE, root())]


def verify(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from jaxlint.verify import main; sys.exit(main())"
    line = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {program}", *arguments]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return observe(fixtures_of(RULE, root()), CPU)


def test_table_has_a_row_for_each_fixture(tmp_path: Path) -> None:
    done = verify(tmp_path, "JAX203")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"JAX203  claim: {RULE.claim}"
    rows = lines[1 : 1 + len(NAMES)]
    assert [row.split()[:2] for row in rows] == [["ok", name] for name in NAMES]
    assert all(row.endswith(f"jax {jax.__version__}  cpu  cpu") for row in rows)
    assert ("no GPU on this machine" in lines) == (len(backends()) == 1)
    assert list(tmp_path.iterdir()) == []


def test_json_has_an_entry_for_each_fixture_and_update_records_them(tmp_path: Path) -> None:
    done = verify(tmp_path, "JAX203", "--json", "--update")
    assert done.returncode == 0, done.stdout + done.stderr
    entries: list[dict[str, Any]] = json.loads(done.stdout)["results"]
    cpu = [entry for entry in entries if entry["backend"] == "cpu"]
    assert [entry["fixture"] for entry in cpu] == NAMES
    assert cpu[0] == {
        "code": "JAX203",
        "fixture": "key_used_after_split::split_twice",
        "claim": str(RULE.claim),
        "observed": "2 different of 4 draws",
        "twin": "3 different of 3 draws, no exception",
        "ok": True,
        "jax": jax.__version__,
        "backend": "cpu",
        "device": "cpu",
    }
    file = tmp_path / "docs" / "evidence" / f"{jax.__version__}-cpu-cpu.json"
    assert json.loads(file.read_text())["results"] == cpu


@pytest.mark.parametrize(("sabotaged", "other"), [("good", "bad"), ("bad", "good")])
def test_exit_status_is_1_if_a_claim_does_not_hold(
    sabotaged: str,
    other: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(root(), tmp_path, dirs_exist_ok=True)
    with path_of(RULE, tmp_path).open("a") as file:
        file.write(f"\n\n{sabotaged}_alias = {other}_alias\n")
    monkeypatch.setattr(command, "root", lambda: tmp_path)
    monkeypatch.setattr(command, "backends", lambda: [CPU])
    assert main(["JAX203"]) == 1
    failed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  FAIL")]
    assert [line.split()[1] for line in failed] == ["key_used_after_split::alias"]
    assert "good twin: " in failed[0]


@pytest.mark.parametrize(("wrong", "near"), [("JAX20", "JAX20"), ("JAX991", "JAX"), ("jax101", "JAX101")])
def test_unknown_rule_is_wrong_usage(wrong: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["JAX101", wrong]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"jaxlint verify: unknown rule {wrong}, did you mean {near}")


def test_without_jax_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError(\"No module named 'jax'\")")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    platform_of.cache_clear()
    with pytest.raises(NoJaxError, match="No module named 'jax'"):
        platform_of((("JAX_PLATFORMS", "cpu"),))
    assert main(["JAX101"]) == 2
    assert "pip install flake8-jaxlint[verify]" in capsys.readouterr().err


def test_evidence_is_a_file_for_each_platform(results: list[Result], tmp_path: Path) -> None:
    gpu = Platform("0.10.2", "gpu", "NVIDIA H200")
    both = [*results, *(replace(result, platform=gpu) for result in results)]
    cpu_file, gpu_file = evidence.record(both, tmp_path)
    assert cpu_file.name == f"{jax.__version__}-cpu-cpu.json"
    assert gpu_file.name == "0.10.2-gpu-NVIDIA_H200.json"
    assert {entry["device"] for entry in json.loads(gpu_file.read_text())["results"]} == {"NVIDIA H200"}


def test_evidence_of_rules_that_were_not_run_is_kept(results: list[Result], tmp_path: Path) -> None:
    other = [replace(result, fixture=replace(result.fixture, code="JAX101")) for result in results]
    evidence.record(results, tmp_path)
    evidence.record(other, tmp_path)
    [file] = evidence.record(results[:3], tmp_path)
    text = file.read_text()
    assert [entry["code"] for entry in json.loads(text)["results"]] == ["JAX101"] * len(other) + [
        "JAX203"
    ] * 3
    evidence.record(results[:3], tmp_path)
    assert file.read_text() == text
