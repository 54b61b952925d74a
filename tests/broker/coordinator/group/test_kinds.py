"""What clients get when the log refuses a record."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.kinds import commit_error, group_error
from odradek.protocol.errors import ErrorCode as E


@pytest.mark.parametrize(
    ("log", "group", "commit"),
    [
        (E.UNKNOWN_TOPIC_OR_PARTITION, E.COORDINATOR_NOT_AVAILABLE, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR, E.NOT_COORDINATOR),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR, E.NOT_COORDINATOR),
        (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR, E.INVALID_COMMIT_OFFSET_SIZE),
        (E.RECORD_LIST_TOO_LARGE, E.UNKNOWN_SERVER_ERROR, E.INVALID_COMMIT_OFFSET_SIZE),
        (E.INVALID_TIMESTAMP, E.INVALID_TIMESTAMP, E.INVALID_TIMESTAMP),
    ],
)
def test_the_logs_error_becomes_kafkas_choice(log: E, group: E, commit: E) -> None:
    assert (group_error(log), commit_error(log)) == (group, commit)
