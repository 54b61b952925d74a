"""The table of rights (tests/scenarios/authorization.py) over a SASL listener: users log in, tokens too."""

from __future__ import annotations

from functools import partial

from tests.conformance.real_kafka import RELEASE
from tests.fakes.vectors import vectors_of
from tests.scenarios.authorization import broker_with_users, differing, log_in, recorded, tell_all


def test_requests_of_users_with_and_without_rights_are_answered_as_recorded(side: str) -> None:
    with broker_with_users(side) as port:
        told = tell_all(partial(log_in, port))
    assert differing(told, recorded(vectors_of("authorization", RELEASE))) == {}
