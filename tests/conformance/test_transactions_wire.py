"""A real Kafka gives the answers that odradek's are held against (tests/broker/api/test_transactions.py)."""

from __future__ import annotations

from tests.fakes.vectors import recorded
from tests.scenarios.target import Target
from tests.scenarios.transactions_wire import tell_all


def test_transaction_requests_are_answered_as_recorded(target: Target) -> None:
    assert tell_all(target.bootstrap) == recorded("transactions_wire")
