"""A real Kafka with an authorizer gives the answers that odradek's are held against."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.conformance.real_kafka import Unavailable
from tests.scenarios.authorization import differing, kafka_with_users, log_in, recorded, tell_all

VECTORS = Path(__file__).parents[1] / "vectors" / "authorization.json.gz"


def test_the_recorded_answers_are_kafkas() -> None:
    try:
        with kafka_with_users() as (_, port):
            told = tell_all(partial(log_in, port))
    except Unavailable as missing:
        pytest.skip(str(missing))
    assert differing(told, recorded(VECTORS)) == {}
