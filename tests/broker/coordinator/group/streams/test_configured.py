"""Topologies held against the topics."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.configured import ConfiguredTopology, configure
from odradek.broker.coordinator.group.streams.problems import TopicStatus
from odradek.broker.coordinator.group.streams.topology import Subtopology, TopicInfo, Topology
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, Topics


def status(configured: ConfiguredTopology) -> tuple[TopicStatus, str]:
    assert configured.problem is not None
    assert not configured.is_ready
    return configured.problem


def test_ready() -> None:
    configured = configure(COUNTING, Topics(t=3, **{"counts-changelog": 3}))
    assert configured.is_ready
    assert configured.subtopologies is not None
    one = configured.subtopologies["0"]
    assert (one.tasks, one.is_stateful, one.declared.changelogs[0].partitions) == (3, True, 3)
    assert configured.missing == []


def test_missing_internal_topics_are_listed_with_their_counts() -> None:
    configured = configure(COUNTING, Topics(t=3))
    assert status(configured) == (
        TopicStatus.MISSING_INTERNAL_TOPICS,
        "Internal topics are missing: counts-changelog",
    )
    assert configured.missing == [TopicInfo("counts-changelog", 3)]


def test_missing_sources() -> None:
    assert status(configure(PLAIN, Topics(u=1))) == (TopicStatus.MISSING_SOURCE_TOPICS, "Source topics t are missing.")
    many = Topology(0, {"0": Subtopology("0", ("e", "b", "a", "d"))})
    text = "Source topics a, b, d and 1 additional topics are missing."
    assert status(configure(many, Topics(u=1))) == (TopicStatus.MISSING_SOURCE_TOPICS, text)


def test_an_internal_topic_of_the_wrong_size() -> None:
    configured = configure(COUNTING, Topics(t=3, **{"counts-changelog": 2}))
    text = "Existing topic counts-changelog has different number of partitions: expected 3, found 2"
    assert status(configured) == (TopicStatus.INCORRECTLY_PARTITIONED_TOPICS, text)


@pytest.mark.parametrize(
    "changelogs",
    [
        (TopicInfo("a"), TopicInfo("a")),
        (TopicInfo("no name"),),
        (TopicInfo("a", configs=(("k", "1"), ("k", "2"))),),
        (TopicInfo("a", partitions=-1),),
    ],
)
def test_what_kafka_does_not_explain(changelogs: tuple[TopicInfo, ...]) -> None:
    with pytest.raises(KafkaError) as error:
        configure(Topology(0, {"0": Subtopology("0", ("t",), changelogs=changelogs)}), Topics(t=1))
    assert error.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_missing_topics_in_the_order_in_which_kafka_names_them() -> None:
    """Seen on a real Kafka 4.3.1."""
    names = ("e466-changelog", "g149-changelog", "f846-changelog")
    for declared in (names, tuple(reversed(names))):
        changelogs = tuple(TopicInfo(name) for name in declared)
        configured = configure(Topology(0, {"0": Subtopology("0", ("t",), changelogs=changelogs)}), Topics(t=4))
        assert status(configured)[1] == ("Internal topics are missing: f846-changelog, e466-changelog, g149-changelog")
