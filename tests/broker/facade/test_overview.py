"""The broker at a glance."""

from __future__ import annotations

import odradek


def test_everything_is_counted() -> None:
    with odradek.KafkaBroker(nodes=3, topics={"a": 2, "b": 1}) as broker:
        broker.produce("a", "v", transactional_id="tx", transaction="open")
        broker.produce("a", "v", transactional_id="done")
        broker.set_offsets("g", {("a", 0): 0})
        broker.set_faults(odradek.Fault("Produce"))
        broker.kill_node(3)
        broker.clock.freeze()
        found = broker.overview
        assert (found.topics, found.partitions, found.groups, found.transactions) == (2, 3, 1, 1)
        assert (found.nodes, found.nodes_up, found.faults, found.bugs, found.frozen) == (3, 2, 1, 0, True)
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
