"""Each hint, provoked over the wire as a client would, and what an empty situation gives."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from odradek.broker.facade.report import hints as hint_module
from odradek.broker.facade.report.hints import hints_of, is_wrong_protocol, unserved_versions, wrong_protocols
from odradek.broker.facade.report.situation import Situation, situation_since
from odradek.broker.facade.security_settings import Security
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.faults.fault import Fault
from odradek.broker.requests.recent_requests import UnsupportedRequest
from odradek.broker.security.denials import Denial
from odradek.protocol.consumer_protocol import encode_subscription
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from odradek.protocol.generated.stored.consumer_protocol_subscription import ConsumerProtocolSubscription
from odradek.wire_client import WireError
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import WireClient

WRONG_PASSWORD = Denial(
    0, "User:alice", "127.0.0.1", "LOGIN", "LISTENER", "SASL", "SaslAuthenticate", "SASL", "Invalid username"
)


def test_of_nothing_there_is_nothing_to_say() -> None:
    empty = Situation(topics={}, groups={}, denied=(WRONG_PASSWORD,))
    assert not is_wrong_protocol(WRONG_PASSWORD)
    assert [*wrong_protocols(empty), *unserved_versions(empty)] == []


def test_a_client_id_writes_no_lines_of_its_own() -> None:
    asked = UnsupportedRequest(0, "a\nb", "127.0.0.1", "Fetch", 0, "4 to 18")
    (told,) = unserved_versions(Situation(topics={}, groups={}, unserved=(asked,)))
    assert "\n" not in told
    assert "a\\nb" in told


def test_an_empty_situation_gives_no_hints() -> None:
    """Most hints are provoked below; here is what they leave out."""
    empty = Situation(topics={}, groups={})
    own = [each for name, each in vars(hint_module).items() if not name.startswith("_") and callable(each)]
    of_a_situation = [each for each in own if getattr(each, "__annotations__", {}).get("situation") == "Situation"]
    found = [each for each in of_a_situation if each.__module__ == hint_module.__name__]
    assert len(found) >= 7 + 7
    assert [hint for function in found for hint in function(empty)] == []


COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOADING, NOT_COORDINATOR = 15, 14, 16
broker = broker_fixture(topics={"orders": 2})


@pytest.fixture
def client(broker: KafkaBroker) -> Iterator[WireClient]:
    with connected(broker) as one:
        yield one


def connected(broker: KafkaBroker, client_id: str = "app") -> WireClient:
    return WireClient.at(broker.bootstrap_servers, client_id=client_id)


def hints(broker: KafkaBroker) -> list[str]:
    return hints_of(situation_since(broker.cluster, broker._look, None))


def of_group(client: WireClient, request: Any, version: int) -> Any:
    """The answer of a coordinator, once it is there."""
    client.request(FindCoordinatorRequest(key=request.group_id), 3)
    while True:
        answer = client.request(request, version)
        if getattr(answer, "error_code", 0) not in (COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOADING, NOT_COORDINATOR):
            return answer


def join(client: WireClient, group: str, topic: str = "orders", assignor: str = "range") -> Any:
    subscription = encode_subscription(ConsumerProtocolSubscription([topic]), 0)
    protocols = [JoinGroupRequestProtocol(assignor, subscription)]
    return of_group(client, JoinGroupRequest(group, 10_000, 10_000, protocol_type="consumer", protocols=protocols), 3)


def test_of_a_broker_that_does_as_it_should_there_is_nothing_to_say(broker: KafkaBroker, client: WireClient) -> None:
    broker.produce("orders", "one")
    client.request(MetadataRequest(topics=None), 12)
    join(client, "g")
    assert hints(broker) == []


def test_a_topic_of_a_misspelt_name(broker: KafkaBroker, client: WireClient) -> None:
    client.request(MetadataRequest([MetadataRequestTopic(name="order")], True), 12)
    assert hints(broker) == ["topic 'order' was created automatically, as app asked for it: 'orders' exists"]
    client.request(MetadataRequest([MetadataRequestTopic(name="zebra")], True), 12)
    assert "topic 'zebra' was created automatically, as app asked for it" in hints(broker)


def test_a_topic_that_does_not_exist(broker: KafkaBroker, client: WireClient) -> None:
    client.request(MetadataRequest([MetadataRequestTopic(name="order")], False), 12)
    assert hints(broker) == ["app asked for topic 'order', which does not exist (did you mean 'orders'?)"]
    join(client, "g", "order")
    assert hints(broker)[0] == "group 'g' subscribes to 'order', which does not exist (did you mean 'orders'?)"


def test_a_group_that_began_at_latest(broker: KafkaBroker, client: WireClient) -> None:
    broker.produce("orders", "one", partition=1)
    topics = [OffsetFetchRequestTopics("orders", partition_indexes=[0, 1])]
    client.request(FindCoordinatorRequest(key="g"), 3)
    while (
        client.request(OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=topics)]), 9).groups[0].error_code
    ):
        pass
    ends = [ListOffsetsTopic("orders", [ListOffsetsPartition(index, timestamp=-1) for index in (0, 1)])]
    client.request(ListOffsetsRequest(-1, 0, ends), 7)
    assert hints(broker) == [
        "group 'g' has no commits and began at latest, orders-1@1: earlier records are not read "
        "(auto.offset.reset=earliest reads them)"
    ]


def test_hints_are_given_whatever_topics_were_asked_for(broker: KafkaBroker, client: WireClient) -> None:
    """Older versions have no topic id, and a name may be empty."""
    topic = OffsetFetchRequestTopic(name="", partition_indexes=[0])
    client.request(OffsetFetchRequest(group_id="g", topics=[topic]), 7)
    grouped = OffsetFetchRequestTopics(name="", partition_indexes=[0])
    client.request(OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=[grouped])]), 9)
    assert "OffsetFetch" in broker.report()


def test_records_in_an_open_transaction(broker: KafkaBroker) -> None:
    broker.produce("orders", "one", partition=0, transactional_id="p-1", transaction="open")
    assert hints(broker) == [
        "records of orders-0 from offset 0 on belong to an open transaction of p-1: isolation.level=read_committed "
        "does not see them"
    ]


def test_a_session_that_the_clock_ended(broker: KafkaBroker, client: WireClient) -> None:
    join(client, "g")
    broker.clock.advance(11)
    assert hints(broker) == [
        "app left group 'g' at its session time-out (10 s) after clock.advance, 11 s in all: a client's own heartbeats "
        "follow real time"
    ]


@pytest.mark.long
def test_a_fetch_under_a_clock_that_stands(broker: KafkaBroker, client: WireClient) -> None:
    broker.clock.freeze()
    asked = [FetchTopic("orders", partitions=[FetchPartition(0, fetch_offset=0, partition_max_bytes=100)])]
    request = FetchRequest(max_wait_ms=500, min_bytes=1, session_epoch=-1, topics=asked)
    sent = client.send(request, 12)
    with connected(broker) as other:
        while not broker.requests.count("Fetch"):
            other.request(MetadataRequest(topics=[]), 12)
    assert hints(broker) == ["the clock is frozen and Fetch of app waits: clock.advance(...) or resume() ends it"]
    broker.clock.resume()
    client.receive(request, 12, sent)
    assert hints(broker) == []


def test_a_hint_names_the_faults_that_are_set(broker: KafkaBroker, client: WireClient) -> None:
    refused = Fault("Metadata", answer="NOT_CONTROLLER", times=1)
    broker.set_faults(refused, Fault("Produce", delay_ms=5), Fault("Fetch"))
    assert hints(broker) == [
        "Fault(api='Metadata', times=1, answer='NOT_CONTROLLER') is set: no request has met it",
        "Fault(api='Produce', delay_ms=5) is set: no request has met it",
    ]
    client.request(MetadataRequest(topics=[MetadataRequestTopic(name="orders")]), 12)
    assert hints(broker)[0].endswith("is over: 1 requests have met it")


def test_a_listener_where_nobody_logs_in(broker: KafkaBroker, client: WireClient) -> None:
    client.request(SaslHandshakeRequest("PLAIN"), 1)
    assert hints(broker) == [
        f"app asked for SASL at {broker.bootstrap_servers}, a listener without log-ins: its security.protocol is "
        "not the broker's (see broker.client_config())"
    ]


def test_a_client_that_speaks_tls_to_a_plain_listener(broker: KafkaBroker) -> None:
    host, _, port = broker.bootstrap_servers.partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as plain, pytest.raises(OSError):
        ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")
    broker.requests.count()
    while not broker.denied:
        broker.clock.advance(0)
    assert hints(broker) == [
        "a client at 127.0.0.1 spoke TLS to a listener without TLS (PLAINTEXT): its security.protocol is not the "
        "broker's (see broker.client_config())"
    ]


def test_a_client_that_speaks_plain_text_to_a_tls_listener(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    with KafkaBroker(security=Security(tls=True)) as broker:
        with connected(broker) as client, pytest.raises(WireError):
            client.request(MetadataRequest(topics=None))
        assert hints(broker) == [
            "a client at 127.0.0.1 spoke plain text to a TLS listener (SSL): its security.protocol is not the broker's "
            "(see broker.client_config())"
        ]
        assert "a client that speaks plain text connected to listener SSL" in caplog.text


def test_a_client_that_does_not_log_in(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    with KafkaBroker(security=Security(users={"alice": "a-secret"})) as broker:
        with connected(broker) as client, pytest.raises(WireError):
            client.request(MetadataRequest(topics=None))
        assert "kafka client configured with the wrong security protocol" in caplog.text
        assert hints(broker) == [
            "a client at 127.0.0.1 did not log in at a listener that requires it (SASL_PLAINTEXT): its "
            "security.protocol is not the broker's (see broker.client_config())"
        ]


@pytest.mark.parametrize(
    ("key", "version", "told"),
    [
        (3, 99, "Metadata is not served in version 99, but in 0 to 13"),
        (0, 2, "Produce is not served in version 2, but in 3 to 13"),
        (52, 0, "API key 52 is not served"),
        (9999, 0, "API key 9999 is not served"),
    ],
)
def test_a_version_that_is_not_served(
    broker: KafkaBroker, caplog: pytest.LogCaptureFixture, key: int, version: int, told: str
) -> None:
    caplog.set_level("INFO")
    host, _, port = broker.bootstrap_servers.partition(":")
    frame = struct.pack(">hhih3s", key, version, 1, 3, b"old") + bytes(8)
    with socket.create_connection((host, int(port)), timeout=30) as old:
        old.sendall(struct.pack(">i", len(frame)) + frame)
        assert old.recv(1) == b""
    assert told in caplog.text
    why = "as in Kafka 4 (is a version pinned, or the client old?)"
    assert hints(broker) == [f"client 'old' at 127.0.0.1 was cut: {told}, {why}"]


def test_hint_names_who_was_denied_what() -> None:
    with KafkaBroker(security=Security(authorizer=True)) as broker, connected(broker) as client:
        client.request(FindCoordinatorRequest(key="g"), 3)
        assert "was denied DESCRIBE on GROUP g" in hints(broker)[0]


def test_a_member_of_another_kind(broker: KafkaBroker, client: WireClient) -> None:
    join(client, "g")
    protocols = [JoinGroupRequestProtocol("x", b"")]
    request = JoinGroupRequest("g", 10_000, 10_000, protocol_type="connect", protocols=protocols)
    with connected(broker, "other") as other:
        of_group(other, request, 3)
    (hint,) = hints(broker)
    assert hint.startswith("other could not join group 'g': INCONSISTENT_GROUP_PROTOCOL; the group is classic, ")


def test_a_commit_of_a_member_that_was_fenced(broker: KafkaBroker, client: WireClient) -> None:
    joined = join(client, "g")
    topics = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 1)])]
    of_group(client, OffsetCommitRequest("g", joined.generation_id + 5, joined.member_id, topics=topics), 8)
    assert hints(broker) == [
        "a commit of app for group 'g' was refused, ILLEGAL_GENERATION: it is no longer a member of this generation, "
        "and its records will be read again"
    ]


def test_hint_names_records_that_were_deleted(broker: KafkaBroker) -> None:
    broker.produce("orders", "one", partition=0)
    broker.topic("orders").delete_records(0)
    assert hints(broker)[0].startswith("the records of orders-0 before offset 1 were deleted, by retention.ms=")


def test_hint_counts_other_errors(broker: KafkaBroker, client: WireClient) -> None:
    join(client, "g")
    for _ in range(2):
        client.request(HeartbeatRequest("g", 1, "nobody"), 4)
    assert hints(broker) == ["Heartbeat of app was answered with UNKNOWN_MEMBER_ID 2 times"]


def test_hint_names_partitions_without_a_leader() -> None:
    with KafkaBroker(nodes=3, topics={"t": {"partitions": 1, "replication_factor": 3}}) as broker:
        leader = broker.topics["t"].partitions[0].leader
        one, two = sorted({1, 2, 3} - {leader})
        broker.topic("t").pause_replication(0, one)
        broker.cut(leader, two)
        broker.kill_node(two)
        text = "\n".join(hints(broker))
        assert f"node {two} is down" in text
        assert f"node {one} gets nothing of t-0: the test keeps it from it" in text
        assert "copy nothing from each other: the test has cut them" in text
        broker.heal()
        broker.kill_node(one)
        broker.kill_node(two)
        broker.kill_node(leader)
        assert "t-0 has no leader: the nodes of its replicas in sync are down" in hints(broker)
