"""What producers hear of a log that took no record. Source: TransactionStateManager of Kafka 4.3.1."""

from __future__ import annotations

from odradek.broker.coordinator.transaction.refusals import refusal
from odradek.protocol.errors import ErrorCode as E


def test_producers_are_told_to_look_again_or_elsewhere() -> None:
    assert refusal(E.NOT_ENOUGH_REPLICAS) is E.COORDINATOR_NOT_AVAILABLE
    assert refusal(E.REQUEST_TIMED_OUT) is E.COORDINATOR_NOT_AVAILABLE
    assert refusal(E.NOT_LEADER_OR_FOLLOWER) is E.NOT_COORDINATOR
    assert refusal(E.KAFKA_STORAGE_ERROR) is E.NOT_COORDINATOR
    assert refusal(E.MESSAGE_TOO_LARGE) is E.UNKNOWN_SERVER_ERROR
    assert refusal(E.CORRUPT_MESSAGE) is E.CORRUPT_MESSAGE
