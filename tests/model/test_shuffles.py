"""One key that shuffles several arrays is meant; one that shuffles the same again is not."""

from __future__ import annotations

import pytest
from model.reveal import findings

HEAD = "from jax import random\n\n\ndef f(key, x, y, n):\n"


@pytest.mark.parametrize("data", ["n", "100", "x"])
def test_the_same_shuffle_again_is_reported(data: str) -> None:
    body = f"    for _ in range(3):\n        random.permutation(key, {data})\n"
    assert [code for _, code in findings(HEAD + body)] == ["JAX202"]


def test_shuffles_in_unison_are_meant() -> None:
    assert not findings(HEAD + "    return random.permutation(key, x), random.permutation(key, y)\n")
