"""What a test is told of a topic or partition that there is not: the same by each verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.broker.partitions.lookups import find_partitions
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.brokers import broker_fixture

_TOPIC = "no topic 'ordres' (did you mean 'orders'?); create_topic('ordres') makes one"
_PARTITION = "topic 'orders' has no partition 7, it has 2, counted from 0"

_VERBS: dict[str, Callable[[KafkaBroker, str, int], Any]] = {
    "records": lambda broker, topic, partition: broker.records(topic, partition),
    "wait": lambda broker, topic, partition: broker.topic(topic).wait(1, partition=partition),
    "produce": lambda broker, topic, partition: broker.produce(topic, "book", partition=partition),
    "delete_records": lambda broker, topic, partition: broker.topic(topic).delete_records(partition, before=0),
    "move_leader": lambda broker, topic, partition: broker.topic(topic).move_leader(partition, 1),
    "elect": lambda broker, topic, partition: broker.topic(topic).elect(partition),
    "reassign": lambda broker, topic, partition: broker.topic(topic).reassign(partition, [1]),
    "pause_replication": lambda broker, topic, partition: broker.topic(topic).pause_replication(partition, 1),
    "lag_replication": lambda broker, topic, partition: broker.topic(topic).lag_replication(partition, 1, records=1),
    "fail_disk": lambda broker, topic, partition: broker.fail_disk(1, topic=topic, partition=partition),
}
_OF_TOPICS: dict[str, Callable[[KafkaBroker, str], Any]] = {
    "info": lambda broker, topic: broker.topic(topic).info,
    "partitions": lambda broker, topic: broker.topic(topic).partitions,
    "config": lambda broker, topic: broker.topic(topic).config,
    "delete": lambda broker, topic: broker.topic(topic).delete(),
}
broker = broker_fixture(scope="module", topics={"orders": 2})


@pytest.mark.parametrize("verb", _VERBS)
def test_each_verb_says_the_same_of_what_there_is_not(broker: KafkaBroker, verb: str) -> None:
    for topic, partition, told in (("ordres", 0, _TOPIC), ("orders", 7, _PARTITION)):
        with pytest.raises(KafkaError) as refused:
            _VERBS[verb](broker, topic, partition)
        assert (refused.value.code, refused.value.message) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, told)


@pytest.mark.parametrize("verb", _OF_TOPICS)
def test_what_has_no_partition_says_it_of_the_topic(broker: KafkaBroker, verb: str) -> None:
    with pytest.raises(KafkaError) as refused:
        _OF_TOPICS[verb](broker, "ordres")
    assert refused.value.message == _TOPIC


def test_find_partitions_finds_one_or_all(broker: KafkaBroker) -> None:
    topics = broker.cluster.topics
    assert [each.index for each in find_partitions(topics, "orders", None)] == [0, 1]
    assert [each.index for each in find_partitions(topics, "orders", 1)] == [1]


def test_a_node_that_has_no_follower_is_not_told_to_name_one(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match=r"^node 1 leads orders-0; it has no follower$"):
        broker.topic("orders").pause_replication(0, 1)
