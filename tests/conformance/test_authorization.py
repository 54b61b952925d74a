"""A real Kafka with an authorizer gives the answers that odradek's are held against."""

from __future__ import annotations

from functools import partial

import pytest

from tests.conformance.real_kafka import RELEASE, Unavailable
from tests.fakes.vectors import vectors_of
from tests.scenarios.authorization import differing, kafka_with_users, log_in, recorded, tell_all

VECTORS = vectors_of("authorization", RELEASE)


def test_the_recorded_answers_are_kafkas() -> None:
    try:
        with kafka_with_users() as (_, port):
            told = tell_all(partial(log_in, port))
    except Unavailable as missing:
        pytest.skip(str(missing))
    assert differing(told, recorded(VECTORS)) == {}
