"""A consumer group in a log directory that goes from odradek to a real Kafka and back: its members just go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import pytest

import odradek
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.json_form import to_json
from tests.conformance.foreign_kafka import ForeignKafka, static_voters
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk

GROUP, SOURCE = "both-ways-consumers", "source"
CONFIG = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.consumer.assignment.interval.ms": "0",
}


class Members:
    """Members of the group, by heartbeats of their own making."""

    def __init__(self, bootstrap: str) -> None:
        self.client = WireClient.at(bootstrap, client_id="app", timeout_s=60)
        find = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
        wait_until("a coordinator", lambda: self.client.request(find, 4).coordinators[0].error_code == 0)
        wait_until("its groups", lambda: self.describe()["errorCode"] in (0, 69))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()

    def join(self, member: str, **more: Any) -> Any:
        request = ConsumerGroupHeartbeatRequest(
            GROUP, member, 0, rebalance_timeout_ms=60_000, subscribed_topic_names=[SOURCE], topic_partitions=[], **more
        )
        return self.client.request(request, 1)

    def beat(self, member: str, epoch: int, *owned: int, **more: Any) -> Any:
        request = ConsumerGroupHeartbeatRequest(GROUP, member, epoch, **more)
        if owned:
            request.topic_partitions = [TopicPartitions(self.topic_id, list(owned))]
        return self.client.request(request, 1)

    topic_id = bytes(16)

    def describe(self) -> Any:
        described = to_json(self.client.request(ConsumerGroupDescribeRequest([GROUP]), 1), 1)["groups"][0]
        described["members"].sort(key=lambda member: member["memberId"])
        return described


def given(reply: Any) -> list[int]:
    assert reply.error_code == 0, reply.error_message
    Members.topic_id = next((row.topic_id for row in reply.assignment.topic_partitions), Members.topic_id)
    return [partition for row in reply.assignment.topic_partitions for partition in row.partitions]


def test_members_of_a_consumer_group_go_on_with_the_other_broker(tmp_path: Path) -> None:
    kafka = ForeignKafka(1, tmp_path)
    kafka.quorum = {**static_voters([kafka]), **CONFIG}
    topics = {SOURCE: {"partitions": 4}}
    with (
        odradek.KafkaBroker(data_dir=kafka.log_dir, topics=topics, config=CONFIG) as broker,
        Members(broker.bootstrap_servers) as ours,
    ):
        assert given(ours.join("a", instance_id="i", subscribed_topic_regex="sour.*")) == [0, 1, 2, 3]
        wait_until("topics of the pattern", lambda: ours.describe()["groupEpoch"] == 3)
        assert ours.beat("a", 2, 0, 1, 2, 3, instance_id="i").member_epoch == 3
        left = ours.describe()
    with kafka.running(), Members(kafka.bootstrap_servers) as theirs:
        assert theirs.describe() == left
        epoch = theirs.beat("a", left["groupEpoch"], 0, 1, 2, 3, instance_id="i").member_epoch
        assert given(theirs.join("b")) == []
        assert sorted(given(theirs.beat("a", epoch, 0, 1, 2, 3, instance_id="i"))) == [0, 1]
        left = theirs.describe()
    with (
        odradek.KafkaBroker(data_dir=kafka.log_dir, config=CONFIG) as broker,
        Members(broker.bootstrap_servers) as ours,
    ):
        assert ours.describe() == left
        assert ours.beat("a", epoch, 0, 1, instance_id="i").member_epoch == left["groupEpoch"]
        assert given(ours.beat("b", left["groupEpoch"])) == [2, 3]
        assert ours.describe()["groupState"] == "Stable"
