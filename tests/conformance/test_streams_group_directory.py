"""A streams group in a log directory that goes from odradek to a real Kafka and back: its members just go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.streams_group_describe import StreamsGroupDescribeRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    Topology,
)
from odradek.protocol.json_form import to_json
from tests.conformance.foreign_kafka import ForeignKafka, static_voters
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk

GROUP, SOURCE = "both-ways-streams", "source"
CONFIG = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.assignment.interval.ms": "0",
}


class Application:
    """Members of the group, by heartbeats of their own making."""

    def __init__(self, bootstrap: str) -> None:
        self.client = WireClient.at(bootstrap, client_id="app", timeout_s=60)
        find = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
        wait_until("a coordinator", lambda: self.client.request(find, 4).coordinators[0].error_code == 0)
        wait_until("its groups", lambda: self.describe()["errorCode"] in (0, 69))

    def __enter__(self) -> Application:
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()

    def join(self, member: str) -> Any:
        request = StreamsGroupHeartbeatRequest(
            GROUP, member, 0, rebalance_timeout_ms=60_000, active_tasks=[], standby_tasks=[], warmup_tasks=[]
        )
        request.topology = Topology(0, [Subtopology("0", [SOURCE])])
        request.process_id = f"process of {member}"
        return self.client.request(request, 0)

    def beat(self, member: str, epoch: int, *owned: int) -> Any:
        request = StreamsGroupHeartbeatRequest(GROUP, member, epoch, active_tasks=[], standby_tasks=[], warmup_tasks=[])
        if owned:
            request.active_tasks = [TaskIds("0", list(owned))]
        return self.client.request(request, 0)

    def describe(self) -> Any:
        described = to_json(self.client.request(StreamsGroupDescribeRequest([GROUP]), 0), 0)["groups"][0]
        described["members"].sort(key=lambda member: member["memberId"])
        return described


def tasks(reply: Any) -> list[int]:
    assert reply.error_code == 0, reply.error_message
    return [partition for row in reply.active_tasks for partition in row.partitions]


def test_members_of_a_streams_group_go_on_with_the_other_broker(tmp_path: Path) -> None:
    kafka = ForeignKafka(1, tmp_path)
    kafka.quorum = {**static_voters([kafka]), **CONFIG}
    topics = {SOURCE: {"partitions": 4}}
    with (
        odradek.KafkaBroker(data_dir=kafka.log_dir, topics=topics, config=CONFIG) as broker,
        Application(broker.bootstrap_servers) as ours,
    ):
        assert tasks(ours.join("a")) == [0, 1, 2, 3]
        ours.beat("a", 2, 0, 1, 2, 3)
        left = ours.describe()
    with kafka.running(), Application(kafka.bootstrap_servers) as theirs:
        assert theirs.describe() == left
        assert theirs.beat("a", 2, 0, 1, 2, 3).error_code == 0
        assert tasks(theirs.join("b")) == []
        assert tasks(theirs.beat("a", 2, 0, 1, 2, 3)) == [0, 1]
        left = theirs.describe()
    with (
        odradek.KafkaBroker(data_dir=kafka.log_dir, config=CONFIG) as broker,
        Application(broker.bootstrap_servers) as ours,
    ):
        assert ours.describe() == left
        assert ours.beat("a", 2, 0, 1).member_epoch == 3
        assert tasks(ours.beat("b", 3)) == [2, 3]
        assert ours.describe()["groupState"] == "Stable"
