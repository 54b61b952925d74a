"""Which lane a cluster takes, and that the plain one serves without the other."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek import KafkaBroker
from odradek.broker.cluster import Cluster
from odradek.broker.fast.fast_lane import FastLane
from odradek.broker.runtime.journal import PartitionJournal
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.clocks import clock_at
from tests.fakes.data_plane import START_MS
from tests.fakes.examples import examples
from tests.fakes.wire_client import ConnectionClosed, WireClient
from tests.scenarios.target import wait_until


def has_plain_lane(cluster: Cluster) -> bool:
    return not isinstance(cluster.lane, FastLane)


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
        broker.group("g").set_offsets({("t", 0): 1})
        assert [record.value for record in broker.records("t")] == [b"a"]
        server, groups = broker.cluster.server, broker.cluster.groups
        assert server._poller is None
        assert type(groups.shard_for("g").journal) is PartitionJournal
        assert all(task._scope is not None for task in server._connections.values())


CLIENTS = 6
CLOSED = b"closed"
ADVERTISED = "PLAINTEXT://broker.test:9092"


class Ask(NamedTuple):
    """One request of one client, in a version."""

    client: int
    request: Any
    version: int

    @property
    def answered(self) -> bool:
        return not (isinstance(self.request, ProduceRequest) and self.request.acks == 0)


class Raw(NamedTuple):
    """A frame that no client should send."""

    data: bytes


class Burst(NamedTuple):
    """Requests that all clients send before any of them reads. No two clients ask about the same."""

    asks: tuple[Ask, ...]


class Wait(NamedTuple):
    """A Fetch at the end of a partition; what ends its wait: another client's record, or else time."""

    by_record: bool


Step = Ask | Raw | Burst | Wait


def produced(partition: int, acks: int = -1, value: bytes = b"v", name: str = "t") -> ProduceRequest:
    data = PartitionProduceData(partition, build_batch([Record(0, START_MS, b"k", value)]))
    return ProduceRequest(None, acks, 1000, [TopicProduceData(name, bytes(16), [data])])


def fetched(partition: int, offset: int, wait_ms: int = 0) -> FetchRequest:
    asked = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=1 << 20)
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[FetchTopic("t", partitions=[asked])],
    )


def committed(group: str, partition: int) -> OffsetCommitRequest:
    partitions = [OffsetCommitRequestPartition(partition, 5, committed_metadata="m")]
    return OffsetCommitRequest(group_id=group, topics=[OffsetCommitRequestTopic(name="t", partitions=partitions)])


def beat(group: str, member: str, epoch: int) -> ConsumerGroupHeartbeatRequest:
    names = ["t"] if epoch == 0 else None
    return ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        member_epoch=epoch,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=names,
        topic_partitions=[] if epoch == 0 else None,
    )


def own(client: int) -> st.SearchStrategy[Ask]:
    """What a client asks about its own partition and group."""
    group = f"group-{client}"
    values = st.sampled_from([b"", b"v" * 10, b"v" * 5000])
    requests = st.one_of(
        st.builds(partial(produced, client), st.sampled_from([-1, 0, 1]), values),
        st.builds(partial(fetched, client), st.integers(0, 3)),
        st.just(committed(group, client)),
        st.just(ApiVersionsRequest()),
        st.just(HeartbeatRequest(group, 1, "nobody")),
    )
    return requests.flatmap(partial(in_some_version, client))


def anything(client: int) -> st.SearchStrategy[Ask]:
    """What is about the cluster, or what others ask about too."""
    protocols = [JoinGroupRequestProtocol("range", b"\0\0")]
    requests = st.one_of(
        st.just(MetadataRequest([MetadataRequestTopic(name="t")])),
        st.just(MetadataRequest(None)),
        st.builds(produced, st.just(0), st.sampled_from([-1, 1, 5]), name=st.sampled_from(["none", "t"])),
        st.builds(partial(beat, "shared"), st.sampled_from(["member-a", "member-b"]), st.integers(-1, 2)),
        st.just(JoinGroupRequest("classic", 10_000, 10_000, "", None, "consumer", protocols)),
        st.just(InitProducerIdRequest(None, 1000)),
        st.just(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])),
        st.builds(lambda name: CreateTopicsRequest([CreatableTopic(name, 1, 1)], 1000), st.sampled_from(["new", "t"])),
    )
    return own(client) | requests.flatmap(partial(in_some_version, client))


VERSIONS: dict[type, tuple[int, int]] = {
    ApiVersionsRequest: (0, 4),
    ConsumerGroupHeartbeatRequest: (1, 1),
    CreateTopicsRequest: (2, 7),
    FetchRequest: (4, 12),
    FindCoordinatorRequest: (4, 6),
    HeartbeatRequest: (0, 4),
    InitProducerIdRequest: (0, 4),
    JoinGroupRequest: (5, 9),
    MetadataRequest: (4, 12),
    OffsetCommitRequest: (2, 9),
    ProduceRequest: (3, 12),
}
"""Those that can say what is asked here."""


def in_some_version(client: int, request: Any) -> st.SearchStrategy[Ask]:
    return st.builds(partial(Ask, client, request), st.integers(*VERSIONS[type(request)]))


UNKNOWN = st.builds(
    lambda key, version: struct.pack(">ihhih", 10, key, version, 1, -1),
    st.sampled_from([0, 3, 18, 77, 4000]),
    st.sampled_from([-1, 0, 99]),
)
NOISE = st.builds(lambda body: struct.pack(">i", len(body)) + body, st.binary(max_size=40))
BURSTS = st.builds(
    lambda asks: Burst(tuple(asks)),
    st.lists(st.integers(0, CLIENTS - 1).flatmap(own), min_size=2, max_size=24),
)
CLIENT = st.integers(0, CLIENTS - 1)
STEPS = st.lists(
    st.one_of(CLIENT.flatmap(anything), st.builds(Raw, UNKNOWN | NOISE), BURSTS, st.builds(Wait, st.booleans())),
    max_size=12,
)


class Clients:
    """Connections to one broker. `answers`: all that came, in the order in which it was asked for."""

    def __init__(self, port: int, stack: ExitStack) -> None:
        self.answers: list[bytes] = []
        self._port = port
        self._stack = stack
        self._open: dict[int, WireClient] = {}

    def of(self, number: int) -> WireClient:
        if number not in self._open:
            self._open[number] = self._stack.enter_context(WireClient(port=self._port, client_id=f"client-{number}"))
        return self._open[number]

    def send(self, ask: Ask) -> None:
        self.of(ask.client).send(ask.request, ask.version)

    def read(self, ask: Ask) -> None:
        if ask.answered:
            self.answers.append(bytes(self.of(ask.client).receive_frame()))

    def try_out(self, raw: Raw) -> None:
        """What is answered to a frame, or the end of the connection."""
        with WireClient(port=self._port) as client:
            client.send_frame(raw.data)
            client.send(ApiVersionsRequest(), 3)
            try:
                self.answers.append(bytes(client.receive_frame()))
            except (ConnectionClosed, OSError):
                self.answers.append(CLOSED)


def take(step: Step, broker: KafkaBroker, clients: Clients) -> None:
    if isinstance(step, Raw):
        clients.try_out(step)
    elif isinstance(step, Wait):
        wait(step, broker, clients)
    else:
        asks = [step] if isinstance(step, Ask) else step.asks
        for ask in asks:
            clients.send(ask)
        for ask in asks:
            clients.read(ask)


def wait(step: Wait, broker: KafkaBroker, clients: Clients) -> None:
    partition = broker.cluster.topics.by_name("t").partitions[0]
    served = Ask(0, ApiVersionsRequest(), 3)
    clients.send(served)
    clients.read(served)  # and with it what this client has produced before, without an answer
    waiting = Ask(0, fetched(0, broker._look(lambda: partition.log.log_end_offset), 500), 12)
    with broker.clock.stopped():
        clients.send(waiting)
        wait_until("a fetch that waits", lambda: broker._look(lambda: len(partition.waiters)))
        if step.by_record:
            record = Ask(1, produced(0), 9)
            clients.send(record)
            clients.read(record)
        else:
            broker.clock.advance(seconds=1)
    clients.read(waiting)


def answers_of(steps: Sequence[Step], *, fast: bool) -> list[bytes]:
    """All frames that clients of a new broker get. What it draws by chance is the same each time."""
    drawn = random.Random(7)
    random.seed(7)
    config = {"odradek.fast": fast, "advertised.listeners": ADVERTISED}
    with (
        patch("os.urandom", drawn.randbytes),
        patch("odradek.protocol.uuids.urandom", drawn.randbytes),
        KafkaBroker(topics={"t": CLIENTS}, config=config, clock=clock_at(START_MS)) as broker,
        ExitStack() as stack,
    ):
        assert has_plain_lane(broker.cluster) is not fast
        clients = Clients(broker.cluster.server._listening[0].socket.getsockname()[1], stack)
        for step in steps:
            take(step, broker, clients)
        assert broker.bugs == []
        return clients.answers


@settings(max_examples=examples(40), deadline=None)
@given(STEPS)
def test_both_lanes_answer_the_same_bytes(steps: list[Step]) -> None:
    """The order in which requests of several clients are served is free, so no two of a burst are about the same."""
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("ODRADEK_FAST", raising=False)
        assert answers_of(steps, fast=True) == answers_of(steps, fast=False)
