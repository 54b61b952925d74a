"""What a report is made of."""

from __future__ import annotations

from odradek.broker.cluster import Cluster
from odradek.broker.facade.report.situation import situation_of
from odradek.broker.transcript.request_list import Requests
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.exchanges import Names, recorded


def test_a_cluster_that_nobody_asked_makes_no_coordinators_for_it() -> None:
    cluster = Cluster()
    found = situation_of(cluster, (), 0.0)
    assert (found.topics, found.groups, found.transactions, found.down) == ({}, {}, {}, ())
    assert cluster.services.groups.made is None
    assert cluster.services.transactions.made is None


def test_what_some_requests_are_about() -> None:
    cluster = Cluster()
    cluster.create_topic("orders", partitions=1)
    cluster.create_topic("other", partitions=1)
    asked = recorded(MetadataRequest([MetadataRequestTopic(name="orders")]), 12)
    found = situation_of(cluster, (asked, recorded(HeartbeatRequest("g"), 4)), 0.0)
    assert set(found.topics) == {"orders", "other"}
    assert set(found.of_requests().topics) == {"orders"}
    assert [each.api for each in found.by_api("Heartbeat")] == ["Heartbeat"]
    assert len(Requests(found.requests, Names())) == 2
