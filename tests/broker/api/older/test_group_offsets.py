"""OffsetCommit and OffsetFetch version 0 keep offsets of their own, where there is ZooKeeper."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.topic_control import NewTopic
from odradek.broker.security.acl import Operation, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask
from tests.fakes.message_formats import RELEASES, check_as_recorded

ALICE = Principal("User", "alice")
ZOOKEEPER = {"odradek.kafka.version": "2.8"}


def committing(*topics: str, metadata: str = "") -> OffsetCommitRequest:
    part = OffsetCommitRequestPartition(0, 7, committed_metadata=metadata)
    return OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic(name, partitions=[part]) for name in topics])


def test_an_older_offset_commit_with_long_metadata_is_refused() -> None:
    cluster = Cluster(config={**ZOOKEEPER, "offset.metadata.max.bytes": "3"})
    cluster.controller.create_topic(NewTopic("t", 1, 1))
    codes = [
        ask(cluster, committing("t", metadata=text), 0).topics[0].partitions[0].error_code for text in ("abc", "abcd")
    ]
    assert codes == [0, ErrorCode.OFFSET_METADATA_TOO_LARGE]


def test_older_offset_commit_without_a_right_on_the_topic_is_refused() -> None:
    cluster = Cluster(config={**SECURED, **ZOOKEEPER})
    for name in ("t", "theirs"):
        cluster.controller.create_topic(NewTopic(name, 1, 1))
    allow(cluster, "User:alice", Operation.READ, Resource.TOPIC, "t")
    allow(cluster, "User:alice", Operation.READ, Resource.GROUP, "g")
    committed = ask(cluster, committing("t", "theirs"), 0, principal=ALICE)
    codes = [topic.partitions[0].error_code for topic in committed.topics]
    assert codes == [0, ErrorCode.TOPIC_AUTHORIZATION_FAILED]
    request = OffsetFetchRequest("g", [OffsetFetchRequestTopic(name, [0]) for name in ("t", "theirs")])
    found = [topic.partitions[0] for topic in ask(cluster, request, 0, principal=ALICE).topics]
    assert [(row.committed_offset, row.error_code) for row in found] == [
        (7, 0),
        (-1, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_older_offset_requests_are_answered_as_recorded(release: str) -> None:
    check_as_recorded("group_offsets", release)
