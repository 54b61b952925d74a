"""What members hear of the share coordinator's errors."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.share_state.client import ShareStateClient
from odradek.broker.partitions.share.share_partition import StateWrite
from odradek.broker.partitions.share.states import ShareKey
from odradek.protocol.errors import ErrorCode, KafkaError


class Refusing:
    """A share coordinator with one answer."""

    def __init__(self, code: ErrorCode) -> None:
        self._code = code

    def ask_about(self, command: Any) -> Any:
        raise KafkaError(self._code, "why")


@pytest.mark.parametrize(
    ("code", "heard"),
    [
        (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.FENCED_STATE_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_errors(code: ErrorCode, heard: ErrorCode) -> None:
    service: Any = Refusing(code)
    client = ShareStateClient(lambda: service)
    key = ShareKey("g", bytes(16), 0)
    for ask in (lambda: client.read(key, 0), lambda: client.write(key, 0, 0, StateWrite(0, 0, []))):
        with pytest.raises(KafkaError) as caught:
            ask()
        assert (caught.value.code, caught.value.message) == (heard, "why")
