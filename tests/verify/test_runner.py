"""Fixtures are found, run in processes, and what was seen is put together."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from jaxlint.claims import AnyOf, Claim, IdenticalDraws, KeepsAlive, KeyReuse, Raises
from jaxlint.model.events import Event
from jaxlint.rule import Rule
from jaxlint.verify import runner
from jaxlint.verify.fixture import FixtureError, fixtures_of, path_of
from jaxlint.verify.runner import CPU, Result, observe


def make_rule(claim: Claim) -> Rule:
    rule = Rule("JAX999", "thrown-away", "correctness", "message", claim)
    rule.on(Event)(lambda _: [])
    rule.module = "thrown.family.thrown_away"
    return rule


def run(folder: Path, claim: Claim, source: str) -> dict[str, Result]:
    """Write `source` as the fixture file of a rule with `claim`, and run it."""
    rule = make_rule(claim)
    path = path_of(rule, folder)
    path.parent.mkdir(exist_ok=True)
    path.write_text(textwrap.dedent(source))
    return {result.fixture.scenario: result for result in observe(fixtures_of(rule, folder), CPU)}


IMMUTABLE = Raises("TypeError", "immutable")

STORES = """
    import unittest

    import jax.numpy as jnp

    def bad_right():
        print("a program may print")
        jnp.zeros(3)[0] = 1.0

    def good_right():
        return jnp.zeros(3).at[0].set(1.0)

    def bad_without_the_bug():
        return jnp.zeros(3)

    def good_without_the_bug():
        return jnp.zeros(3)

    def bad_twin_has_it_too():
        jnp.zeros(3)[0] = 1.0

    def good_twin_has_it_too():
        jnp.zeros(3)[0] = 1.0

    def bad_ends_in_something_else():
        raise TypeError("another")

    def good_ends_in_something_else():
        raise ValueError("good programs do not raise")

    def good_look_alike():
        return [0][0]

    def bad_not_installed():
        import no_such_package

    def good_not_installed():
        raise unittest.SkipTest("not here")

    def helper():
        pass
"""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    return run(tmp_path_factory.mktemp("fixtures"), IMMUTABLE, STORES)


def test_a_fixture_holds_if_bad_shows_the_bug_and_good_does_not(stores: dict[str, Result]) -> None:
    assert {scenario: result.ok for scenario, result in stores.items()} == {
        "right": True,
        "without_the_bug": False,
        "twin_has_it_too": False,
        "ends_in_something_else": False,
        "look_alike": True,
        "not_installed": True,
    }


def test_an_exception_is_told_with_its_line(stores: dict[str, Result]) -> None:
    bad = stores["right"].bad
    assert bad
    assert bad.text.startswith("TypeError: JAX arrays are immutable") or "immutable" in bad.text
    assert bad.lines == (8,)


def test_another_exception_is_a_failure_and_told(stores: dict[str, Result]) -> None:
    result = stores["ends_in_something_else"]
    assert result.bad
    assert (result.bad.outcome, result.bad.text) == ("failed", "TypeError: another")
    assert (result.good.outcome, result.good.text) == ("failed", "ValueError: good programs do not raise")


def test_what_is_not_installed_is_skipped_and_told(stores: dict[str, Result]) -> None:
    result = stores["not_installed"]
    assert result.skipped
    assert (result.good.outcome, result.good.text) == ("skipped", "not here")


def test_a_look_alike_has_no_bad_program(stores: dict[str, Result]) -> None:
    assert stores["look_alike"].bad is None


def test_the_platform_is_told(stores: dict[str, Result]) -> None:
    import jax

    assert {(result.platform.jax, result.platform.backend) for result in stores.values()} == {
        (jax.__version__, "cpu")
    }


def test_one_of_several_claims_is_enough(tmp_path: Path) -> None:
    results = run(
        tmp_path,
        AnyOf(IdenticalDraws(), KeyReuse()),
        """
        from jax import random

        def bad_equal():
            key = random.PRNGKey(0)
            return random.normal(key), random.normal(key)

        def good_equal():
            a, b = random.split(random.PRNGKey(0))
            return random.normal(a), random.normal(b)

        def bad_only_the_checker_objects():
            key = random.key(0)
            a, b = random.split(key)
            return random.normal(key), random.normal(b)

        def good_only_the_checker_objects():
            a, b = random.split(random.key(0))
            return random.normal(a), random.normal(b)

        def bad_legacy_keys_are_not_checked():
            key = random.PRNGKey(0)
            a, b = random.split(key)
            return random.normal(key), random.normal(b)

        def good_legacy_keys_are_not_checked():
            return good_equal()
        """,
    )
    bad = {scenario: result.bad for scenario, result in results.items()}
    assert [result.good.outcome for result in results.values()] == ["absent"] * 3
    assert bad["equal"]
    assert (bad["equal"].outcome, bad["equal"].text) == ("seen", "1 different of 2 draws")
    assert bad["only_the_checker_objects"]
    assert bad["only_the_checker_objects"].outcome == "seen"
    assert bad["only_the_checker_objects"].text.startswith("KeyReuseError")
    assert bad["only_the_checker_objects"].lines == (15,)
    assert bad["legacy_keys_are_not_checked"]
    assert bad["legacy_keys_are_not_checked"].outcome == "absent"


def test_counted_bytes_are_counted_in_a_process_of_their_own(tmp_path: Path) -> None:
    """What one scenario leaves behind, no other sees."""
    source = """
        import jax.numpy as jnp

        left_behind = []

        def bad_{0}():
            assert not left_behind or left_behind[0] == "{0}"
            left_behind.append("{0}")
            x = [jnp.ones((512, 512)) for _ in range(2)]

        def good_{0}():
            x = jnp.ones((512, 512))
    """
    results = run(tmp_path, KeepsAlive(1.4), "".join(source.format(name) for name in ("a", "b")))
    assert [result.ok for result in results.values()] == [True, True]


def test_a_program_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "TIME_LIMIT", 15.0)
    results = run(
        tmp_path,
        IMMUTABLE,
        """
        import time
        import jax.numpy as jnp

        def bad_stored():
            jnp.zeros(3)[0] = 1.0

        def good_stored():
            pass

        def bad_endless():
            time.sleep(600)

        def good_endless():
            pass
        """,
    )
    assert results["stored"].ok, "what was seen before stays"
    assert results["endless"].bad
    assert results["endless"].bad.text == "no answer within 15 seconds"


def test_a_process_that_dies_is_told(tmp_path: Path) -> None:
    results = run(
        tmp_path,
        IMMUTABLE,
        """
        import os
        import sys

        def bad_dies():
            sys.stderr.write("out of luck")
            sys.stderr.flush()
            os._exit(9)

        def good_dies():
            pass
        """,
    )
    bad = results["dies"].bad
    assert bad
    assert (bad.outcome, bad.text) == ("failed", "the process ended with status 9: out of luck")


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def bad_alone():\n    pass\n", "bad_alone has no twin good_alone"),
        ("def good_alone():\n    pass\n", "no function bad_"),
    ],
)
def test_a_fixture_file_not_made_as_it_should_be(tmp_path: Path, source: str, complaint: str) -> None:
    with pytest.raises(FixtureError, match=complaint):
        run(tmp_path, IMMUTABLE, source)


def test_a_rule_without_fixture_file(tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match="JAX999: no fixture file"):
        fixtures_of(make_rule(IMMUTABLE), tmp_path)
