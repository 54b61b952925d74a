"""Topics and groups in pages."""

from __future__ import annotations

import pytest

import odradek


def test_topics_come_in_pages_by_name() -> None:
    with odradek.KafkaBroker(nodes=2, topics={f"t{number:02}": 1 for number in range(30)}) as broker:
        broker.create_topic("orders", 2, replication_factor=2)
        broker.produce_all("orders", [odradek.ProducerRecord(each, partition=0) for each in "abc"])
        broker.delete_records("orders", 0, before=1)
        page = broker.topic_page("t", start=28, limit=5)
        assert (page.total, [each.name for each in page.topics]) == (30, ["t28", "t29"])
        (found,) = broker.topic_page("rder").topics
        assert (found.partitions, found.records, found.end, found.leaderless, found.behind) == (2, 2, 3, 0, 0)
        assert found.size_bytes == sum(each.size_bytes for each in broker.topic("orders").partitions)
        broker.kill_node(2)
        (found,) = broker.topic_page("orders").topics
        assert (found.leaderless, found.behind) == (0, 2)
        assert broker.topic_page("t", start=99).topics == ()
        with pytest.raises(KeyError, match="no topic 'no'"):
            broker.topic("no")
        with pytest.raises(ValueError, match="pages are counted from 0"):
            broker.topic_page(start=-1)
        for limit in (0, 10_001):
            with pytest.raises(ValueError, match="1 to 10000 rows"):
                broker.topic_page(limit=limit)


def test_kafkas_own_topics_come_if_asked_for() -> None:
    with odradek.KafkaBroker(topics={"t": 1}) as broker:
        broker.set_offsets("g", {("t", 0): 0})
        assert [each.name for each in broker.topic_page().topics] == ["t"]
        names = {each.name: each.internal for each in broker.topic_page(internal=True).topics}
        assert names == {"t": False, "__consumer_offsets": True}


def test_groups_come_in_pages_by_id() -> None:
    with odradek.KafkaBroker(topics={"t": 1}) as broker:
        broker.produce_all("t", ["a", "b"])
        for number in range(12):
            broker.set_offsets(f"g{number:02}", {("t", 0): 1})
        page = broker.group_page("g", start=10, limit=1)
        assert page.total == 12
        (found,) = page.groups
        assert (found.group_id, found.state, found.members, found.lag) == ("g10", "Empty", 0, 1)
        assert broker.group_page("x").total == 0
