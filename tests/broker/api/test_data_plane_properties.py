"""Properties of the data plane: no request is a bug of the broker, a reader gets each record once and in order."""

from __future__ import annotations

from types import CoroutineType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from odradek.broker.requests.context import CloseConnection
from odradek.broker.requests.parked_request import Parked
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from odradek.protocol.generated.messages.describe_producers import DescribeProducersRequest, TopicRequest
from odradek.protocol.generated.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.fakes.data_plane import DataPlane, offsets_of, partitions_of
from tests.fakes.examples import examples

int16 = st.one_of(st.sampled_from([-1, 0, 1]), st.integers(-(2**15), 2**15 - 1))
int32 = st.one_of(st.sampled_from([-1, 0, 1, 2**31 - 1, -(2**31)]), st.integers(-(2**31), 2**31 - 1))
int64 = st.one_of(
    st.sampled_from([-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 2**63 - 1, -(2**63)]), st.integers(-(2**63), 2**63 - 1)
)
names = st.sampled_from(["a", "empty", "gone", "__consumer_offsets", ""])
ids = st.sampled_from([b"a" * 16, b"e" * 16, b"?" * 16, bytes(16)])
lists: dict[str, Any] = {"max_size": 3}

fetch_partitions = st.builds(FetchPartition, int32, int32, int64, int32, int64, int32)
list_partitions = st.builds(ListOffsetsPartition, int32, int32, int64)
requests = st.one_of(
    st.builds(
        FetchRequest,
        replica_id=int32,
        replica_state=st.builds(ReplicaState, int32, int64),
        max_wait_ms=st.just(0),
        min_bytes=int32,
        max_bytes=int32,
        isolation_level=st.one_of(st.sampled_from([0, 1]), st.integers(-128, 127)),
        session_id=int32,
        session_epoch=int32,
        topics=st.lists(st.builds(FetchTopic, names, ids, st.lists(fetch_partitions, **lists)), **lists),
        forgotten_topics_data=st.lists(st.builds(ForgottenTopic, names, ids, st.lists(int32, **lists)), **lists),
    ),
    st.builds(
        ListOffsetsRequest,
        int32,
        st.integers(-128, 127),
        st.lists(st.builds(ListOffsetsTopic, names, st.lists(list_partitions, **lists)), **lists),
    ),
    st.builds(
        OffsetForLeaderEpochRequest,
        int32,
        st.lists(
            st.builds(
                OffsetForLeaderTopic,
                names,
                st.lists(st.builds(OffsetForLeaderPartition, int32, int32, int32), **lists),
            ),
            **lists,
        ),
    ),
    st.builds(
        DeleteRecordsRequest,
        st.lists(
            st.builds(DeleteRecordsTopic, names, st.lists(st.builds(DeleteRecordsPartition, int32, int64), **lists)),
            **lists,
        ),
    ),
    st.builds(DescribeProducersRequest, st.lists(st.builds(TopicRequest, names, st.lists(int32, **lists)), **lists)),
    st.builds(InitProducerIdRequest, st.just(None), int32, int64, int16),
)


@pytest.fixture(scope="module")
def plane() -> DataPlane:
    plane = DataPlane()
    plane.cluster.adopt_topic("a", b"a" * 16, [[1], [1], [1]], {})
    plane.cluster.adopt_topic("empty", b"e" * 16, [[1]], {})
    for _ in range(5):
        plane.produce("a", plane.batch(2, producer_id=-1))
    return plane


def served(plane: DataPlane, request: Any, version: int) -> Any:
    """The answer; only the errors that a handler may raise are let through as None."""
    try:
        answer = plane.call(request, version)
    except (KafkaError, CloseConnection):
        return None
    if isinstance(answer, CoroutineType):
        answer.close()
        return None
    if isinstance(answer, Parked):
        answer.abandon()
        return None
    return answer


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(request=requests, version_at=st.floats(0, 1))
def test_no_value_in_a_request_is_a_bug(plane: DataPlane, request: Any, version_at: float) -> None:
    low, high = type(request).MIN_VERSION, type(request).MAX_VERSION
    served(plane, request, round(low + version_at * (high - low)))


@settings(max_examples=examples(300), deadline=None)
@given(
    flips=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=4),
    cut=st.integers(0, 200),
    acks=st.sampled_from([-1, 0, 1, 5]),
    version=st.integers(3, 13),
)
def test_no_bytes_in_a_produce_request_are_a_bug(
    plane: DataPlane, flips: list[tuple[int, int]], cut: int, acks: int, version: int
) -> None:
    data = bytearray(plane.batch(2))
    for at, value in flips:
        data[at % len(data)] = value
    records = memoryview(bytes(data))[: len(data) - cut if cut < len(data) else 0]
    topic = plane.cluster.topics.get("empty")
    assert topic is not None
    before = topic.partitions[0].log.log_end_offset
    asked = TopicProduceData("empty", topic.topic_id, [PartitionProduceData(0, records)])
    answer = served(plane, ProduceRequest(None, acks, 1000, [asked]), version)
    if answer is not None and answer.responses[0].partition_responses[0].error_code:
        assert topic.partitions[0].log.log_end_offset == before


class Sessions(RuleBasedStateMachine):
    """A consumer with a fetch session and tiny limits gets every record of what it follows once and in order."""

    @initialize()
    def start(self) -> None:
        self.plane = DataPlane(topics={"x": 3, "y": 2})
        self.session = (0, 0)
        self.following: dict[tuple[str, int], int] = {}
        self.next_update: dict[str, list[tuple[int, int]]] = {}
        self.forget: list[ForgottenTopic] = []

    places = st.sampled_from([("x", 0), ("x", 1), ("x", 2), ("y", 0), ("y", 1)])

    @rule(place=places, count=st.integers(1, 4))
    def produce(self, place: tuple[str, int], count: int) -> None:
        self.plane.produce(place[0], count, partition=place[1])

    @rule(place=places)
    def follow(self, place: tuple[str, int]) -> None:
        if place not in self.following:
            self.following[place] = 0

    @rule(place=places)
    def unfollow(self, place: tuple[str, int]) -> None:
        if self.following.pop(place, None) is not None:
            topic = self.plane.cluster.topics.get(place[0])
            assert topic is not None
            self.forget.append(ForgottenTopic(place[0], topic.topic_id, [place[1]]))

    @rule(max_bytes=st.sampled_from([1, 100, 200, 10_000]))
    def fetch(self, max_bytes: int) -> None:
        wanted: dict[str, list[tuple[int, int]]] = {}
        for (name, index), offset in self.following.items():
            wanted.setdefault(name, []).append((index, offset))
        request = self.plane.fetch_request(wanted, session=self.session, max_bytes=max_bytes)
        if self.session[1]:
            request.forgotten_topics_data = [each for each in self.forget if self._gone(each)]
        self.forget.clear()
        response = self.plane.call(request, 12)
        assert response.error_code == 0
        self.session = (response.session_id, self.session[1] + 1 if response.session_id else 0)
        for topic in response.responses:
            for data in topic.partitions:
                place = (topic.topic, data.partition_index)
                offsets = [offset for offset in offsets_of(data) if offset >= self.following[place]]
                if offsets:
                    first = self.following[place]
                    assert offsets == list(range(first, first + len(offsets)))
                    self.following[place] = offsets[-1] + 1

    def _gone(self, each: ForgottenTopic) -> bool:
        return (each.topic, each.partitions[0]) not in self.following

    @invariant()
    def nothing_waits(self) -> None:
        topics = self.plane.cluster.topics.all() if hasattr(self, "plane") else []
        assert not any(len(partition.waiters) for topic in topics for partition in topic.partitions)

    def teardown(self) -> None:
        """In the end everything that is followed is read to its end."""
        if not hasattr(self, "plane"):
            return
        for _ in range(400):
            before = dict(self.following)
            self.fetch(1)
            if before == self.following:
                break
        for (name, index), offset in self.following.items():
            topic = self.plane.cluster.topics.get(name)
            assert topic is not None
            assert offset == topic.partitions[index].log.log_end_offset


Sessions.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=20, deadline=None)
TestSessions = Sessions.TestCase


def test_a_plain_fetch_reads_what_a_session_reads() -> None:
    plane = DataPlane(topics={"x": 1})
    plane.produce("x", 7)
    plain = partitions_of(plane.fetch({"x": 2}))
    session = partitions_of(plane.fetch({"x": 2}, session=(0, 0)))
    assert offsets_of(plain[0]) == offsets_of(session[0])
