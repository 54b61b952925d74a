"""A short duel. Its seed is a new one each time: what it finds is printed as a conversation that `--replay` takes."""

from __future__ import annotations

import secrets

import pytest

from tests.conformance.duel.duel import Duel, run
from tests.conformance.duel.steps import written
from tests.conformance.duel.targets import both, served_by_both
from tests.conformance.duel.ways import WAYS
from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, Unavailable

REQUESTS = 3000
AT_MOST_S = 100
"""A slow machine asks fewer."""


@pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="other releases have a way of their own")
@pytest.mark.parametrize("way", ["sane"])
def test_odradek_and_kafka_answer_alike(way: str) -> None:
    seed = secrets.token_hex(4)
    print(f"make duel WAY={way} SEED={seed} REQUESTS={REQUESTS}")
    try:
        with both(WAYS[way]) as sides:
            duel = Duel(sides, WAYS[way], served_by_both(sides))
            run(duel, REQUESTS, seed, at_most_s=AT_MOST_S)
            complaints = sides[0].complaints()
    except Unavailable as missing:
        pytest.skip(str(missing))
    told = [f"{found.kind}\n{written(found.steps)}" for found in duel.found.values() if found.again]
    assert not told, f"seed {seed}\n" + "\n".join(told)
    assert "bug in" not in complaints, complaints
    assert duel.requests > 100
