"""Which lane a cluster takes, and that the plain one serves without the other."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.cluster import Cluster
from odradek.broker.lane import PlainLane
from odradek.broker.runtime.partition_journal import PartitionJournal


def has_plain_lane(cluster: Cluster) -> bool:
    return isinstance(cluster.lane, PlainLane)


def test_the_fast_lane_is_taken_unless_config_or_environment_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ODRADEK_FAST", raising=False)
    assert not has_plain_lane(Cluster())
    assert has_plain_lane(Cluster(config={"odradek.fast": "false"}))
    monkeypatch.setenv("ODRADEK_FAST", "1")
    assert not has_plain_lane(Cluster())
    monkeypatch.setenv("ODRADEK_FAST", "0")
    assert has_plain_lane(Cluster())
    assert has_plain_lane(Cluster(config={"odradek.fast": "true"}))


def test_a_broker_of_the_plain_lane_has_nothing_of_the_other() -> None:
    with KafkaBroker(topics={"t": 1}, config={"odradek.fast": "false"}) as broker:
        broker.produce("t", "a")
        broker.set_offsets("g", {("t", 0): 1})
        assert [record.value for record in broker.records("t")] == [b"a"]
        server, groups = broker.cluster.server, broker.cluster.groups
        assert server._poller is None
        assert type(groups.shard_for("g").journal) is PartitionJournal
        assert all(task._scope is not None for task in server.tasks.values())
