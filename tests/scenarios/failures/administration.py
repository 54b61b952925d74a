"""Stories of topics, nodes and reassignments while something is down."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.protocol.generated.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.protocol.generated.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.scenarios.failures.core import error
from tests.scenarios.failures.story import Story, story


def reassign(s: Story, asked: str, replicas: Iterable[int] | None) -> None:
    """AlterPartitionReassignments of the one partition; None cancels."""
    wanted = None if replicas is None else list(replicas)
    topics = [ReassignableTopic(s.real("t"), [ReassignablePartition(0, wanted)])]
    answer = s.begin(1, AlterPartitionReassignmentsRequest(60_000, topics=topics), 1).answer()
    each = answer.responses[0].partitions[0]
    s.note(f"reassign: {asked}", [error(answer.error_code), error(each.error_code), s.shown(each.error_message)])


def reassignments(s: Story, asked: str) -> None:
    """What ListPartitionReassignments shows."""
    topics = [ListPartitionReassignmentsTopics(s.real("t"), [0])]
    answer = s.begin(1, ListPartitionReassignmentsRequest(60_000, topics), 0).answer()
    under_way = [
        [each.replicas, each.adding_replicas, each.removing_replicas]
        for found in answer.topics
        for each in found.partitions
    ]
    s.note(f"reassignments: {asked}", [error(answer.error_code), under_way])


def cluster(s: Story, asked: str) -> None:
    """The brokers that DescribeCluster names, without and with fenced ones."""
    plain = s.ask(1, DescribeClusterRequest(), 2)
    whole = s.ask(1, DescribeClusterRequest(include_fenced_brokers=True), 2)
    s.note(
        f"cluster: {asked}",
        [
            sorted(each.broker_id for each in plain.brokers),
            sorted([each.broker_id, each.is_fenced] for each in whole.brokers),
        ],
    )


@story
def a_reassignment_is_held_and_cancelled(s: Story) -> None:
    """The new replica gets nothing: both sets are listed, and cancelling leaves the old one."""
    s.create("t", [1, 2])
    s.produce("all", 1, "t", "a")
    s.isolate(3)
    reassign(s, "from 2 to 3", [1, 3])
    reassignments(s, "under way")
    s.show("under way", "t", node=1)
    s.produce("meanwhile", 1, "t", "b")
    s.fetch("at the new replica", 3, "t", 0)
    reassign(s, "the same again", [1, 3])
    reassignments(s, "still under way")
    reassign(s, "cancelled", None)
    reassignments(s, "none")
    s.show("cancelled", "t", node=1)
    reassign(s, "cancelled again", None)


@story
def a_reassignment_completes(s: Story) -> None:
    """When the new replica has caught up the old one goes; a leader that is not to stay hands over."""
    s.create("t", [1, 2])
    s.produce("all", 1, "t", "a")
    s.isolate(3)
    reassign(s, "to 3 and 2", [3, 2])
    s.show("under way", "t", node=1)
    s.rejoin(3)
    s.until("the end", lambda: (p := s.partition("t")) and p.replica_nodes == [3, 2])
    s.await_leader("t", 3)
    s.await_high_watermark(3, "t", 1)
    reassignments(s, "done")
    s.show("done", "t", node=2)
    s.fetch("at the new leader", 3, "t", 0)
    s.fetch("at the old leader", 1, "t", 0)


@story
def a_reassignment_to_a_stopped_node(s: Story) -> None:
    """It is under way until the node is back; a replica that nobody has is refused."""
    s.create("t", [1, 2])
    s.produce("all", 1, "t", "a")
    s.stop(3)
    s.until("3 is fenced", lambda: len(s.ask(1, DescribeClusterRequest(), 2).brokers) == 2)
    reassign(s, "to an unknown node", [1, 9])
    reassign(s, "to the same twice", [1, 1])
    reassign(s, "to a stopped node", [1, 3])
    reassignments(s, "under way")
    s.show("under way", "t", node=1)
    s.start(3)
    s.until("the end", lambda: (p := s.partition("t")) and p.replica_nodes == [1, 3])
    s.await_isr("t", [1, 3])
    s.show("done", "t", node=1)


@story
def topics_while_a_node_is_down(s: Story) -> None:
    """They are created with it, and it gets them when it is back."""
    s.create("old")
    s.stop(3)
    s.until("3 is fenced", lambda: len(s.ask(1, DescribeClusterRequest(), 2).brokers) == 2)
    cluster(s, "one is down")

    def create(asked: str, name: str, *replicas: int, factor: int = -1) -> None:
        assigned = [CreatableReplicaAssignment(0, list(replicas))] if replicas else []
        topic = CreatableTopic(s.real(name), -1 if replicas else 1, factor, assigned)
        answer = s.begin(1, CreateTopicsRequest([topic], 60_000), 7).answer().topics[0]
        s.note(f"create: {asked}", [error(answer.error_code), s.shown(answer.error_message)])
        s.ids[name] = answer.topic_id

    create("three replicas", "three", factor=3)
    create("four replicas", "four", factor=4)
    create("led by the stopped one", "t", 3, 1, 2)
    create("at the stopped one alone", "alone", 3)
    s.await_leader("t", 1)
    s.show("led by the stopped one", "t", node=1)
    s.produce("to it", 1, "t", "a")
    request = DeleteTopicsRequest(topics=[DeleteTopicState(s.real("old"))], timeout_ms=60_000)
    s.note("delete", error(s.begin(1, request, 6).answer().responses[0].error_code))
    s.start(3)
    s.await_isr("t", [1, 2, 3])
    s.await_high_watermark(3, "t", 1)
    cluster(s, "it is back")
    s.fetch("the new topic, at the one that is back", 3, "t", 0)
    s.fetch("the deleted topic", 3, "old", 0, version=13)


@story
def records_are_deleted_at_all_replicas(s: Story) -> None:
    """DeleteRecords waits for the replicas in sync."""
    s.create("t")
    s.produce("all", 1, "t", "a")
    s.produce("all", 1, "t", "b")
    s.await_high_watermark(2, "t", 2)
    s.await_high_watermark(3, "t", 2)

    def delete(asked: str, node: int, before: int, timeout_ms: int = 60_000) -> None:
        topics = [DeleteRecordsTopic(s.real("t"), [DeleteRecordsPartition(0, before)])]
        found = s.begin(node, DeleteRecordsRequest(topics, timeout_ms), 2).answer().topics[0].partitions[0]
        s.note(f"delete records: {asked}", [error(found.error_code), found.low_watermark])

    delete("before 1", 1, 1)
    delete("at a follower", 2, 1)
    s.isolate(2)
    delete("before 2, a follower cut off, for 500 ms", 1, 2, 500)
    s.fetch("at the leader", 1, "t", 2)
    s.list_offset("earliest at the leader", 1, "t", -2)
    delete("beyond the end", 1, 5)
    s.rejoin(2)
    delete("before 2, all there", 1, 2)


@story
def a_leader_freezes(s: Story) -> None:
    """It is fenced when its session is over; thawed, it follows."""
    s.create("t")
    s.produce("all", 1, "t", "a")
    s.await_high_watermark(2, "t", 1)
    s.freeze(1)
    s.await_leader("t", 2)
    s.show("another leads", "t", node=2)
    s.await_high_watermark(2, "t", 1)
    s.produce("to the new leader", 2, "t", "b")
    s.thaw(1)
    s.await_isr("t", [1, 2, 3])
    s.await_high_watermark(1, "t", 2)
    s.fetch("at the old leader", 1, "t", 0)
    s.show("in the end", "t")
