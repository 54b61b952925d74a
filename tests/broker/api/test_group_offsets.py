"""OffsetCommit, OffsetFetch and OffsetDelete: where errors stand, and what only some versions have."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.fakes.data_plane import DataPlane, without_tasks

E = ErrorCode


@pytest.fixture
def plane() -> DataPlane:
    plane = DataPlane(nodes=2, topics={"t": 2})
    without_tasks(plane.cluster)
    plane.cluster.groups.topic.ensure()
    return plane


def home(plane: DataPlane) -> int:
    return int(plane.cluster.groups.leader_for("g"))


def commit(plane: DataPlane, *topics: tuple[str, list[int]], version: int = 9, node: int | None = None) -> Any:
    rows = []
    for name, partitions in topics:
        found = plane.cluster.topics.get(name)
        parts = [OffsetCommitRequestPartition(p, 10 + p, 0, committed_metadata="m") for p in partitions]
        rows.append(OffsetCommitRequestTopic(name, found.topic_id if found else b"\1" * 16, parts))
    response = plane.call(OffsetCommitRequest("g", topics=rows), version, node=node or home(plane))
    return [(t.name, [(p.partition_index, p.error_code) for p in t.partitions]) for t in response.topics]


def test_offset_commit_refuses_unknown_partitions_and_stores_the_rest(plane: DataPlane) -> None:
    assert commit(plane, ("t", [0, 5, 1, -1]), ("nope", [0])) == [
        ("t", [(5, E.UNKNOWN_TOPIC_OR_PARTITION), (-1, E.UNKNOWN_TOPIC_OR_PARTITION), (0, E.NONE), (1, E.NONE)]),
        ("nope", [(0, E.UNKNOWN_TOPIC_OR_PARTITION)]),
    ]
    assert commit(plane, ("nope", [0]), version=10) == [("nope", [(0, E.UNKNOWN_TOPIC_ID)])]
    assert commit(plane, ("t", [1]), version=10) == [("t", [(1, E.NONE)])]


def test_a_group_error_is_repeated_for_each_partition(plane: DataPlane) -> None:
    other = 3 - home(plane)
    assert commit(plane, ("t", [0, 1]), node=other) == [("t", [(0, E.NOT_COORDINATOR), (1, E.NOT_COORDINATOR)])]


def test_fetching_from_the_wrong_node(plane: DataPlane) -> None:
    other = 3 - home(plane)
    with pytest.raises(KafkaError) as caught:
        plane.call(OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0])]), 7, node=other)
    assert caught.value.code is E.NOT_COORDINATOR
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g"), OffsetFetchRequestGroup("h")])
    groups = plane.call(request, 9, node=other).groups
    assert groups[0].error_code == E.NOT_COORDINATOR
    assert groups[0].topics == []


def test_offsets_of_a_topic_that_is_gone_are_not_named_by_id(plane: DataPlane) -> None:
    commit(plane, ("t", [0]))
    machine = plane.cluster.groups.machine_for("g")
    ((place, offset),) = machine.stored.offsets["g"].items()
    machine.stored.offsets["g"]["gone", 0] = offset
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
    by_name = plane.call(request, 9, node=home(plane)).groups[0].topics
    assert sorted(topic.name for topic in by_name) == ["gone", "t"]
    by_id = plane.call(request, 10, node=home(plane)).groups[0].topics
    assert [topic.topic_id for topic in by_id] == [plane.cluster.topics.get(place[0]).topic_id]  # type: ignore[union-attr]


def test_offset_fetch_of_all_lists_in_the_order_of_the_first_commits(plane: DataPlane) -> None:
    """Kafka lists partitions 0 and 1 in this order, whichever was committed first."""
    commit(plane, ("t", [1]))
    commit(plane, ("t", [0]))
    commit(plane, ("t", [1]))
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
    ((topic,),) = [group.topics for group in plane.call(request, 9, node=home(plane)).groups]
    assert [row.partition_index for row in topic.partitions] == [1, 0]


def test_offset_fetch_by_topic_id_answers_unknown_ids_apart(plane: DataPlane) -> None:
    commit(plane, ("t", [1]))
    topic = plane.cluster.topics.get("t")
    assert topic is not None
    topics = [
        OffsetFetchRequestTopics(topic_id=topic.topic_id, partition_indexes=[0, 1]),
        OffsetFetchRequestTopics(topic_id=b"\1" * 16, partition_indexes=[0]),
    ]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=topics)])
    known, unknown = plane.call(request, 10, node=home(plane)).groups[0].topics
    assert [(p.partition_index, p.committed_offset) for p in known.partitions] == [(0, -1), (1, 11)]
    assert unknown.partitions[0].error_code == E.UNKNOWN_TOPIC_ID


def test_offset_delete_removes_offsets(plane: DataPlane) -> None:
    commit(plane, ("t", [0, 1]))
    rows = [
        OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(p) for p in (0, 9)]),
        OffsetDeleteRequestTopic("nope", [OffsetDeleteRequestPartition(0)]),
    ]
    response = plane.call(OffsetDeleteRequest("g", rows), 0, node=home(plane))
    assert [(t.name, [(p.partition_index, p.error_code) for p in t.partitions]) for t in response.topics] == [
        ("t", [(9, E.UNKNOWN_TOPIC_OR_PARTITION), (0, E.NONE)]),
        ("nope", [(0, E.UNKNOWN_TOPIC_OR_PARTITION)]),
    ]
    with pytest.raises(KafkaError) as caught:
        plane.call(OffsetDeleteRequest("no-group", []), 0, node=int(plane.cluster.groups.leader_for("no-group")))
    assert caught.value.code is E.GROUP_ID_NOT_FOUND
