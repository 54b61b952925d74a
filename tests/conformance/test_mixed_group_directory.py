"""A group of classic and consumer members in a log directory that goes between odradek and a real Kafka, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.protocol.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    assigned_partitions,
    encode_assignment,
    encode_subscription,
)
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from odradek.protocol.generated.stored.consumer_protocol_subscription import TopicPartition
from tests.conformance.foreign_kafka import ForeignKafka, static_voters
from tests.conformance.test_consumer_group_directory import CONFIG, GROUP, SOURCE, Members, given
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk

TIMEOUT_MS = 600_000


class Mixed(Members):
    """The consumer member "a", and a classic member."""

    classic = ""
    generation = 0

    def join_classic(self, *owned: int) -> int:
        """The classic member joins, in the end as who it is; tells its generation."""
        rows = [TopicPartition(SOURCE, list(owned))] if owned else []
        metadata = encode_subscription(ConsumerProtocolSubscription([SOURCE], owned_partitions=rows), 1)
        request = JoinGroupRequest(
            GROUP,
            session_timeout_ms=TIMEOUT_MS,
            rebalance_timeout_ms=TIMEOUT_MS,
            member_id=Mixed.classic,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol("range", metadata)],
        )
        reply = self.client.request(request, 6)
        if reply.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            Mixed.classic = reply.member_id
            return self.join_classic(*owned)
        assert reply.error_code == 0
        Mixed.generation = reply.generation_id
        return int(reply.generation_id)

    def sync_classic(self, *assigned: int) -> list[int]:
        """What the classic member gets; ``assigned``: what it assigns as a leader."""
        rows = ConsumerProtocolAssignment([AssignedPartitions(SOURCE, list(assigned))])
        assignments = [SyncGroupRequestAssignment(Mixed.classic, encode_assignment(rows))] if assigned else []
        request = SyncGroupRequest(GROUP, Mixed.generation, Mixed.classic, assignments=assignments)
        reply = self.client.request(request, 4)
        assert reply.error_code == 0
        return sorted(assigned_partitions(bytes(reply.assignment)).get(SOURCE, ()))

    def beat_classic(self) -> ErrorCode:
        request = HeartbeatRequest(GROUP, Mixed.generation, Mixed.classic)
        return ErrorCode(self.client.request(request, 4).error_code)

    def leave(self, member: str) -> None:
        assert self.client.request(LeaveGroupRequest(GROUP, members=[MemberIdentity(member)]), 4).error_code == 0


def _make_topic(members: Members) -> None:
    request = CreateTopicsRequest([CreatableTopic(SOURCE, 4, 1)], timeout_ms=10_000)
    assert members.client.request(request, 5).topics[0].error_code in (0, ErrorCode.TOPIC_ALREADY_EXISTS)


def _upgrade(bootstrap: str) -> Any:
    """A classic member that has everything; a consumer member joins and waits for its half."""
    with Mixed(bootstrap) as group:
        _make_topic(group)
        Mixed.classic = ""
        group.join_classic()
        assert group.sync_classic(0, 1, 2, 3) == [0, 1, 2, 3]
        assert given(group.join("a")) == []
        assert group.beat_classic() is ErrorCode.REBALANCE_IN_PROGRESS
        return group.describe()


def _go_on(bootstrap: str, left: Any) -> Any:
    """The other broker: the classic member gives up half, the consumer member takes it."""
    with Mixed(bootstrap) as group:
        assert group.describe() == left
        assert group.beat_classic() is ErrorCode.REBALANCE_IN_PROGRESS
        group.join_classic(0, 1, 2, 3)
        kept = group.sync_classic()
        assert len(kept) == 2
        group.join_classic(*kept)
        assert group.sync_classic() == kept
        epoch = left["groupEpoch"]
        assert sorted([*given(group.beat("a", epoch)), *kept]) == [0, 1, 2, 3]
        assert group.beat_classic() is ErrorCode.NONE
        wait_until("a stable group", lambda: group.describe()["groupState"] == "Stable")
        return group.describe()


def _downgrade(bootstrap: str, left: Any) -> None:
    """The first broker again: the consumer member leaves, what is left is a classic group."""
    with Mixed(bootstrap) as group:
        assert group.describe() == left
        assert group.beat_classic() is ErrorCode.NONE
        group.leave("a")
        assert group.beat_classic() is ErrorCode.REBALANCE_IN_PROGRESS
        group.join_classic()
        assert group.sync_classic(0, 1, 2, 3) == [0, 1, 2, 3]


@pytest.mark.parametrize("first", ["odradek", "kafka"])
def test_a_mixed_group_goes_on_with_the_other_broker(tmp_path: Path, first: str) -> None:
    kafka = ForeignKafka(1, tmp_path)
    kafka.quorum = {**static_voters([kafka]), **CONFIG}

    @contextmanager
    def ours() -> Iterator[str]:
        with odradek.KafkaBroker(data_dir=kafka.log_dir, config=CONFIG) as broker:
            yield broker.bootstrap_servers

    @contextmanager
    def theirs() -> Iterator[str]:
        with kafka.running():
            yield kafka.bootstrap_servers

    start, other = (ours, theirs) if first == "odradek" else (theirs, ours)
    with start() as bootstrap:
        left = _upgrade(bootstrap)
    with other() as bootstrap:
        left = _go_on(bootstrap, left)
    with start() as bootstrap:
        _downgrade(bootstrap, left)
