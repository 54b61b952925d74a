"""A broker that was used, and is like new again."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek import Fault, KafkaBroker
from tests.fakes.state_walk import CONFIG, StateWalk


def _used(broker: KafkaBroker) -> None:
    walk = StateWalk(broker)
    walk.walk([(step, choice) for choice in range(3) for step in range(22)])
    walk.reconnect()


@pytest.mark.long("True")
@pytest.mark.parametrize("on_disk", [False, True])
def test_nothing_that_clients_have_left_is_there(tmp_path: Path, on_disk: bool) -> None:
    directory = tmp_path if on_disk else None
    topics = {"a": {"partitions": 1, "config": {"retention.ms": 9000}}, "b": 2}
    with KafkaBroker(topics=topics, config=CONFIG, data_dir=directory) as broker:
        walk = StateWalk(broker)
        new = walk.look()
        walk.reconnect()
        ids = {topic.topic_id for topic in broker.topics.values()}
        for _ in range(2):
            _used(broker)
            broker.clock.freeze()
            broker.reset()
            seen = walk.look()
            walk.reconnect()
            for kind in ("groups", "transactions", "listed", "acls", "quotas", "users", "records", "cluster"):
                assert seen[kind] == new[kind], kind
            assert list(broker.all_topics) == ["a", "b"]
            assert {name: topic.config for name, topic in broker.topics.items()} == {
                "a": {"retention.ms": "9000"},
                "b": {},
            }
            assert not ids & {topic.topic_id for topic in broker.topics.values()}
            assert not broker.clock.frozen
        broker.produce("b", "goes on", partition=1)
        assert not broker.bugs, broker.bugs[0]


def test_what_a_test_has_set_ends_and_data_may_stay() -> None:
    with KafkaBroker(nodes=3, topics={"a": {"partitions": 1, "replication_factor": 3}}) as broker:
        real = broker.clock.now_ms()
        addresses = broker.bootstrap_servers
        broker.set_faults(Fault("Produce", delay_ms=1))
        hold = broker.hold("tx", "PrepareCommit")
        broker.produce("a", "kept")
        broker.produce("a", "maybe", transactional_id="open", transaction="open")
        broker.kill_node(1)
        broker.freeze_node(2)
        broker.clock.advance(days=2)
        broker.clock.freeze()
        broker.reset(data=False)
        assert broker.cluster.dispatcher.faults is None
        assert broker.bootstrap_servers == addresses
        assert not broker.cluster.frozen
        assert abs(broker.clock.now_ms() - real) < 3_600_000
        assert not broker.clock.frozen
        assert broker.records("a")[0].value == b"kept"
        hold.release()
        assert not broker.bugs, broker.bugs[0]


def test_what_is_kept_runs_out_when_it_would_have() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.clock.freeze()
        broker.clock.advance(hours=5)
        broker.produce("a", "1", transactional_id="tx", transaction="open")
        broker.reset(data=False)
        broker.clock.freeze()
        timers = broker.cluster.transactions.running()[0].timers
        due = {key: at - broker.clock.now_ms() for key, at, _ in timers.entries()}
        assert 0 < due["abort"] <= 10_000


def test_a_load_that_is_held_goes_on() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.group("g").set_offsets({("a", 0): 0})
        hold = broker.hold_load("__consumer_offsets", now=True)
        broker.reset(data=False)
        assert broker.groups["g"].offsets["a", 0].offset == 0
        hold.undo()
        assert not broker.bugs
