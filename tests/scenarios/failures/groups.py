"""Stories of groups whose coordinator fails."""

from __future__ import annotations

from typing import Any

from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.scenarios.failures.core import Pending, error
from tests.scenarios.failures.story import Story, story

MINUTE_MS = 60_000
AGAIN = ("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE")
"""What a node answers that is becoming the coordinator: a client asks again."""


def coordinator(s: Story, key: str, kind: int, node: int) -> None:
    """Wait until a node names another one as the coordinator that is not down, and write down which."""

    def found() -> Any:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[s.real(key)])
        each = s.ask(node, request, 6).coordinators[0]
        return each if each.error_code == 0 and each.node_id in s.live() else None

    s.note(f"coordinator of {key}, as node {node} knows it", s.until("a coordinator", found).node_id)


def _loaded(answer: Any) -> Any:
    """The answer, None if it says that the coordinator is not ready."""
    return None if error(answer.error_code) in AGAIN else answer


def _assigned(answer: Any) -> int:
    """The epoch of a member that has a partition; Kafka's coordinator may learn of the topic a moment later."""
    assigned = answer.error_code == 0 and answer.assignment is not None and answer.assignment.topic_partitions
    return int(answer.member_epoch) if assigned else 0


class Member:
    """The one member of the classic group "group", with what the coordinator told it."""

    def __init__(self, s: Story, node: int) -> None:
        self.s, self.id, self.generation = s, "", -1
        protocols = [JoinGroupRequestProtocol("range", b"")]
        for _ in range(2):  # the first time it is told its id
            request = JoinGroupRequest(
                s.real("group"), MINUTE_MS, MINUTE_MS, self.id, protocol_type="consumer", protocols=protocols
            )
            answer = s.until("a loaded coordinator", lambda r=request: _loaded(s.begin(node, r, 7).answer()))  # type: ignore[misc]
            self.id, self.generation = answer.member_id, answer.generation_id
        assigned = [SyncGroupRequestAssignment(self.id, b"all")]
        sync = SyncGroupRequest(s.real("group"), self.generation, self.id, assignments=assigned)
        answer = s.begin(node, sync, 4).answer()
        s.note("joined", [error(answer.error_code), self.generation, bytes(answer.assignment).decode()])

    def heartbeat(self, asked: str, node: int) -> None:
        request = HeartbeatRequest(self.s.real("group"), self.generation, self.id)
        answer = self.s.begin(node, request, 4).answer()
        self.s.note(f"heartbeat: {asked}", error(answer.error_code))

    def commit_begin(self, node: int, offset: int) -> Pending:
        partition = OffsetCommitRequestPartition(0, offset, -1, committed_metadata="")
        topics = [OffsetCommitRequestTopic(self.s.real("t"), self.s.ids["t"], [partition])]
        return self.s.begin(node, OffsetCommitRequest(self.s.real("group"), self.generation, self.id, topics=topics), 8)

    def commit(self, asked: str, node: int, offset: int) -> None:
        self.note_committed(asked, self.commit_begin(node, offset))

    def note_committed(self, asked: str, pending: Pending) -> None:
        self.s.note(f"commit: {asked}", error(pending.answer().topics[0].partitions[0].error_code))

    def committed(self, asked: str, node: int, *, after: int | None = None) -> None:
        """Write down the committed offset; ``after`` a move of the coordinator, once it has loaded this one.

        Kafka's new coordinator answers with what lies below its high watermark, which may be behind at first.
        """
        group = OffsetFetchRequestGroup(
            self.s.real("group"), topics=[OffsetFetchRequestTopics(self.s.real("t"), b"", [0])]
        )

        def found() -> Any:
            each = self.s.begin(node, OffsetFetchRequest(groups=[group]), 8).answer().groups[0]
            offsets = [partition.committed_offset for topic in each.topics for partition in topic.partitions]
            return [error(each.error_code), offsets] if after is None or offsets == [after] else None

        self.s.note(f"committed: {asked}", self.s.until("offsets that are loaded", found))


@story
def a_group_outlives_its_coordinator(s: Story) -> None:
    """Members, generation and offsets are there after a crash; nobody joins anew."""
    s.create_coordinators()
    s.create("t", [3, 2, 1])
    coordinator(s, "group", 0, 2)
    member = Member(s, 1)
    member.commit("at the coordinator", 1, 5)
    member.heartbeat("at another node", 2)
    member.commit("at another node", 2, 6)
    s.kill(1)
    s.await_leader("__consumer_offsets", 2)
    coordinator(s, "group", 0, 3)
    member.committed("at the new coordinator", 2, after=5)
    member.heartbeat("at the new coordinator", 2)
    member.commit("at the new coordinator", 2, 7)
    member.committed("again", 2)
    s.start(1)
    s.await_isr("__consumer_offsets", [1, 2, 3])
    member.heartbeat("at the old coordinator", 1)
    coordinator(s, "group", 0, 1)
    s.elect("the preferred one", "__consumer_offsets")
    s.await_leader("__consumer_offsets", 1)
    member.committed("where it was at first", 1, after=7)
    member.heartbeat("where it was at first", 1)
    member.heartbeat("where it was until now", 2)


@story
def a_consumer_group_outlives_its_coordinator(s: Story) -> None:
    """The same of a group of the consumer protocol: member, epoch and assignment stay."""
    s.create_coordinators()
    s.create("t", [3, 2, 1])

    def beat(asked: str, node: int, epoch: int, *, patient: bool = False) -> int:
        request = ConsumerGroupHeartbeatRequest(s.real("group"), "m", epoch)

        def found() -> Any:
            answer = s.begin(node, request, 1).answer()
            return _loaded(answer) if patient else answer

        each = s.until("a loaded group", found)
        given = None if each.assignment is None else [part.partitions for part in each.assignment.topic_partitions]
        s.note(f"heartbeat: {asked}", [error(each.error_code), each.member_epoch - epoch, given])
        return int(each.member_epoch)

    first = ConsumerGroupHeartbeatRequest(
        s.real("group"),
        "m",
        0,
        rebalance_timeout_ms=MINUTE_MS,
        subscribed_topic_names=[s.real("t")],
        topic_partitions=[],
    )
    epoch = s.until("its assignment", lambda: _assigned(s.begin(1, first, 1).answer()))
    beat("is a member", 1, epoch)
    beat("at another node", 2, epoch)
    s.stop(1)
    s.await_leader("__consumer_offsets", 2)
    epoch = beat("at the new coordinator", 2, epoch, patient=True)
    beat("with an epoch to come", 2, epoch + 1)
    s.start(1)
    s.await_isr("__consumer_offsets", [1, 2, 3])
    beat("at the old coordinator", 1, epoch)
    beat("leaves", 2, -1)


@story
def a_commit_waits_for_replicas(s: Story) -> None:
    """Offsets are committed when the replicas in sync have them, and not visible before."""
    s.create_coordinators()
    s.create("t", [3, 2, 1])
    member = Member(s, 1)
    member.commit("while all are there", 1, 5)
    s.isolate(1, 2)
    waiting = member.commit_begin(1, 6)
    s.cluster.pass_time(0.5)
    s.note("answered at once", waiting.answered())
    member.committed("meanwhile", 1)
    s.await_isr("__consumer_offsets", [1, 3])
    member.note_committed("without the follower", waiting)
    member.committed("then", 1)
