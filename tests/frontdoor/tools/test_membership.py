"""A member of a consumer group over the wire."""

from __future__ import annotations

import pytest

import odradek
from odradek.pipeline.cluster_client import ClusterClient
from odradek.tools.membership import Membership


@pytest.mark.long
def test_two_members_share_the_partitions_and_one_inherits_them() -> None:
    often = {f"group.consumer.{name}.interval.ms": "1" for name in ("heartbeat", "min.heartbeat", "assignment")}
    with odradek.KafkaBroker(config=often) as broker, ClusterClient(broker.bootstrap_servers) as client:
        broker.create_topic("orders", partitions=4)
        first, second = (Membership(client, "readers", "orders") for _ in range(2))
        while sorted(first.beat()) != [0, 1, 2, 3]:
            pass
        first.commit({0: 5, 1: -1})
        assert first.committed([0, 1]) == {0: 5, 1: -1}
        while not len(first.beat()) == len(second.beat()) == 2:
            pass
        assert sorted([*first.beat(), *second.beat()]) == [0, 1, 2, 3]
        first.leave()
        while len(second.beat()) != 4:
            pass
        second.leave()
        assert broker.group("readers").members == ()
