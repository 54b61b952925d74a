"""Being told when a topic changes."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.facade.call import BrokerClosedError
from odradek.broker.facade.topic_watch import TopicWatch


def test_it_is_told_of_records_of_what_it_looks_at() -> None:
    with KafkaBroker(topics={"t": 2}) as broker:
        partitions = broker.cluster.topics.by_name("t").partitions
        watch = TopicWatch("read_uncommitted")
        before = broker._call(lambda: watch.begin(partitions[:1], "read"))
        changed = broker._call(lambda: watch.begin(partitions[1:], "read"))
        broker.produce("t", "elsewhere", partition=0)
        assert not changed.done()
        broker.produce("t", "here", partition=1)
        changed.result(30)
        assert not before.done()
        broker._call(watch.forget)
        assert broker._call(lambda: [len(one.waiters) for one in partitions]) == [0, 0]


def test_a_broker_that_has_ended_is_told() -> None:
    watch = TopicWatch("read_uncommitted")
    with KafkaBroker(topics=["t"]) as broker:
        partitions = broker.cluster.topics.by_name("t").partitions
        broker._call(lambda: watch.begin(partitions, "read"))
    with pytest.raises(BrokerClosedError, match="while records were read"):
        watch.begin(partitions, "read")
