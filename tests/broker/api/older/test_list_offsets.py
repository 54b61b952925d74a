"""ListOffsets version 0 names where segments begin."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.topic_control import NewTopic
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.acls import SECURED
from tests.fakes.ask import ask
from tests.fakes.message_formats import RELEASES, check_as_recorded


def rolled() -> tuple[Cluster, list[int]]:
    """A topic whose segments begin at 0, 1 and 2, and were last changed at these times."""
    cluster = Cluster(config={"odradek.kafka.version": "3.9"})
    cluster.controller.create_topic(NewTopic("t", 1, 1))
    topic = cluster.topics.get("t")
    assert topic is not None
    now = cluster.clock.now_ms()
    times = [now - 2000, now - 1000, now]
    for at in times:
        if topic.partitions[0].log.log_end_offset:
            topic.partitions[0].log.roll(at)
        topic.partitions[0].append_plainly(build_batch([Record(0, at, b"k", b"v")]), at)
    return cluster, times


def offsets(cluster: Cluster, timestamp: int, count: int = 10, replica: int = -1) -> list[int]:
    part = ListOffsetsPartition(0, timestamp=timestamp, max_num_offsets=count)
    answer = ask(cluster, ListOffsetsRequest(replica, topics=[ListOffsetsTopic("t", [part])]), 0)
    found = answer.topics[0].partitions[0]
    assert found.error_code == 0
    return list(found.old_style_offsets)


def test_segments_are_named_from_the_latest_on() -> None:
    cluster, times = rolled()
    assert offsets(cluster, -1) == [3, 2, 1, 0]
    assert offsets(cluster, -1, 2) == [3, 2]
    assert offsets(cluster, -2) == [0]
    assert offsets(cluster, times[1]) == [1, 0]
    assert offsets(cluster, times[0] - 1) == []
    assert offsets(cluster, -1, -5) == []


def test_older_list_offsets_without_a_right_on_the_topic_is_refused() -> None:
    cluster = Cluster(config={**SECURED, "odradek.kafka.version": "3.9"})
    cluster.controller.create_topic(NewTopic("t", 1, 1))
    request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic("t", [ListOffsetsPartition(0, timestamp=-1)])])
    answer = ask(cluster, request, 0, principal=Principal("User", "alice"))
    assert answer.topics[0].partitions[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.mark.parametrize("release", RELEASES)
def test_older_list_offsets_is_answered_as_recorded(release: str) -> None:
    check_as_recorded("list_offsets", release)
