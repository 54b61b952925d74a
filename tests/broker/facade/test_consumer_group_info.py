"""Consumer groups (KIP-848) seen from Python."""

from __future__ import annotations

import threading

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from tests.fakes.wire_client import WireClient

CONFIG = {"group.consumer.assignment.interval.ms": "0"}


def client_of(broker: KafkaBroker) -> WireClient:
    host, port = broker.bootstrap_servers.split(":")
    client = WireClient(host, int(port), client_id="c")
    client.request(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
    return client


def join(client: WireClient, member_id: str, regex: str | None = None) -> int:
    answer = client.request(
        ConsumerGroupHeartbeatRequest(
            "g",
            member_id,
            0,
            rebalance_timeout_ms=40_000,
            subscribed_topic_names=["t"],
            subscribed_topic_regex=regex,
            topic_partitions=[],
        ),
        1,
    )
    assert answer.error_code == 0, answer
    return int(answer.member_epoch)


def test_all_about_a_consumer_group() -> None:
    with KafkaBroker(topics={"t": 2, "u": 1}, config=CONFIG) as broker, client_of(broker) as client:
        assert join(client, "a") == 2
        assert join(client, "b") == 3
        info = broker.groups["g"]
        assert info == broker.group("g").info
        assert (info.type, info.state, info.protocol_type, info.protocol) == (
            "consumer",
            "Reconciling",
            "consumer",
            "uniform",
        )
        assert (info.generation, info.assignment_epoch, info.leader, info.coordinator) == (3, 3, None, 1)
        a, b = info.members
        assert (a.member_id, a.client_id, a.host, a.instance_id) == ("a", "c", "/127.0.0.1", None)
        assert (a.epoch, a.subscription, a.regex, a.protocol) == (2, ("t",), "", "consumer")
        assert (a.session_timeout_ms, a.rebalance_timeout_ms) == (45_000, 40_000)
        assert a.assignment == {"t": (0, 1)}
        assert len(a.target["t"]) == 1
        assert (b.epoch, b.subscription, b.assignment) == (3, ("t",), {})
        assert info.assignments == {("t", 0): ["a"], ("t", 1): ["a"]}
        join(client, "c", "u.*")
        assert broker.group("g").members[2].regex == "u.*"
        assert broker.bugs == []


def test_waiting_for_a_consumer_group() -> None:
    with KafkaBroker(topics={"t": 2}, config=CONFIG) as broker, client_of(broker) as client:
        late = threading.Timer(0.05, join, [client, "a"])
        late.start()
        assert broker.group("g").wait_stable(members=1).assignments == {("t", 0): ["a"], ("t", 1): ["a"]}
        late.join()
        join(client, "b")
        topic_id = (
            client.request(ConsumerGroupHeartbeatRequest("g", "a", 2, topic_partitions=None), 1)
            .assignment.topic_partitions[0]
            .topic_id
        )
        kept = broker.group("g").members[0].target["t"]
        owned = [TopicPartitions(topic_id, list(kept))]
        client.request(ConsumerGroupHeartbeatRequest("g", "a", 2, topic_partitions=owned), 1)
        late = threading.Timer(0.05, client.request, [ConsumerGroupHeartbeatRequest("g", "b", 3), 1])
        late.start()
        info = broker.group("g").wait_stable(members=2)
        assert all(len(member.assignment["t"]) == 1 and member.assignment == member.target for member in info.members)
        late.join()
        client.request(ConsumerGroupHeartbeatRequest("g", "a", -1), 1)
        client.request(ConsumerGroupHeartbeatRequest("g", "b", -1), 1)
        assert broker.group("g").wait(lambda group: group.state == "Empty").members == ()
        assert broker.bugs == []
