"""What is kept of requests, how much of it, and the last ones as text."""

from __future__ import annotations

import struct
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.requests.context import CloseConnection, ConnectionInfo
from odradek.broker.requests.dispatch import Pending
from odradek.broker.requests.recent_requests import (
    ANSWER_SIZE,
    MAX_LARGE_BYTES,
    MAX_REQUESTS,
    REGISTRY_API,
    REGISTRY_KEY,
    SIZE,
    WHOLE_BYTES,
    Exchange,
    Head,
    RecentRequests,
    Told,
    UnsupportedRequest,
    api_name,
    unsupported_request,
)
from odradek.broker.transcript.recorded_request import decoded_answer, decoded_request, whole_bytes
from odradek.protocol.apis import API_BY_KEY, API_BY_NAME
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.broker.conftest import request_frame
from tests.fakes.exchanges import Names, raw_exchange


class Asked:
    """A broker that is asked without sockets."""

    def __init__(self, transcript: str = "true") -> None:
        self.cluster = Cluster(config={"odradek.transcript": transcript})
        self.cluster.create_topic("orders", partitions=3)

    def ask(self, request: Any, version: int) -> Exchange:
        frame = memoryview(request_frame(request, version))[4:]
        answer = self.cluster.dispatcher.begin(self.cluster.nodes[1], ConnectionInfo(id="c1"), frame)
        assert not isinstance(answer, Pending)
        return self.last

    @property
    def last(self) -> Exchange:
        return Exchange._make(self.cluster.recent.entries[-1])


@pytest.fixture
def asked() -> Iterator[Asked]:
    one = Asked()
    yield one
    assert not one.cluster.bug_log.bugs


def kept_bytes(kept: Any) -> int:
    """Of a message without its records."""
    assert isinstance(kept, tuple)
    assert not isinstance(kept, Head | Told)
    return sum(len(head) for head, _ in kept)


def batch(value_bytes: int, records: int = 1) -> bytes:
    return build_batch([Record(number, 1000, None, b"v" * value_bytes, ()) for number in range(records)])


def produce(*values: int, records: int = 1) -> ProduceRequest:
    data = [PartitionProduceData(index, batch(size, records)) for index, size in enumerate(values)]
    return ProduceRequest(None, 1, 30_000, [TopicProduceData("orders", bytes(16), data)])


def test_the_last_64_requests_newest_last() -> None:
    recent = RecentRequests()
    for number in range(100):
        recent.entries.append(raw_exchange(MetadataRequest(), 12, correlation_id=number, client_id=None))
    lines = recent.lines()
    assert len(lines) == 64
    assert lines[-1].endswith(" Metadata v12 correlation 99 client None (15 bytes)")


def test_small_messages_are_kept_as_they_are(asked: Asked) -> None:
    kept = asked.ask(ApiVersionsRequest(client_software_name="me", client_software_version="1"), 3)
    assert (kept.connection, kept.node_id, kept.api_key, kept.version) == ("c1", 1, 18, 3)
    assert isinstance(kept.frame, bytes)
    assert len(kept.frame) == kept.size
    assert isinstance(kept.answer, bytes)
    assert len(kept.answer) == kept.answer_size + 4 == int.from_bytes(kept.answer[:4]) + 4
    assert kept.answered >= kept.seconds


@pytest.mark.parametrize("version", [8, 11])
@pytest.mark.parametrize("sizes", [(100_000,), (100_000, 20, 50_000), (3000, 3000, 3000)])
def test_of_large_records_the_header_of_the_batch_is_kept(asked: Asked, sizes: tuple[int, ...], version: int) -> None:
    kept = asked.ask(produce(*sizes, records=2), version)
    whole = whole_bytes(kept.frame)
    assert whole is not None
    assert len(whole) == kept.size
    request: Any = decoded_request(kept)
    assert request is not None
    found = request.topic_data[0].partition_data
    assert [(each.index, len(each.records)) for each in found] == [
        (index, len(batch(size, 2))) for index, size in enumerate(sizes)
    ]
    assert [bytes(each.records[:61]) for each in found] == [batch(size, 2)[:61] for size in sizes]
    assert kept_bytes(kept.frame) < 3500


def test_of_a_large_answer_too(asked: Asked) -> None:
    for _ in range(3):
        asked.ask(produce(100_000), 11)
    fetch = FetchRequest(
        max_bytes=1_000_000,
        session_epoch=-1,
        topics=[FetchTopic("orders", bytes(16), [FetchPartition(0, fetch_offset=0, partition_max_bytes=1_000_000)])],
    )
    kept = asked.ask(fetch, 12)
    answer: Any = decoded_answer(kept)
    found = answer.responses[0].partitions[0]
    assert (found.high_watermark, len(found.records)) == (3, 3 * len(batch(100_000)))
    assert kept_bytes(kept.answer) < 500


def test_large_messages_without_records_are_kept_up_to_a_size(asked: Asked) -> None:
    names = [f"a-topic-with-a-rather-long-name-{number}" for number in range(30)]
    request = CreateTopicsRequest([CreatableTopic(name, 1, 1) for name in names], 1000, True)
    kept = asked.ask(request, 7)
    assert kept.size > WHOLE_BYTES
    assert [each.name for each in decoded_request(kept).topics] == names  # type: ignore[union-attr]
    assert [each.name for each in decoded_answer(kept).topics] == names  # type: ignore[union-attr]


def test_of_the_largest_the_beginning_is_kept() -> None:
    recent = RecentRequests()
    request = CreateTopicsRequest([CreatableTopic(f"topic-{number}", 1, 1) for number in range(5000)], 1000, True)
    frame = request_frame(request, 7)[4:]
    raw = raw_exchange(request, 7)
    recent.keep_request(raw, request, memoryview(frame), Names())
    recent.keep_answer(raw, None, [b"\0\0\1\0", bytes(100_000)], 100_004)
    kept = Exchange._make(raw)
    assert kept.frame == Head(frame[:WHOLE_BYTES], len(frame))
    assert kept.answer == Head(b"\0\0\1\0" + bytes(WHOLE_BYTES - 4), 100_004)
    assert (decoded_request(kept), decoded_answer(kept)) == (None, None)


def test_what_may_hold_a_password_is_not_kept(asked: Asked) -> None:
    password = b"salted-secret"
    upsertion = ScramCredentialUpsertion("alice", 1, 4096, b"the-salt", password)
    kept = asked.ask(AlterUserScramCredentialsRequest([], [upsertion]), 0)
    assert isinstance(kept.frame, Told)
    assert isinstance(kept.answer, Told)
    assert "salt" not in repr(kept)
    assert (decoded_request(kept), decoded_answer(kept)) == (None, None)


@pytest.mark.long
def test_large_messages_give_way_to_newer_ones() -> None:
    recent = RecentRequests()
    request = CreateTopicsRequest([CreatableTopic(f"topic-{number}", 1, 1) for number in range(2000)], 1000, True)
    frame = memoryview(request_frame(request, 7))[4:]
    for _ in range(400):
        raw = raw_exchange(request, 7)
        raw[SIZE], raw[ANSWER_SIZE] = len(frame), 99
        recent.keep_request(raw, request, frame, Names())
        recent.entries.append(raw)
    entries = [Exchange._make(each) for each in recent.entries]
    assert entries[0].frame == Head(b"", len(frame))
    assert whole_bytes(entries[-1].frame) == bytes(frame)
    assert sum(len(whole_bytes(each.frame) or b"") for each in entries) <= 8 * 1024 * 1024


def test_recent_requests_have_bounded_memory() -> None:
    """Each message as large as it may be to be kept at once: the most that a transcript of small messages takes."""
    one = Asked()
    body = "x" * (WHOLE_BYTES - 60)
    request = ApiVersionsRequest(client_software_name=body, client_software_version="1")
    frame = memoryview(request_frame(request, 3))[4:]
    info = ConnectionInfo(id="c1")
    for _ in range(MAX_REQUESTS + 10):
        one.cluster.dispatcher.begin(one.cluster.nodes[1], info, frame)
    entries = one.cluster.recent.entries
    assert len(entries) == MAX_REQUESTS
    own = [part for raw in entries for part in raw if not isinstance(part, str | None)]
    used = sum(map(sys.getsizeof, entries)) + sum(map(sys.getsizeof, own))
    assert MAX_REQUESTS * len(frame) < used < 27_000_000


def deep_size(value: Any, seen: set[int]) -> int:
    """The bytes of a value and all that it refers to, each once."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = chain.from_iterable(value.items())
    elif isinstance(value, list | tuple | set | deque):
        inner = value
    return sys.getsizeof(value) + sum(deep_size(each, seen) for each in inner)


def long_client_id(number: int) -> bytes:
    return request_frame(ApiVersionsRequest(), 0, client_id=f"{number}" + "\N{GRINNING FACE}" * 8000)[4:]


def long_name(number: int) -> bytes:
    data = [TopicProduceData(f"{number}" + "x" * 32_000, partition_data=[PartitionProduceData(0, batch(10))])]
    return request_frame(ProduceRequest(acks=1, topic_data=data), 9)[4:]


def changes(number: int, resources: int) -> bytes:
    """A request that may hold a password, so that only what it is about is kept."""
    asked = [AlterConfigsResource(2, f"{number}-{each}", []) for each in range(resources)]
    return request_frame(IncrementalAlterConfigsRequest(asked), 1)[4:]


@pytest.mark.parametrize(
    "frame",
    [
        long_client_id,
        pytest.param(long_name, marks=pytest.mark.long),
        pytest.param(partial(changes, resources=100), marks=pytest.mark.long),
    ],
    ids=["client ids", "names", "resources"],
)
def test_whatever_clients_send_is_bounded(frame: Callable[[int], bytes]) -> None:
    """So much of a full transcript takes so much of its limit, beside what the large messages share."""
    one = Asked()
    info = ConnectionInfo(id="c1")
    count = 300
    for number in range(count):
        one.cluster.dispatcher.begin(one.cluster.nodes[1], info, memoryview(frame(number)))
    recent = one.cluster.recent
    assert deep_size(recent.entries, set()) <= MAX_LARGE_BYTES + 27_000_000 * count / MAX_REQUESTS


def test_switched_off_it_has_the_last_64_and_no_messages() -> None:
    one = Asked(transcript="false")
    for _ in range(100):
        kept = one.ask(ApiVersionsRequest(), 0)
    assert (kept.frame, kept.answer) == (None, None)
    assert kept.answer_size
    one.ask(produce(5000), 11)
    assert one.last.frame is None
    assert len(one.cluster.recent.entries) == 64


def test_a_request_that_ends_its_connection_says_why(asked: Asked) -> None:
    frame = request_frame(MetadataRequest(topics=None), 12)[4:-2]
    with pytest.raises(CloseConnection):
        asked.cluster.dispatcher.begin(asked.cluster.nodes[1], ConnectionInfo(id="c1"), memoryview(frame))
    assert asked.last.cut is not None
    assert asked.last.cut.startswith("Metadata v12: ")
    assert not asked.last.answered


def test_watchers_are_told_of_each_end(asked: Asked) -> None:
    told: list[Exchange] = []
    recent = asked.cluster.recent
    recent.watchers.append(lambda raw: told.append(Exchange._make(raw)))
    asked.cluster.dispatcher.watchers_changed()
    asked.ask(ApiVersionsRequest(), 0)
    with pytest.raises(CloseConnection):
        asked.cluster.dispatcher.begin(
            asked.cluster.nodes[1], ConnectionInfo(id="c1"), memoryview(b"\0\3\0\1" + bytes(6))
        )
    assert [(each.api_key, each.cut is None) for each in told] == [(18, True), (3, False)]
    recent.watchers.clear()
    asked.cluster.dispatcher.watchers_changed()
    asked.ask(ApiVersionsRequest(), 0)
    assert len(told) == 2
    recent.forget()
    assert not recent.entries


# -- Names of APIs, and what reports say of requests in versions that nobody serves.


def test_names_are_those_of_kafka_and_one_more() -> None:
    assert api_name(1) == "Fetch"
    assert api_name(REGISTRY_KEY) == REGISTRY_API
    assert REGISTRY_KEY not in API_BY_KEY
    assert REGISTRY_API not in API_BY_NAME


@pytest.mark.parametrize(
    ("length", "raw", "client"),
    [(3, b"app", "app"), (-1, b"", ""), (0, b"", ""), (9, b"app", "app"), (2, b"\xff\xfe", "\ufffd\ufffd")],
)
def test_what_a_frame_asks_for(length: int, raw: bytes, client: str) -> None:
    frame = memoryview(struct.pack(">hhih", 1, 2, 7, length) + raw)
    assert unsupported_request(5, "::1", frame, (4, 18)) == UnsupportedRequest(5, client, "::1", "Fetch", 2, "4 to 18")


def test_it_says_what_is_served() -> None:
    assert (
        str(UnsupportedRequest(0, "", "h", "Fetch", 2, "4 to 18")) == "Fetch is not served in version 2, but in 4 to 18"
    )
    assert str(UnsupportedRequest(0, "", "h", "Fetch", 0, "")) == "Fetch is not served"
