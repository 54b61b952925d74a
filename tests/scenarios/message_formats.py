"""Requests in versions that Kafka 4.0 removed, with records in message formats 0 and 1.

Two brokers are asked the same and must give the same answers. Those of real brokers, of 2.8 with ZooKeeper
and of 3.3 to 3.9 with KRaft, lie in `tests/vectors/message_formats-RELEASE.json.gz`; this writes them:

    python -m tests.scenarios.message_formats HOST:PORT tests/vectors/message_formats-2.8.json.gz
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.compression import Codec, compress, decompress
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from odradek.protocol.generated.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.message_sets import encode_message
from odradek.protocol.record_batch import TimestampType, batch_size_at, build_batch, read_batch
from odradek.protocol.records import Record
from odradek.wire_client import ConnectionClosed, WireConnection

Answers = dict[str, Any]
T0 = 1_700_000_000_000
"""The time of all records: answers must not depend on when somebody asks."""
KEPT = {"retention.ms": "-1", "message.timestamp.difference.max.ms": str(1 << 60)}
_LOG_APPEND_TIME = 0x08
_OLDEST_FETCH_OF_BATCHES = 4


# -- message sets


def plain(magic: int, count: int, first: int = 0, attributes: int = 0) -> bytes:
    """Messages without compression."""
    return b"".join(message(magic, index, attributes=attributes) for index in range(first, first + count))


def message(magic: int, index: int, offset: int | None = None, attributes: int = 0) -> bytes:
    at = index if offset is None else offset
    return encode_message(magic, at, T0 + index, b"k%d" % index, b"v%d" % index, attributes)


def wrapped(
    magic: int, codec: int, inner: bytes, offset: int = 2, attributes: int = 0, timestamp: int = T0 + 2
) -> bytes:
    """A compressed message. Format 0 has LZ4 frames of its own, which only the broker makes here."""
    known = Codec(codec) if codec <= Codec.ZSTD else Codec.NONE
    return encode_message(magic, offset, timestamp, None, compress(known, inner), codec | attributes)


def damaged(data: bytes, at: int = -1) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 0xFF
    return bytes(changed)


def sets() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of what old producers send, and of what none should."""
    batch = build_batch([Record(0, T0, b"k", b"v", (("h", b"1"),))])
    yield "empty", b""
    yield "batch of format 2", batch
    yield "two batches of format 2", batch + batch
    yield "damaged batch of format 2", damaged(batch)
    by_broker = TimestampType.LOG_APPEND_TIME
    appended = build_batch([Record(0, T0, b"k", b"v")], timestamp_type=by_broker, log_append_time_ms=T0)
    yield "batch of format 2 with append time", appended
    yield "unknown format", plain(1, 1)[:16] + b"\x03" + plain(1, 1)[17:]
    for magic in (0, 1):
        one, three = plain(magic, 1), plain(magic, 3)
        yield f"{magic}: one", one
        yield f"{magic}: three", three
        yield f"{magic}: without key and value", encode_message(magic, 0, T0, None, None)
        yield f"{magic}: empty key and value", encode_message(magic, 0, T0, b"", b"")
        yield f"{magic}: offsets that say nothing", message(magic, 0, 77) + message(magic, 1, -5)
        yield f"{magic}: cut off", three[:-3]
        yield f"{magic}: nothing but a part", one[:-3]
        yield f"{magic}: too few bytes for a size", one[:10]
        yield f"{magic}: size below the minimum", one[:8] + b"\0\0\0\5" + one[12:]
        yield f"{magic}: damaged", damaged(three)
        yield f"{magic}: wrong CRC of the second", damaged(three, len(one) + 13)
        yield f"{magic}: key longer than the message", _refitted(magic, key_size=500)
        yield f"{magic}: negative key size", _refitted(magic, key_size=-7)
        yield f"{magic}: then a batch of format 2", one + batch
        yield f"{magic}: then the other format", one + plain(1 - magic, 1)
        yield f"{magic}: append time", plain(magic, 1, attributes=_LOG_APPEND_TIME)
        yield f"{magic}: unused attributes", plain(magic, 1, attributes=0x70)
        for codec in (Codec.GZIP, Codec.SNAPPY):
            yield f"{magic}: {codec.name}", wrapped(magic, codec, three)
        yield f"{magic}: LZ4", wrapped(magic, Codec.LZ4, three)
        yield f"{magic}: zstd", wrapped(magic, Codec.ZSTD, three)
        for number in (5, 6, 7):
            yield f"{magic}: codec {number}", wrapped(magic, number, three)

        def gzip_of(inner: bytes, offset: int = 2, attributes: int = 0, magic: int = magic) -> bytes:
            return wrapped(magic, Codec.GZIP, inner, offset, attributes)

        yield f"{magic}: wrapper with offset 0", gzip_of(three, offset=0)
        yield f"{magic}: wrapper with an absolute offset", gzip_of(three, offset=1002)
        yield f"{magic}: wrapper before its messages", gzip_of(plain(magic, 3, 5), offset=3)
        yield f"{magic}: absolute offsets within", gzip_of(plain(magic, 3, 5), offset=7)
        yield f"{magic}: gaps within", gzip_of(message(magic, 0) + message(magic, 1, 4), offset=4)
        yield f"{magic}: wrapper of append time", gzip_of(three, attributes=_LOG_APPEND_TIME)
        yield f"{magic}: append time within", gzip_of(plain(magic, 3, attributes=_LOG_APPEND_TIME))
        yield f"{magic}: wrapper of a wrapper", gzip_of(gzip_of(three))
        yield f"{magic}: wrapper of the other format", gzip_of(plain(1 - magic, 3))
        yield f"{magic}: wrapper of a batch", gzip_of(batch)
        yield f"{magic}: wrapper of nothing", gzip_of(b"")
        yield f"{magic}: wrapper of a part", gzip_of(one[:-3])
        yield f"{magic}: wrapper with a part at its end", gzip_of(three + one[:-3])
        yield f"{magic}: wrapper with a size below the minimum", gzip_of(one[:8] + b"\0\0\0\5" + one[12:])
        yield f"{magic}: wrapper without a value", encode_message(magic, 0, T0, None, None, Codec.GZIP)
        yield f"{magic}: wrapper of no gzip", encode_message(magic, 0, T0, None, b"nothing", Codec.GZIP)
        yield f"{magic}: damaged within", gzip_of(damaged(three))
        yield (
            f"{magic}: wrapper with a key",
            encode_message(magic, 2, T0, b"k", compress(Codec.GZIP, three), Codec.GZIP),
        )
        yield f"{magic}: two wrappers", gzip_of(three) + gzip_of(three)
        yield f"{magic}: a plain one, then a wrapper", one + gzip_of(three)
        yield f"{magic}: a wrapper, then a plain one", gzip_of(three) + one


def _refitted(magic: int, key_size: int) -> bytes:
    """A message with the right checksum whose key claims another size."""
    import struct
    import zlib

    whole = bytearray(plain(magic, 1))
    struct.pack_into(">i", whole, 18 + 8 * magic, key_size)
    struct.pack_into(">I", whole, 12, zlib.crc32(whole[16:]))
    return bytes(whole)


# -- what comes back, readable


def shown(data: Any) -> list[Any]:
    """Records as text: batches and messages with their records, and what is left behind them."""
    buf = bytes(data or b"")
    found: list[Any] = []
    pos = 0
    while True:
        try:
            size = batch_size_at(buf, pos)
        except CorruptDataError as error:
            return [*found, str(error)]
        if size is None:
            break
        found.append(_shown_entry(buf[pos : pos + size]))
        pos += size
    return [*found, {"left": len(buf) - pos, "begins": buf[pos : pos + 12].hex()}] if pos < len(buf) else found


def comparable(entries: list[Any]) -> list[Any]:
    """What does not depend on the library that compresses: it decides where what follows is cut off."""
    last = max(
        (place for place, each in enumerate(entries) if isinstance(each, dict) and "inner" in each), default=None
    )
    return entries if last is None else entries[: last + 1]


def _shown_entry(data: bytes) -> Any:
    magic = data[16]
    if magic == 2:
        batch = read_batch(data)
        records = [
            [r.offset, _since(r.timestamp), _text(r.key), _text(r.value), len(r.headers)]
            for r in ([] if batch.is_control else batch.records())
        ]
        return {"batch": [batch.base_offset, batch.last_offset], "attributes": batch.attributes, "records": records}
    return _shown_message(data)


def _shown_message(data: bytes) -> Any:
    from odradek.protocol.message_sets import read_messages

    (found,) = read_messages(data)
    if not found.attributes & 7:
        row: dict[str, Any] = {"key": _text(found.key), "value": _text(found.value)}
    else:
        codec = Codec(found.attributes & 7)
        frame = found.value or b""
        if codec is Codec.LZ4 and not found.magic:  # the checksum of the frame's header is the format's own
            row = {"key": _text(found.key), "frame checksum": _is_old_frame(frame)}
            frame = _as_frame(frame)
        else:
            row = {"key": _text(found.key)}
        row["inner"] = shown(decompress(codec, frame))
    return {
        "offset": found.offset,
        "magic": found.magic,
        "attributes": found.attributes,
        "timestamp": _since(found.timestamp),
        **row,
        "intact": found.is_intact,
    }


def _since(timestamp: int) -> int | str:
    """A timestamp of the sets as what is above T0; the broker's own times are not told."""
    if timestamp < T0:
        return timestamp
    return timestamp - T0 if timestamp < T0 + 1_000_000 else "now"


def _is_old_frame(frame: bytes) -> bool:
    from xxhash import xxh32_intdigest

    return xxh32_intdigest(frame[:6]) >> 8 & 0xFF == frame[6]


def _as_frame(frame: bytes) -> bytes:
    from xxhash import xxh32_intdigest

    return frame[:6] + bytes((xxh32_intdigest(frame[4:6]) >> 8 & 0xFF,)) + frame[7:]


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("latin-1") if len(data) < 40 else f"{len(data)} bytes"


# -- the conversation


class Talk:
    """Asks one broker; `answers` is what it said."""

    def __init__(self, host: str, port: int) -> None:
        self.answers: Answers = {}
        self._address = host, port
        self._connection = WireConnection(host, port)
        self._topics = 0
        self._run = f"formats-{time.time_ns()}"

    def close(self) -> None:
        self._connection.close()

    def ask(self, request: Any, version: int) -> Any:
        """The answer; None if the broker closes the connection."""
        try:
            return self._connection.receive(request, version, self._connection.send(request, version))
        except ConnectionClosed:
            self._connection.close()
            self._connection = WireConnection(*self._address)
            return None

    def tell(self, name: str, answer: Any) -> None:
        assert name not in self.answers, name
        self.answers[name] = answer

    def topic(self, configs: Mapping[str, str] | None = None) -> str:
        """A new topic of one partition."""
        self._topics += 1
        name = f"{self._run}-{self._topics}"
        wanted = [CreatableTopicConfig(*pair) for pair in {**KEPT, **(configs or {})}.items()]
        (made,) = self.ask(CreateTopicsRequest([CreatableTopic(name, 1, 1, configs=wanted)], 10_000), 4).topics
        assert made.error_code == 0, made
        deadline = time.monotonic() + 300
        while self.fetch(name, 0, 10)[0]:  # it may take a moment to have a leader
            assert time.monotonic() < deadline
        return name

    def produce(self, topic: str, records: bytes, version: int, acks: int = 1, owner: str | None = None) -> list[Any]:
        """Error, base offset, and whether the broker set the time."""
        data = [TopicProduceData(topic, partition_data=[PartitionProduceData(0, records)])]
        answer = self.ask(ProduceRequest(owner, acks, 10_000, data), version)
        if answer is None:
            return [None]
        found = answer.responses[0].partition_responses[0]
        return [found.error_code, found.base_offset, found.log_append_time_ms >= 0]

    def fetch(self, topic: str, offset: int, version: int, max_bytes: int = 1 << 20, most: int = 1 << 20) -> list[Any]:
        """Error, high watermark and the records as they came."""
        part = FetchPartition(0, fetch_offset=offset, partition_max_bytes=max_bytes)
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, max_bytes=most, topics=[FetchTopic(topic, partitions=[part])]
        )
        answer = self.ask(request, version)
        if answer is None:
            return [None]
        found = answer.responses[0].partitions[0]
        return [found.error_code, found.high_watermark, found.records]

    # -- Produce

    def produce_everything(self) -> None:
        for version in (0, 1, 2, 3, 7):
            for name, records in sets():
                topic = self.topic()
                told = self.produce(topic, records, version)
                stored = self.fetch(topic, 0, 4) if version in (1, 2) else []
                self.tell(f"produce {version}, {name}", [*told, *stored[:2], *shown(stored[2] if stored else b"")])

    def produce_under_rules(self) -> None:
        one, three = plain(1, 1), plain(1, 3)
        rules: dict[str, dict[str, str]] = {
            "compact": {"cleanup.policy": "compact"},
            "append time": {"message.timestamp.type": "LogAppendTime"},
            "young": {"message.timestamp.difference.max.ms": "1000"},
            "gzip": {"compression.type": "gzip"},
            "uncompressed": {"compression.type": "uncompressed"},
            "small": {"max.message.bytes": "100"},
        }
        asked = {
            "0: three": plain(0, 3),
            "1: three": three,
            "0: wrapper": wrapped(0, Codec.GZIP, plain(0, 3)),
            "1: wrapper": wrapped(1, Codec.GZIP, three),
            "1: wrapper of append time": wrapped(1, Codec.GZIP, three, attributes=_LOG_APPEND_TIME),
            "1: without a key": encode_message(1, 0, T0, None, b"v"),
            "1: large": encode_message(1, 0, T0, b"k", b"v" * 200),
            "1: many small": plain(1, 20),
            "1: one": one,
        }
        for rule, configs in rules.items():
            for name, records in asked.items():
                topic = self.topic(configs)
                told = self.produce(topic, records, 2)
                error, end, stored = self.fetch(topic, 0, 3)
                self.tell(f"rule {rule}, {name}", [*told, error, end, *comparable(shown(stored))])

    def produce_elsewhere(self) -> None:
        self.tell("damaged set for a topic that is not there", self.produce("nowhere", damaged(plain(1, 1)), 2))
        self.tell("acks of 2", self.produce(self.topic(), damaged(plain(1, 1)), 2, acks=2))
        self.tell("acks of all", self.produce(self.topic(), plain(1, 1), 1, acks=-1))

    # -- Fetch

    def fetch_everything(self) -> None:
        topic = self.topic()
        for records in self._batches():
            error = self.produce(topic, records, 3)[0]
            assert error == 0
        self._transactions(topic)
        for version in (0, 1, 2, 3, 4):
            for offset in (0, 1, 2, 3, 5, 8, 11, 14, 17, 18, 19, 20, 21, 22, 23, 24, 25, 99, -1):
                self._tell_fetch(topic, offset, version)
        for version in (0, 2, 3):
            for offset in (0, 5, 17, 19, 22):
                for limit in (0, 1, 11, 12, 40, 61, 77, 90, 100, 150, 200, 300):
                    self._tell_fetch(topic, offset, version, max_bytes=limit)
                if version == 3:
                    for limit in (0, 1, 50, 100, 200):
                        self._tell_fetch(topic, offset, version, most=limit)

    def _tell_fetch(self, topic: str, offset: int, version: int, **how: Any) -> None:
        error, end, records = self.fetch(topic, offset, version, **how)
        at = "".join(f", {name} {value}" for name, value in how.items())
        self.tell(f"fetch {version} from {offset}{at}", [error, end, *comparable(shown(records))])

    def _batches(self) -> Iterator[bytes]:
        rows = [Record(0, T0 + index, b"k%d" % index, b"v%d" % index) for index in range(3)]
        headers = [row._replace(headers=(("h", b"1"), ("n", None))) for row in rows]
        yield build_batch(headers)  # 0 to 2
        yield build_batch([Record(0, T0, None, None), Record(0, T0 + 9, b"", b""), Record(0, T0 + 5, b"k", None)])
        for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4):  # 6 to 14
            yield build_batch(rows, codec=codec)
        yield build_batch([Record(0, -1, b"k", b"v")])  # 15
        yield build_batch([Record(0, T0, b"k", b"long" * 100)])  # 16

    def _transactions(self, topic: str) -> None:
        """An aborted and a committed transaction, with their markers."""
        deadline = time.monotonic() + 300
        while self.ask(FindCoordinatorRequest(self._run, 1), 1).error_code:
            assert time.monotonic() < deadline
        while (own := self.ask(InitProducerIdRequest(self._run, 60_000), 1)).error_code:
            assert time.monotonic() < deadline
        ids = own.producer_id, own.producer_epoch
        for number, commits in enumerate((False, True)):  # 17 to 19, 20 to 22
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self._run,
                v3_and_below_producer_id=ids[0],
                v3_and_below_producer_epoch=ids[1],
                v3_and_below_topics=[AddPartitionsToTxnTopic(topic, [0])],
            )
            while self.ask(request, 1).results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code:
                assert time.monotonic() < deadline
            rows = [Record(0, T0 + index, b"t", b"%d" % commits) for index in range(2)]
            batch = build_batch(
                rows, producer_id=ids[0], producer_epoch=ids[1], base_sequence=2 * number, transactional=True
            )
            assert self.produce(topic, batch, 3, acks=-1, owner=self._run)[0] == 0
            while self.ask(EndTxnRequest(self._run, *ids, commits), 1).error_code:
                assert time.monotonic() < deadline
            while self.fetch(topic, 0, 4)[1] < 20 + 3 * number:  # the marker comes later
                assert time.monotonic() < deadline
        assert self.produce(topic, build_batch([Record(0, T0, b"k", b"last")]), 3)[0] == 0

    def fetch_under_rules(self) -> None:
        stored = self.topic({"message.timestamp.type": "LogAppendTime"})
        packed = self.topic({"message.timestamp.type": "LogAppendTime"})
        rows = [Record(0, T0 + index, b"k%d" % index, b"v%d" % index) for index in range(3)]
        assert self.produce(stored, build_batch(rows), 3)[0] == 0
        assert self.produce(packed, build_batch(rows, codec=Codec.GZIP), 3)[0] == 0
        zstd = self.topic()
        assert self.produce(zstd, build_batch(rows), 7)[0] == 0
        assert self.produce(zstd, build_batch(rows, codec=Codec.ZSTD), 7)[0] == 0
        always = self.topic({"compression.type": "zstd"})
        assert self.produce(always, build_batch(rows), 7)[0] == 0
        refused = self.topic({"message.downconversion.enable": "false"})
        assert self.produce(refused, build_batch(rows), 3)[0] == 0
        for version in (0, 1, 2, 3):
            for name, topic, offset in (
                ("append time", stored, 0),
                ("append time, compressed", packed, 0),
                ("zstd after the first", zstd, 0),
                ("zstd first", zstd, 3),
                ("a topic of zstd", always, 0),
                ("no conversion", refused, 0),
                ("no conversion, at the end", refused, 3),
                ("no conversion, behind the end", refused, 9),
                ("no topic", "nowhere", 0),
            ):
                error, end, records = self.fetch(topic, offset, version)
                self.tell(f"fetch {version}, {name}", [error, end, *comparable(shown(records))])
        self.tell("fetch 4, no conversion", self.fetch(refused, 0, 4)[0])

    # -- other APIs

    def list_offsets(self) -> None:
        topic = self.topic()
        none = self.topic()
        for _ in range(3):
            assert self.produce(topic, plain(1, 2), 2)[0] == 0
        for name, place in (("records", topic), ("nothing", none), ("no topic", "nowhere")):
            for timestamp in (-1, -2, -3, 0, T0, 1 << 62):
                for most in (0, 1, 2, 5):
                    part = ListOffsetsPartition(0, timestamp=timestamp, max_num_offsets=most)
                    answer = self.ask(ListOffsetsRequest(-1, topics=[ListOffsetsTopic(place, [part])]), 0)
                    found = answer.topics[0].partitions[0]
                    self.tell(f"offsets of {name} at {timestamp}, {most}", [found.error_code, found.old_style_offsets])

    def offsets_of_groups(self) -> None:
        topic = self.topic()
        deadline = time.monotonic() + 300
        while self.ask(FindCoordinatorRequest(self._run), 0).error_code:
            assert time.monotonic() < deadline
        while not (rows := self._offsets_at(f"{self._run}-other", topic, 1)) or rows[0][2]:
            assert time.monotonic() < deadline
        for version, offset in ((0, 5), (1, 7), (2, 9)):
            for place, index in ((topic, 0), (topic, 4), ("nowhere", 0)):
                part = OffsetCommitRequestPartition(index, offset, -1, -1, f"by {version}")
                request = OffsetCommitRequest(self._run, topics=[OffsetCommitRequestTopic(place, partitions=[part])])
                found = self.ask(request, version).topics[0].partitions[0]
                where = "topic" if place == topic else place
                self.tell(f"commit {version} to {where} {index}", found.error_code)
            for asked in (0, 1, 2):
                self.tell(f"offset {asked} after commit {version}", self._offsets_at(self._run, topic, asked))
        for asked in (0, 1):
            self.tell(f"offset {asked} of another group", self._offsets_at(f"{self._run}-other", topic, asked))

    def _offsets_at(self, group: str, topic: str, version: int) -> list[Any]:
        wanted = [OffsetFetchRequestTopic(topic, [0, 4]), OffsetFetchRequestTopic("nowhere", [0])]
        answer = self.ask(OffsetFetchRequest(group, wanted), version)
        found = [row for each in sorted(answer.topics, key=lambda each: each.name) for row in each.partitions]
        return [[row.committed_offset, row.metadata, row.error_code] for row in found]

    def topics_and_configs(self) -> None:
        for version in (0, 1):
            made = CreatableTopic(f"{self._run}-made-{version}", 1, 1)
            rows = [made, CreatableTopic("b a d", 1, 1), CreatableTopic(f"{self._run}-none", 0, 1)]
            answer = self.ask(CreateTopicsRequest(rows, 10_000), version)
            results = sorted(answer.topics, key=lambda row: str(row.name))
            self.tell(f"create {version}", [[row.error_code, row.error_message] for row in results])
        topic = self.topic()
        for version in (0, 1):
            resources = [DescribeConfigsResource(2, topic, ["retention.ms", "segment.bytes", "cleanup.policy"])]
            (result,) = self.ask(DescribeConfigsRequest(resources), version).results
            shown = [[row.name, row.value, row.read_only, row.is_default, row.is_sensitive] for row in result.configs]
            self.tell(f"configs {version}", [result.error_code, sorted(shown)])
        assert self.produce(topic, plain(0, 3), 0)[0] == 0
        for version in (0, 1, 2):
            for epoch in (-1, 0, 5):
                part = OffsetForLeaderPartition(0, leader_epoch=epoch)
                request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic, [part])])
                found = self.ask(request, version).topics[0].partitions[0]
                self.tell(f"epoch {epoch}, {version}", [found.error_code, found.leader_epoch, found.end_offset])
        answer = self.ask(DeleteTopicsRequest(topic_names=[f"{self._run}-made-0", "nowhere"], timeout_ms=10_000), 0)
        self.tell("delete 0", [row.error_code for row in sorted(answer.responses, key=lambda row: str(row.name))])

    # -- logs of older formats

    def topics_of_formats(self) -> None:
        rules = {
            "": {},
            "gzip, ": {"compression.type": "gzip"},
            "uncompressed, ": {"compression.type": "uncompressed"},
            "zstd, ": {"compression.type": "zstd"},
            "append time, ": {"message.timestamp.type": "LogAppendTime"},
            "compact, ": {"cleanup.policy": "compact"},
            "small, ": {"max.message.bytes": "100"},
        }
        for kept in ("0.9.0", "0.10.2", "0.11.0"):
            for rule, configs in rules.items():
                for name, version, records in _for_any_format(few=bool(rule) or kept == "0.11.0"):
                    topic = self.topic({**configs, "message.format.version": kept})
                    told = self.produce(topic, records, version)
                    self.tell(f"{kept}, {rule}{name}", told)
                    self._tell_kept(f"{kept}, {rule}{name}", topic)

    def _tell_kept(self, name: str, topic: str, offset: int = 0, versions: Sequence[int] = (0, 2, 4, 11)) -> None:
        for version in versions:
            error, end, records = self.fetch(topic, offset, version)
            self.tell(f"{name}, fetch {version} from {offset}", [error, end, *comparable(shown(records))])

    def offsets_of_formats(self) -> None:
        rows = [Record(0, T0 + index, b"k%d" % index, b"v%d" % index) for index in range(3)]
        for kept in ("0.9.0", "0.10.2", "0.11.0"):
            topic = self.topic({"message.format.version": kept})
            for codec in (Codec.NONE, Codec.GZIP):
                assert self.produce(topic, build_batch(rows, codec=codec), 3)[0] == 0
            for offset in (1, 2, 3, 4, 6, 7):
                self._tell_kept(f"{kept}, more", topic, offset)
            for timestamp in (-1, -2, T0, T0 + 1, T0 + 100):
                for version in (1, 4, 6):
                    part = ListOffsetsPartition(0, timestamp=timestamp)
                    request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic(topic, [part])])
                    found = self.ask(request, version).topics[0].partitions[0]
                    place = [found.error_code, found.offset, found.timestamp, found.leader_epoch]
                    self.tell(f"{kept}, offset at {timestamp}, {version}", place)
            for epoch in (-1, 0, 5):
                asked = OffsetForLeaderPartition(0, leader_epoch=epoch)
                wanted = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic, [asked])])
                end = self.ask(wanted, 3).topics[0].partitions[0]
                self.tell(f"{kept}, epoch {epoch}", [end.error_code, end.leader_epoch, end.end_offset])
            if kept != "0.11.0":
                for limit in (0, 1, 20, 40):
                    error, high, records = self.fetch(topic, 0, 4, max_bytes=limit)
                    whole = [entry for entry in shown(records) if "left" not in entry]
                    self.tell(f"{kept}, at most {limit} bytes", [error, high, *whole])
        refused = self.topic({"message.format.version": "0.10.2", "message.downconversion.enable": "false"})
        assert self.produce(refused, build_batch(rows), 3)[0] == 0
        for offset in (0, 3, 9):
            self._tell_kept("no conversion", refused, offset)

    def transactions_of_formats(self) -> None:
        """A transaction leaves nothing in a log of an older format, and ends."""
        deadline = time.monotonic() + 300
        while self.ask(FindCoordinatorRequest(self._run, 1), 1).error_code:
            assert time.monotonic() < deadline
        for kept in ("0.9.0", "0.10.2"):
            topic = self.topic({"message.format.version": kept})
            while (own := self.ask(InitProducerIdRequest(self._run, 60_000), 1)).error_code:
                assert time.monotonic() < deadline
            ids = own.producer_id, own.producer_epoch
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self._run,
                v3_and_below_producer_id=ids[0],
                v3_and_below_producer_epoch=ids[1],
                v3_and_below_topics=[AddPartitionsToTxnTopic(topic, [0])],
            )
            added = self.ask(request, 1).results_by_topic_v3_and_below[0].results_by_partition[0]
            self.tell(f"{kept}, added to a transaction", added.partition_error_code)
            whose: dict[str, Any] = {"producer_id": ids[0], "producer_epoch": ids[1], "base_sequence": 0}
            batch = build_batch([Record(0, T0, b"k", b"v")], transactional=True, **whose)
            told = self.produce(topic, batch, 3, acks=-1, owner=self._run)
            self.tell(f"{kept}, in a transaction", told)
            self.tell(f"{kept}, end", self.ask(EndTxnRequest(self._run, *ids, True), 1).error_code)
            # The next transaction begins when the markers of this one are written.
            while self.ask(InitProducerIdRequest(self._run, 60_000), 1).error_code:
                assert time.monotonic() < deadline
            self._tell_kept(f"{kept}, after a transaction", topic)

    def values_of_formats(self) -> None:
        names = ("9.9", "abc", "0.7", "0.8.2.1", "0.10", "0.10.0-IV0", "0.10.0-IV9", "0.11", "1", "1.1")
        for name in (*names, "2.8-IV1", "2.8-IV2", "2.8.2.1", "x.2.8", "-1", " 2.8 ", ""):
            config = CreatableTopicConfig("message.format.version", name)
            made = CreatableTopic(f"{self._run}-{len(self.answers)}", 1, 1, configs=[config])
            (row,) = self.ask(CreateTopicsRequest([made], 10_000), 4).topics
            self.tell(f"format {name!r}", [row.error_code, row.error_message])


def _for_any_format(*, few: bool) -> Iterator[tuple[str, int, bytes]]:
    """Name, version of Produce and bytes of what topics of all message formats are sent; `few`: the main ones."""
    rows = [Record(0, T0 + index, b"k%d" % index, b"v%d" % index) for index in range(3)]
    headers = [row._replace(headers=(("h", b"1"),)) for row in rows]
    for magic in (0, 1):
        three = plain(magic, 3)
        yield f"{magic}: three", 2, three
        yield f"{magic}: without key and value", 2, encode_message(magic, 0, T0, None, None)
        if few:
            continue
        yield f"{magic}: gzip", 2, wrapped(magic, Codec.GZIP, three)
        yield f"{magic}: LZ4", 2, wrapped(magic, Codec.LZ4, three)
        yield f"{magic}: absolute offsets within", 2, wrapped(magic, Codec.GZIP, plain(magic, 3, 5), offset=7)
        yield f"{magic}: wrapper of append time", 2, wrapped(magic, Codec.GZIP, three, attributes=_LOG_APPEND_TIME)
        yield f"{magic}: wrong time of the wrapper", 2, wrapped(magic, Codec.GZIP, three, timestamp=T0 + 77)
        yield f"{magic}: two wrappers", 2, wrapped(magic, Codec.GZIP, three) * 2
        yield f"{magic}: damaged", 2, damaged(three)
        yield f"{magic}: empty", 2, b""
        yield f"{magic}: offsets that say nothing", 2, message(magic, 0, 77) + message(magic, 1, -5)
    yield "2: three", 3, build_batch(rows)
    yield "2: without time", 3, build_batch([Record(0, -1, None, b"v")])
    yield "2: gzip with headers", 3, build_batch(headers, codec=Codec.GZIP)
    yield "2: zstd", 7, build_batch(rows, codec=Codec.ZSTD)
    by_broker = TimestampType.LOG_APPEND_TIME
    yield "2: append time", 3, build_batch(rows[:1], timestamp_type=by_broker, log_append_time_ms=T0)
    if few:
        return
    yield "2: with headers", 3, build_batch(headers)
    yield "2: times out of order", 3, build_batch([rows[2], rows[0], rows[1]])
    for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4):
        yield f"2: {codec.name}", 3, build_batch(rows, codec=codec)
    yield "2: idempotent", 3, build_batch(rows, producer_id=5, producer_epoch=0, base_sequence=0)
    yield "2: damaged", 3, damaged(build_batch(rows))
    yield "2: highest version", 8, build_batch(rows)


PARTS: Mapping[str, tuple[Callable[[Talk], None], ...]] = {
    "produce": (Talk.produce_everything, Talk.produce_under_rules, Talk.produce_elsewhere),
    "fetch": (Talk.fetch_everything, Talk.fetch_under_rules),
    "list_offsets": (Talk.list_offsets,),
    "group_offsets": (Talk.offsets_of_groups,),
    "others": (Talk.topics_and_configs,),
    "formats_of_topics": (
        Talk.topics_of_formats,
        Talk.offsets_of_formats,
        Talk.transactions_of_formats,
        Talk.values_of_formats,
    ),
}
"""What belongs to one handler, and is asked together."""


def told(bootstrap_servers: str, part: str) -> Answers:
    """What a broker answers in one part."""
    host, _, port = bootstrap_servers.partition(":")
    talk = Talk(host, int(port))
    try:
        for ask in PARTS[part]:
            ask(talk)
    finally:
        talk.close()
    return talk.answers


def told_by_release(version: str, part: str, *, zookeeper: bool | None = None) -> Answers:
    """The same of odradek."""
    with KafkaBroker(kafka_version=version, zookeeper=zookeeper) as broker:
        answers = told(broker.bootstrap_servers, part)
        assert not broker.bugs
    return answers


def differing(answers: Answers, others: Answers) -> Answers:
    """The answers of the first that the second does not give."""
    return {name: answer for name, answer in answers.items() if others.get(name) != answer}


def main() -> None:
    answers = {part: told(sys.argv[1], part) for part in PARTS}
    text = json.dumps(answers, separators=(",", ":"), sort_keys=True)
    Path(sys.argv[2]).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
