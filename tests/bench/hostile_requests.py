"""Requests with as many elements as fit, for each array of all APIs, drawn from their declarations."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from odradek.broker.api.served import SERVED
from odradek.protocol.compression import Codec, compress
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.describe_transactions import DescribeTransactionsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.list_transactions import ListTransactionsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from odradek.protocol.message import Message
from odradek.protocol.message_codec import codec
from odradek.protocol.message_sets import encode_message
from odradek.protocol.record_batch import assemble
from odradek.protocol.records import Record, encode_record, encode_records
from odradek.protocol.schema import ArrayOf, Field, Int32, String, StructOf, Uuid
from odradek.wire_client import WireConnection

KNOWN = "known"
"""The topic that the broker of the bench has."""
PARTITIONS = 40
_VALUES: dict[str, Any] = {"resource_type": 2, "timestamp": -1, "group_id": KNOWN}
NAMES_OF: dict[str, Callable[[int], str]] = {
    "unknown": lambda number: f"{number:x}",
    "bad": lambda number: f"{number:x}/",
    "known": lambda number: KNOWN,
    "same": lambda number: "u",
}
"""What an element is called, by its number."""


class Row(NamedTuple):
    """One hostile request. `make`: from the size in bytes that it should have, and the most elements of all arrays.

    `release`: of the broker, "" for the newest. `before`: what the broker is to have before.
    """

    name: str
    version: int
    make: Callable[[int, int], Any]
    release: str = ""
    before: Callable[[WireConnection], None] | None = None


def rows() -> Iterator[Row]:
    """The cases of `named_rows`, then each array of each API, in the highest and the lowest version."""
    yield from named_rows()
    for handler in SERVED.all().values():
        request = handler.spec.request
        for version in sorted({handler.min_version, handler.max_version}, reverse=True):
            for path in paths(request, version):
                for kind, name_of in NAMES_OF.items():
                    name = f"{handler.spec.name} {'.'.join(field.name for field in path)} {kind}"
                    yield Row(name, version, partial(filled, request, version, path, name_of))


def named_rows() -> Iterator[Row]:
    """What the declarations do not say. A new case is a row here."""
    broker, topic = DescribeConfigsResource(4, "1", None), DescribeConfigsResource(2, KNOWN, None)
    tagged = HeartbeatRequest(KNOWN, unknown_tagged_fields=tuple((tag, b"") for tag in range(9_999)))
    yield Row(
        "configs of a broker", 4, lambda size, most: DescribeConfigsRequest([broker] * min(size // 5, most), True, True)
    )
    yield Row(
        "configs of 30,000 topics",
        4,
        lambda size, most: DescribeConfigsRequest([topic] * min(30_000, most), True, True),
    )
    yield Row("a group, again and again", 5, lambda size, most: DescribeGroupsRequest([KNOWN] * min(size // 7, most)))
    yield Row("tagged fields", 4, lambda size, most: tagged)
    yield Row("all topics", 12, lambda size, most: MetadataRequest(None))
    for name, make in BATCHES.items():
        yield Row(f"batches, {name}", 9, partial(_produced, make))
    for name, version, request, before in SMALL:
        yield Row(name, version, partial(_given, request), before=before)
    yield Row("sets of a million messages", 0, partial(_sets, True), OLDER)
    yield Row("sets of messages, not compressed", 2, partial(_sets, False), OLDER)
    for each in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4):
        for version in (0, 3):
            for size, count in _FETCHED.items():
                name = f"fetch of {count} batches of {size} records, {each.name.lower()}"
                before = partial(_batches, each, size, count)
                if size == min(_FETCHED) or (each and version):
                    yield Row(name, version, lambda size, most: _fetched(), OLDER, before)


def _large_record() -> tuple[bytes, int]:
    return encode_records([Record(0, 0, None, bytes(100_000_000))], 0, 0), 1


def _small_records() -> tuple[bytes, int]:
    return encode_record(Record(0, 0, None, None), 0, 0) * 14_000_000, 14_000_000


BATCHES: dict[str, Callable[[], tuple[bytes, int]]] = {
    "each one record of 100 MB": _large_record,
    "each 14 million records": _small_records,
}
"""Bodies of batches that zstd makes small."""


# -- small requests for much


def _given(request: Any, size: int, most: int) -> Any:
    return request


def _asked(client: WireConnection, request: Any, version: int) -> Any:
    return client.receive(request, version, client.send(request, version))


def _coordinated(client: WireConnection, kind: int) -> None:
    """Wait for the coordinator of a group (kind 0) or a transactional id (1)."""
    while _asked(client, FindCoordinatorRequest(key_type=kind, coordinator_keys=[KNOWN]), 4).coordinators[0].error_code:
        time.sleep(0.01)


def _classic_member(client: WireConnection) -> None:
    _coordinated(client, 0)
    protocols = [JoinGroupRequestProtocol("range", bytes(450_000))]
    member_id = ""
    for _ in range(2):
        joined = _asked(client, JoinGroupRequest(KNOWN, 45_000, 60_000, member_id, None, "consumer", protocols), 5)
        member_id = joined.member_id
    share = [SyncGroupRequestAssignment(member_id, bytes(450_000))]
    synced = _asked(client, SyncGroupRequest(KNOWN, joined.generation_id, member_id, assignments=share), 3)
    assert synced.error_code == 0, synced


def _consumer_member(client: WireConnection) -> None:
    _coordinated(client, 0)
    names = [f"{number:0200}" for number in range(4000)]
    joining = ConsumerGroupHeartbeatRequest(
        KNOWN, "a" * 22, 0, rebalance_timeout_ms=300_000, subscribed_topic_names=names, topic_partitions=[]
    )
    joined = _asked(client, joining, 1)
    assert joined.error_code == 0, joined


def _topic(client: WireConnection) -> None:
    _asked(client, CreateTopicsRequest([CreatableTopic("large", 10_000, 1)]), 5)


def _offsets(client: WireConnection) -> None:
    _coordinated(client, 0)
    _topic(client)
    for first in range(0, 10_000, 200):
        rows = [
            OffsetCommitRequestPartition(n, 1, -1, committed_metadata="m" * 4000) for n in range(first, first + 200)
        ]
        _asked(client, OffsetCommitRequest(KNOWN, topics=[OffsetCommitRequestTopic("large", partitions=rows)]), 8)


def _transaction(client: WireConnection) -> None:
    _coordinated(client, 1)
    _topic(client)
    begun = _asked(client, InitProducerIdRequest(KNOWN, 600_000), 4)
    topics = [AddPartitionsToTxnTopic("large", list(range(10_000)))]
    adding = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=KNOWN,
        v3_and_below_producer_id=begun.producer_id,
        v3_and_below_producer_epoch=begun.producer_epoch,
        v3_and_below_topics=topics,
    )
    added = _asked(client, adding, 3)
    assert not added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code, added


def _backtracking(client: WireConnection) -> None:
    _coordinated(client, 1)
    _asked(client, InitProducerIdRequest("a" * 20_000, 60_000), 4)


SMALL: list[tuple[str, int, Any, Callable[[WireConnection], None]]] = [
    ("a classic group of 900 kB, 1,500 times", 5, DescribeGroupsRequest([KNOWN] * 1500), _classic_member),
    ("a consumer group of 800 kB, 1,500 times", 1, ConsumerGroupDescribeRequest([KNOWN] * 1500), _consumer_member),
    (
        "10,000 offsets of a group, 1,000 times",
        9,
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(KNOWN, topics=None)] * 1000),
        _offsets,
    ),
    ("a transaction of 10,000 partitions, 1,500 times", 0, DescribeTransactionsRequest([KNOWN] * 1500), _transaction),
    ("a pattern that backtracks", 2, ListTransactionsRequest(transactional_id_pattern="(a+)+b"), _backtracking),
]
"""Requests below 16 kB: name, version, request, and what the broker is to have before."""


OLDER = "2.8"
_FETCHED = {30_000: PARTITIONS, 1_000_000: 2, 5_000_000: 2}
"""The sizes of the batches that are fetched as message sets, and on how many partitions they are."""


def _sets(packed: bool, size: int, most: int) -> ProduceRequest:
    """Message sets, small ones for their number of messages."""
    message = encode_message(0, 0, -1, None, None)
    if not packed:
        data = [PartitionProduceData(0, message * (size // len(message)))]
    else:
        wrapper = encode_message(0, 0, -1, None, compress(Codec.GZIP, message * 1_000_000), int(Codec.GZIP))
        data = [PartitionProduceData(index, wrapper) for index in range(4)]
    return ProduceRequest(None, 1, 60_000, [TopicProduceData(KNOWN, partition_data=data)])


def _batches(codec: Codec, size: int, count: int, client: WireConnection) -> None:
    body = compress(codec, b"".join(encode_record(Record(0, 0, None, None), 0, each) for each in range(size)))
    batch = assemble(0, 0, (int(codec), size - 1, 0, 0, -1, -1, -1, size), body)
    data = [PartitionProduceData(index, batch) for index in range(count)]
    answer = _asked(client, ProduceRequest(None, 1, 60_000, [TopicProduceData(KNOWN, partition_data=data)]), 9)
    assert not any(each.error_code for topic in answer.responses for each in topic.partition_responses), answer


def _fetched() -> FetchRequest:
    parts = [FetchPartition(index, fetch_offset=0, partition_max_bytes=10_000_000) for index in range(PARTITIONS)]
    topics = [FetchTopic(KNOWN, partitions=parts)]
    return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=50_000_000, topics=topics)


def _produced(make: Callable[[], tuple[bytes, int]], size: int, most: int) -> ProduceRequest:
    """The same batch for each partition."""
    body, count = make()
    after_crc = (int(Codec.ZSTD), count - 1, 0, 0, -1, -1, -1, count)
    batch = assemble(0, 0, after_crc, compress(Codec.ZSTD, body))
    data = [PartitionProduceData(index, batch) for index in range(PARTITIONS)]
    return ProduceRequest(None, 1, 60_000, [TopicProduceData(KNOWN, partition_data=data)])


def paths(message: type[Message], version: int) -> Iterator[tuple[Field, ...]]:
    """Each array, behind the arrays that it is in."""
    for field in message.declare():
        if version in field.versions and isinstance(field.type, ArrayOf):
            yield (field,)
            element = field.type.element
            if isinstance(element, StructOf):
                for inner in paths(element.message, version):
                    yield (field, *inner)


def filled(
    message: type[Any], version: int, path: tuple[Field, ...], name_of: Callable[[int], str], size: int, most: int
) -> Any:
    """A request of so many bytes: the last array of the path is full, the outer ones have one element."""
    request = _struct(message, version, name_of, 0, inner=False)
    target: Any = request
    for field in path[:-1]:
        target_of = _element(field, version, name_of, 0)
        setattr(target, field.name, [target_of])
        target = target_of
    last = path[-1]
    setattr(target, last.name, [_element(last, version, name_of, number) for number in range(9000, 9100)])
    coded = codec(message, version)
    hundred = len(coded.encode(request))
    setattr(target, last.name, [])
    count = int(size / max((hundred - len(coded.encode(request))) / 100, 1))
    count = min(count, (most - len(path)) // _elements_of(last, version))
    setattr(target, last.name, [_element(last, version, name_of, number) for number in range(count)])
    return request


def _elements_of(field: Field, version: int) -> int:
    """How many elements an element of an array is: itself, and one of each array in it."""
    assert isinstance(field.type, ArrayOf)
    kind = field.type.element
    return 1 + (sum(1 for _ in paths(kind.message, version)) if isinstance(kind, StructOf) else 0)


def _element(field: Field, version: int, name_of: Callable[[int], str], number: int) -> Any:
    assert isinstance(field.type, ArrayOf)
    kind = field.type.element
    if isinstance(kind, StructOf):
        return _struct(kind.message, version, name_of, number, inner=True)
    if kind is String:
        return name_of(number)
    return _uuid(name_of(number)) if kind is Uuid else number % 100


def _struct(message: type[Any], version: int, name_of: Callable[[int], str], number: int, *, inner: bool) -> Any:
    """`inner`: an element of an array, whose names are from `name_of`, and whose arrays have one element."""
    made = message()
    for field in message.declare():
        if version not in field.versions:
            continue
        if field.name in _VALUES:
            setattr(made, field.name, _VALUES[field.name])
        elif inner and field.type is String:
            setattr(made, field.name, name_of(number))
        elif inner and field.type is Uuid:
            setattr(made, field.name, _uuid(name_of(number)))
        elif inner and field.type is Int32 and ("partition" in field.name or "index" in field.name):
            setattr(made, field.name, 0 if name_of(0) == name_of(1) else number)
        elif isinstance(field.type, ArrayOf):
            setattr(made, field.name, [_element(field, version, name_of, number)] if inner else [])
    return made


def _uuid(name: str) -> bytes:
    return hashlib.md5(name.encode(), usedforsecurity=False).digest()
