"""What a streams group's heartbeat tells besides errors: the statuses, and topics that the tasks cannot run with."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from odradek.protocol.errors import ErrorCode, KafkaError


class TopicStatus(IntEnum):
    """The codes of a heartbeat's statuses."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5


class Status(NamedTuple):
    """One status and what is said about it."""

    code: TopicStatus
    detail: str


class TopicProblem(Exception):
    """The topics are not as the topology needs them; ``status`` is what members are told."""

    def __init__(self, code: TopicStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = Status(code, detail)


def internal_error() -> KafkaError:
    """Kafka does not say what is wrong with such a request."""
    return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)


def listed(topics: list[str]) -> str:
    """Up to three names, and how many more there are."""
    more = len(topics) - 3
    return ", ".join(topics[:3]) + (f" and {more} additional topics" if more > 0 else "")
