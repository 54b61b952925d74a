"""The broker at a glance, and topics and groups in pages."""

from __future__ import annotations

import pytest

import odradek
from odradek.broker.facade.groups.info import GroupInfo, OffsetInfo
from odradek.broker.facade.overview import PageLooks, group_summary
from odradek.protocol.errors import KafkaError


def looks(broker: odradek.KafkaBroker) -> PageLooks:
    return PageLooks(broker)


def test_everything_is_counted() -> None:
    with odradek.KafkaBroker(nodes=3, topics={"a": 2, "b": 1}) as broker:
        broker.produce("a", "v", transactional_id="tx", transaction="open")
        broker.produce("a", "v", transactional_id="done")
        broker.group("g").set_offsets({("a", 0): 0})
        broker.set_faults(odradek.Fault("Produce"))
        broker.kill_node(3)
        broker.clock.freeze()
        found = looks(broker).overview
        assert (found.topics, found.partitions, found.groups, found.transactions) == (2, 3, 1, 1)
        assert (found.nodes, found.nodes_up, found.faults, found.bugs, found.frozen) == (3, 2, 1, 0, True)
        assert (found.bootstrap_servers, found.registry, found.authorizer) == (broker.bootstrap_servers, False, False)
        assert found.kafka == "4.4"
        assert found.now_ms == broker.clock.now_ms()


def test_nodes_have_a_state_and_partitions() -> None:
    with odradek.KafkaBroker(nodes=3) as broker:
        broker.create_topic("t", 3, replication_factor=3)
        before = broker.nodes
        assert {each.state for each in before.values()} == {"up"}
        assert [each.controller for each in before.values()].count(True) == 1
        assert (sum(each.leads for each in before.values()), before[3].replicas, before[3].behind) == (3, 3, 0)
        assert f"{before[1].host}:{before[1].port}" in broker.bootstrap_servers
        broker.kill_node(3)
        broker.freeze_node(2)
        after = broker.nodes
        assert {number: each.state for number, each in after.items()} == {1: "up", 2: "frozen", 3: "down"}
        assert (after[3].leads, after[3].behind) == (0, 3)


def test_topics_come_in_pages_by_name() -> None:
    with odradek.KafkaBroker(nodes=2, topics={f"t{number:02}": 1 for number in range(30)}) as broker:
        broker.create_topic("orders", 2, replication_factor=2)
        broker.produce_all("orders", [odradek.ProducerRecord(each, partition=0) for each in "abc"])
        broker.topic("orders").delete_records(0, before=1)
        page = looks(broker).topic_page("t", start=28, limit=5)
        assert (page.total, [each.name for each in page.topics]) == (30, ["t28", "t29"])
        (found,) = looks(broker).topic_page("rder").topics
        assert (found.partitions, found.records, found.end, found.leaderless, found.behind) == (2, 2, 3, 0, 0)
        assert found.size_bytes == sum(each.size_bytes for each in broker.topic("orders").partitions)
        broker.kill_node(2)
        (found,) = looks(broker).topic_page("orders").topics
        assert (found.leaderless, found.behind) == (0, 2)
        assert looks(broker).topic_page("t", start=99).topics == ()
        with pytest.raises(KafkaError, match="no topic 'no'"):
            _ = broker.topic("no").info
        with pytest.raises(ValueError, match="pages are counted from 0"):
            looks(broker).topic_page(start=-1)
        for limit in (0, 10_001):
            with pytest.raises(ValueError, match="1 to 10000 rows"):
                looks(broker).topic_page(limit=limit)


def test_kafkas_own_topics_come_if_asked_for() -> None:
    with odradek.KafkaBroker(topics={"t": 1}) as broker:
        broker.group("g").set_offsets({("t", 0): 0})
        assert [each.name for each in looks(broker).topic_page().topics] == ["t"]
        names = {each.name: each.internal for each in looks(broker).topic_page(internal=True).topics}
        assert names == {"t": False, "__consumer_offsets": True}


def test_groups_come_in_pages_by_id() -> None:
    with odradek.KafkaBroker(topics={"t": 1}) as broker:
        broker.produce_all("t", ["a", "b"])
        for number in range(12):
            broker.group(f"g{number:02}").set_offsets({("t", 0): 1})
        page = looks(broker).group_page("g", start=10, limit=1)
        assert page.total == 12
        (found,) = page.groups
        assert (found.group_id, found.state, found.members, found.lag) == ("g10", "Empty", 0, 1)
        assert looks(broker).group_page("x").total == 0


def test_pages_are_sorted_by_a_field() -> None:
    with odradek.KafkaBroker(topics={"a": 1, "b": 1, "c": 1}) as broker:
        broker.produce_all("b", ["v", "v"])
        broker.produce("c", "v")
        for group, offsets in (("one", {("b", 0): 0}), ("two", {("b", 0): 1, ("c", 0): 1}), ("lost", {("a", 0): 0})):
            broker.group(group).set_offsets(offsets)
        found = looks(broker)
        assert [each.name for each in found.topic_page(sort="-records", limit=2).topics] == ["b", "c"]
        assert [each.name for each in found.topic_page(sort="records", start=1).topics] == ["c", "b"]
        assert [each.group_id for each in found.group_page(sort="-committed_lag").groups] == ["one", "two", "lost"]
        with pytest.raises(ValueError, match="sort='-size': expected name, internal, partitions"):
            found.topic_page(sort="-size")
        assert [each.group_id for each in found.group_page(topic="c").groups] == ["two"]


def test_a_groups_lag_has_a_known_part() -> None:
    offsets = {("t", 0): OffsetInfo(1, 0, "", 0, 4), ("gone", 0): OffsetInfo(1, 0, "", 0, None)}
    info = GroupInfo("g", "Empty", 1, "consumer", None, None, (), offsets, 1, uncommitted=(("t", 1),))
    found = group_summary(info)
    assert (found.lag, found.committed_lag) == (None, 4)
