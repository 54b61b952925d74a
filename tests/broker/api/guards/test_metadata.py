"""Which topics a client sees, and which it may create by asking for them."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.commands import NewTopic
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Pattern, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask

ALICE = Principal("User", "alice")
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NOT_ASKED = -(1 << 31)


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(config=SECURED)
    for name in ("mine", "theirs"):
        made.controller.create_topic(NewTopic(name, 1, 1))
    allow(made, "User:alice", Operation.READ, Resource.TOPIC, "m", pattern=Pattern.PREFIXED)
    return made


def names(*asked: str, **fields: Any) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in asked], **fields)


def told(answer: Any) -> list[tuple[str | None, int]]:
    return [(topic.name, topic.error_code) for topic in answer.topics]


def test_a_list_of_all_topics_leaves_out_what_is_hidden(cluster: Cluster) -> None:
    for version, topics in ((0, []), (1, None), (13, None)):
        assert told(ask(cluster, MetadataRequest(topics=topics), version, principal=ALICE)) == [("mine", 0)]
    assert not cluster.services.denials.entries
    assert len(ask(cluster, MetadataRequest(topics=None)).topics) == 2


def test_a_topic_that_is_asked_for_is_denied_whether_it_exists_or_not(cluster: Cluster) -> None:
    answer = ask(cluster, names("none", "theirs", "mine"), 13, principal=ALICE)
    assert told(answer) == [("mine", 0), ("none", DENIED), ("theirs", DENIED)]
    assert answer.topics[2].topic_id == bytes(16)
    assert "none" not in cluster.image.topics


def test_an_id_that_is_denied_has_no_name(cluster: Cluster) -> None:
    ids = [topic.topic_id for topic in cluster.image.topics.values()]
    asked = [MetadataRequestTopic(topic_id, None) for topic_id in (ids[1], b"1" * 16, ids[0])]
    answer = ask(cluster, MetadataRequest(topics=asked), 12, principal=ALICE)
    assert told(answer) == [(None, ErrorCode.UNKNOWN_TOPIC_ID), ("mine", 0), (None, DENIED)]
    assert answer.topics[2].topic_id == ids[1]


def test_operations_are_told_of_what_is_shown(cluster: Cluster) -> None:
    asked = names("mine", "theirs", "mice", include_topic_authorized_operations=True, allow_auto_topic_creation=False)
    answer = ask(cluster, asked, 13, principal=ALICE)
    bits = [topic.topic_authorized_operations for topic in answer.topics]
    assert told(answer) == [("mine", 0), ("mice", UNKNOWN), ("theirs", DENIED)]
    assert bits == [1 << 3 | 1 << 8, 1 << 3 | 1 << 8, NOT_ASKED]
    # What the plain handler keeps is not spoilt by it.
    assert ask(cluster, asked, 13).topics[0].topic_authorized_operations == 3576


def test_operations_on_the_cluster_need_describe(cluster: Cluster) -> None:
    asked = names("mine", include_cluster_authorized_operations=True)
    assert ask(cluster, asked, 10, principal=ALICE).cluster_authorized_operations == 0
    allow(cluster, "User:alice", Operation.ALTER, Resource.CLUSTER, CLUSTER_NAME)
    assert ask(cluster, asked, 10, principal=ALICE).cluster_authorized_operations == 1 << 7 | 1 << 8
    assert ask(cluster, names("mine"), 10, principal=ALICE).cluster_authorized_operations == NOT_ASKED


@pytest.mark.parametrize("resource", [Resource.TOPIC, Resource.CLUSTER])
def test_creating_needs_a_right_on_the_topic_or_the_cluster(cluster: Cluster, resource: Resource) -> None:
    asked = names("mine", "more", allow_auto_topic_creation=True)
    assert told(ask(cluster, asked, 12, principal=ALICE)) == [("mine", 0), ("more", DENIED)]
    assert "more" not in cluster.image.topics
    name = "more" if resource is Resource.TOPIC else CLUSTER_NAME
    allow(cluster, "User:alice", Operation.CREATE, resource, name)
    assert told(ask(cluster, asked, 12, principal=ALICE)) == [("mine", 0), ("more", UNKNOWN)]
    assert told(ask(cluster, asked, 12, principal=ALICE)) == [("mine", 0), ("more", 0)]


def test_what_is_malformed_is_refused_as_without_an_authorizer(cluster: Cluster) -> None:
    by_id = MetadataRequest(topics=[MetadataRequestTopic(b"1" * 16, "x")])
    assert told(ask(cluster, by_id, 10, principal=ALICE)) == [("x", ErrorCode.INVALID_REQUEST)]
    assert told(ask(cluster, names("mine"), 13, principal=ALICE)) == [("mine", 0)]
