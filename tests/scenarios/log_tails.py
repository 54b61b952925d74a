"""Bytes that may stand at the end of a `.log` file after an unclean stop, and what a real Kafka makes of each.

Each tail follows three batches of ten records (offsets 0 to 29, leader epoch 0), so offset 30 is next. `ask_kafka` ends
a real Kafka with SIGKILL, appends each tail to a topic of its own, starts Kafka again and looks. What Kafka 4.4.0
said is recorded in tests/vectors/log_tails.json.
"""

from __future__ import annotations

import random
import re
import struct
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, assemble, build_batch, empty_batch, read_batch
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until

if TYPE_CHECKING:
    from tests.conformance.real_kafka import RealKafka

TIME = 1_700_000_000_000
END = 30
"""The offset behind the batches that each tail follows."""
LOG = f"{0:020d}.log"
_PREFIX = "t."


def batch(base: int, count: int = 5, *, epoch: int = 0, time: int = TIME, value: bytes = b"v" * 50) -> bytes:
    """A batch of `count` records from offset `base` on."""
    records = [Record(base + index, time + index, b"k%d" % index, value) for index in range(count)]
    return build_batch(records, base_offset=base, leader_epoch=epoch)


def head() -> list[bytes]:
    """What every log begins with; offsets are given by the log."""
    return [batch(0, 10) for _ in range(3)]


def _wrong_crc(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 0xFF])


def _length(value: int) -> bytes:
    data = bytearray(batch(END))
    struct.pack_into(">i", data, 8, value)
    return bytes(data)


def _magic(value: int) -> bytes:
    data = bytearray(batch(END))
    data[16] = value
    return bytes(data)


def _old_format(base: int, magic: int) -> bytes:
    """One message of format 0 or 1."""
    time = struct.pack(">q", TIME) if magic else b""
    body = struct.pack(">bb", magic, 0) + time + struct.pack(">i", 1) + b"k" + struct.pack(">i", 20) + b"v" * 20
    message = struct.pack(">I", zlib.crc32(body)) + body
    return struct.pack(">qi", base, len(message)) + message


def _garbage(count: int) -> bytes:
    return random.Random(7).randbytes(count)


def _plain(attributes: int, count: int, body: bytes, *, producer: int = -1) -> bytes:
    """A batch over offsets 30 to 34 with a right checksum, whatever its records are."""
    return assemble(END, 0, (attributes, 4, 0, 0, producer, 0 if producer >= 0 else -1, -1, count), body)


TAILS: dict[str, bytes] = {
    **{f"zeros-{count}": bytes(count) for count in (1, 11, 12, 16, 17, 18, 60, 61, 4096)},
    **{f"garbage-{count}": _garbage(count) for count in (5, 100, 5000)},
    "half-header": batch(END)[:30],
    "header-only": batch(END)[:61],
    "cut-batch": batch(END)[:-1],
    "huge-length": _length(0x7FFFFFFF),
    "large-length": _length(1 << 24),
    **{f"length-minus-{count}": _length(-count) for count in (1, 12, 1 << 31)},
    **{f"length-{count}": _length(count) for count in (0, 13, 14, 48)},
    "wrong-crc": _wrong_crc(batch(END)),
    "wrong-crc-then-good": _wrong_crc(batch(END)) + batch(35),
    "zeros-then-good": bytes(100) + batch(END),
    "cut-then-good": batch(END)[:-3] + batch(35),
    "good": batch(END),
    "good-then-zeros": batch(END) + bytes(100),
    "good-then-garbage": batch(END) + _garbage(100),
    **{f"magic-{magic}": _magic(magic) for magic in (0, 1, 3, 127, 255)},
    "magic-3-then-good": _magic(3) + batch(35),
    "old-format-wrong-crc": _wrong_crc(_old_format(END, 1)),
    "forward-gap": batch(1000),
    "no-records": build_batch([], base_offset=END, last_offset=34),
    "emptied-by-compaction": empty_batch(read_batch(batch(END))),
    "unreadable-records": _plain(0, 5, b"\xff" * 40),
    "wrong-count": _plain(0, 99, b""),
    "unknown-codec": _plain(7, 5, b"\xff" * 40),
    "no-epoch": batch(END, epoch=-1),
    "epoch-jump": batch(END, epoch=77),
    "epoch-down": batch(END) + batch(35, epoch=9) + batch(40, epoch=3),
    # odradek does otherwise than Kafka with these:
    **{f"old-format-{magic}": _old_format(END, magic) for magic in (0, 1)},
    "old-format-then-good": _old_format(END, 1) + batch(31),
    "offsets-back": batch(5),
    "offsets-far-back": batch(5, value=b"v" * 3000) + batch(10, value=b"v" * 3000),
    "offsets-twice": batch(20, 10),
    "last-offset-twice": batch(29, 1, time=TIME * 2),
    "negative-delta": build_batch([], base_offset=END, last_offset=20),
    "offset-beyond-int": batch(1 << 33),
}
STOPS_KAFKA: dict[str, bytes] = {
    "negative-base": batch(-5, 2),
    "negative-far": batch(-1 << 60, 2),
    "unreadable-marker": _plain(0x30, 1, b"\x02\x00", producer=5),
}
"""Tails with which Kafka 4.4.0 does not start at all: an exception that it does not expect ends it."""


def ask_kafka(kafka: RealKafka) -> dict[str, dict[str, Any]]:
    """What Kafka makes of each of TAILS: bytes kept, end offset, leader epochs. Stops Kafka at the end."""
    kafka.start()
    with WireClient("127.0.0.1", kafka.port) as client:
        topics = [CreatableTopic(name=_PREFIX + name, num_partitions=1, replication_factor=1) for name in TAILS]
        client.request(CreateTopicsRequest(topics=topics, timeout_ms=60_000))
        for name in TAILS:
            for data in head():
                wait_until(f"a leader of {name}", partial(produced, client, _PREFIX + name, data))
    kafka.halt(kill=True)
    sizes = {name: append_tail(kafka.log_dir / f"{_PREFIX}{name}-0" / LOG, tail) for name, tail in TAILS.items()}
    kafka.start()
    answers: dict[str, dict[str, Any]] = {}
    with WireClient("127.0.0.1", kafka.port) as client:
        for name, size in sizes.items():
            folder = kafka.log_dir / f"{_PREFIX}{name}-0"
            end = wait_until(f"a leader of {name}", partial(_end_offset, client, name))
            kept = sum(path.stat().st_size for path in folder.glob("*.log")) - size
            epochs = (folder / "leader-epoch-checkpoint").read_text().splitlines()[2:]
            pairs = [[int(number) for number in line.split()] for line in epochs]
            answers[name] = {"kept": kept, "end": end, "epochs": pairs}
    kafka.halt(kill=True)
    return answers


def kafka_starts_with(kafka: RealKafka, name: str) -> str:
    """Why a Kafka that has one topic with this tail of STOPS_KAFKA does not start; empty if it does."""
    kafka.start()
    with WireClient("127.0.0.1", kafka.port) as client:
        topic = CreatableTopic(name=_PREFIX + name, num_partitions=1, replication_factor=1)
        client.request(CreateTopicsRequest(topics=[topic], timeout_ms=60_000))
        for data in head():
            wait_until(f"a leader of {name}", partial(produced, client, _PREFIX + name, data))
    kafka.halt(kill=True)
    append_tail(kafka.log_dir / f"{_PREFIX}{name}-0" / LOG, STOPS_KAFKA[name])
    try:
        kafka.start()
    except RuntimeError as error:
        reason = re.search(r"ERROR Encountered fatal fault: .*\n(.*)", str(error))
        return reason[1] if reason else str(error)
    kafka.halt(kill=True)
    return ""


def append_tail(path: Path, tail: bytes) -> int:
    """Append to a file; returns its size before."""
    size = path.stat().st_size
    with open(path, "ab") as file:
        file.write(tail)
    return size


def produced(client: WireClient, topic: str, data: bytes) -> bool:
    """Whether partition 0 of a topic took a batch."""
    part = PartitionProduceData(index=0, records=data)
    asked = TopicProduceData(name=topic, partition_data=[part])
    answer = client.request(ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[asked]), 12)
    return bool(answer.responses[0].partition_responses[0].error_code == 0)


def _end_offset(client: WireClient, name: str) -> int | None:
    topic = ListOffsetsTopic(name=_PREFIX + name, partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)])
    answer = client.request(ListOffsetsRequest(replica_id=-1, topics=[topic]), 7).topics[0].partitions[0]
    return int(answer.offset) if answer.error_code == 0 else None
