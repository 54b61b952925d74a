"""The small text files of a Kafka log directory, as values and as text.

| file | where | what |
| --- | --- | --- |
| `recovery-point-offset-checkpoint` | log dir | per partition: everything below is flushed |
| `log-start-offset-checkpoint` | log dir | per partition: first offset, if it differs from that of the first segment |
| `cleaner-offset-checkpoint` | log dir | per partition: first offset that compaction has not read |
| `replication-offset-checkpoint` | log dir | per partition: high watermark |
| `leader-epoch-checkpoint` | partition | epoch and its start offset |
| `partition.metadata` | partition | the topic's id |
| `meta.properties` | log dir | node, cluster and directory ids |
| `.kafka_cleanshutdown` | log dir | there after a clean stop: the epoch of the broker's last registration |

Formats observed in log directories that Kafka 4.4.0 wrote.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from odradek.protocol.checksum import crc32c
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import NO_SEQUENCE
from odradek.protocol.uuids import uuid_from_text, uuid_to_text
from odradek.storage.java_properties import parse_properties
from odradek.storage.producer_state import BatchMetadata, ProducerState, ProducerStates

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

_VERSION = "0"
_NODE_ID_KEYS = {"0": "broker.id", "1": "node.id"}
"""The node's key in each version of meta.properties."""


_SHOWN = 200


class CheckpointFormatError(CorruptDataError):
    """A file is no valid checkpoint; the text says where. It has what a line can show of the file."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= _SHOWN else f"{message[:_SHOWN]}...")


def format_offsets(offsets: Mapping[tuple[str, int], int]) -> bytes:
    """(topic, partition) -> offset, as an offset checkpoint file."""
    lines = [_VERSION, str(len(offsets))]
    lines += [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]
    return _text(lines)


def parse_offsets(data: bytes) -> dict[tuple[str, int], int]:
    """The inverse of `format_offsets`."""
    offsets: dict[tuple[str, int], int] = {}
    for number, fields in _entries(data, 3):
        offsets[fields[0], _integer(fields[1], number)] = _integer(fields[2], number)
    return offsets


def format_leader_epochs(entries: Sequence[tuple[int, int]]) -> bytes:
    """(epoch, start offset), ascending, as a leader-epoch-checkpoint file."""
    return _text([_VERSION, str(len(entries)), *(f"{epoch} {start}" for epoch, start in entries)])


def parse_leader_epochs(data: bytes) -> list[tuple[int, int]]:
    """The inverse of `format_leader_epochs`."""
    return [(_integer(f[0], number), _integer(f[1], number)) for number, f in _entries(data, 2)]


def format_partition_metadata(topic_id: bytes) -> bytes:
    """The topic id (16 bytes) as a partition.metadata file."""
    return f"version: 0\ntopic_id: {uuid_to_text(topic_id)}".encode()


def parse_partition_metadata(data: bytes) -> bytes:
    """The topic id (16 bytes) of a partition.metadata file."""
    fields = dict(line.split(": ", 1) for line in _lines(data) if ": " in line)
    if fields.get("version") != "0" or "topic_id" not in fields:
        raise CheckpointFormatError("not a partition.metadata file of version 0")
    try:
        topic_id = uuid_from_text(fields["topic_id"])
    except ValueError as error:
        raise CheckpointFormatError(str(error)) from None
    if topic_id == bytes(16):
        raise CheckpointFormatError("the topic's id is all zeros, which stands for none")
    return topic_id


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """The owner of a log directory. Ids are in Kafka's 22-character form."""

    cluster_id: str
    node_id: int
    directory_id: str | None = None


def format_meta_properties(meta: MetaProperties) -> bytes:
    """A meta.properties file of version 1."""
    lines = [f"node.id={meta.node_id}", "version=1", f"cluster.id={meta.cluster_id}"]
    if meta.directory_id is not None:
        lines.insert(1, f"directory.id={meta.directory_id}")
    return _text(lines)


def parse_meta_properties(data: bytes) -> MetaProperties:
    """A meta.properties file of version 1, or of the older version 0 (broker.id)."""
    try:
        fields = parse_properties(data)
    except ValueError as error:
        raise CheckpointFormatError(str(error)) from None
    version = fields.get("version", "0")
    if version not in _NODE_ID_KEYS:
        raise CheckpointFormatError(f"version {version!r} is neither 0 nor 1")
    key = _NODE_ID_KEYS[version]
    for needed in (key, "cluster.id"):
        if needed not in fields:
            raise CheckpointFormatError(f"{needed} is missing")
    try:
        node_id = int(fields[key])
    except ValueError:
        raise CheckpointFormatError(f"{key} is not a number: {fields[key]!r}") from None
    return MetaProperties(fields["cluster.id"], node_id, fields.get("directory.id"))


def format_clean_shutdown(broker_epoch: int) -> bytes:
    """The clean-shutdown mark of a broker that was registered with this epoch (-1: none)."""
    return f'{{"version":0,"brokerEpoch":{broker_epoch}}}'.encode()


def parse_clean_shutdown(data: bytes) -> int:
    """The epoch in a clean-shutdown mark; -1 if the mark is empty, as older Kafkas wrote it."""
    try:
        epoch = json.loads(data)["brokerEpoch"]
    except (ValueError, TypeError, KeyError):
        return -1
    return epoch if type(epoch) is int else -1


def _text(lines: Sequence[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _lines(data: bytes) -> list[str]:
    try:
        lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").decode().split("\n")
    except UnicodeDecodeError:
        raise CheckpointFormatError("not a text file") from None
    return lines if lines[-1] else lines[:-1]


def _entries(data: bytes, width: int) -> list[tuple[int, list[str]]]:
    """(line number, fields) of the entries, read as Kafka does.

    Kafka creates these files empty and fills them later, so a file without the number of entries has none.
    """
    lines = _lines(data)
    if lines and lines[0] != _VERSION:
        raise CheckpointFormatError(f"line 1: version {lines[0]!r} is not {_VERSION}")
    if len(lines) < 2:
        return []
    expected = _integer(lines[1], 2)
    rows = [(number, line.split()) for number, line in enumerate(lines[2:], 3)]
    for number, fields in rows:
        if len(fields) != width:
            raise CheckpointFormatError(f"line {number}: {len(fields)} fields where {width} are due")
    if len(rows) != expected:
        raise CheckpointFormatError(f"{expected} entries are announced, {len(rows)} are there")
    return rows


def _integer(text: str, line: int) -> int:
    try:
        return int(text)
    except ValueError:
        raise CheckpointFormatError(f"line {line}: {text!r} is not a number") from None


# -- Producer snapshots: the `.snapshot` files beside the segments.
#
# Version 1, the one that Kafka 4.4.0 writes: int16 version, uint32 CRC-32C of what follows it, int32 count, then 48
# bytes a producer: id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, first offset of
# the open transaction (-1: none). Only the last batch of a producer is kept, so after a restart only that one is
# recognised as a duplicate, as in Kafka.

_HEAD = struct.Struct(">hIi")
_ENTRY = struct.Struct(">qhiqiqiq")
_CRC_END = 6
_SNAPSHOT_VERSION = 1


class SnapshotFormatError(CorruptDataError):
    """The bytes are no valid producer snapshot; the text says why."""


def format_snapshot(producers: ProducerStates) -> bytes:
    """All producers of a partition as the bytes of a `.snapshot` file."""
    entries = b"".join(_entry(state) for state in producers)
    body = struct.pack(">i", len(producers)) + entries
    return struct.pack(">hI", _SNAPSHOT_VERSION, crc32c(body)) + body


def _entry(state: ProducerState) -> bytes:
    last = state.batches[-1] if state.batches else None
    first = state.current_txn_first_offset
    return _ENTRY.pack(
        state.producer_id,
        state.producer_epoch,
        state.last_sequence,
        state.last_data_offset,
        last.last_offset - last.base_offset if last else 0,
        state.last_timestamp,
        state.coordinator_epoch,
        -1 if first is None else first,
    )


def parse_snapshot(data: bytes) -> list[ProducerState]:
    """The producers of a `.snapshot` file, in its order."""
    if len(data) < _HEAD.size:
        raise SnapshotFormatError(f"{len(data)} bytes are too few for a snapshot")
    version, crc, count = _HEAD.unpack_from(data)
    if version != _SNAPSHOT_VERSION:
        raise SnapshotFormatError(f"snapshot version {version} is not {_SNAPSHOT_VERSION}")
    if crc32c(memoryview(data)[_CRC_END:]) != crc:
        raise SnapshotFormatError("the checksum does not match")
    if len(data) != _HEAD.size + count * _ENTRY.size:
        raise SnapshotFormatError(f"{count} producers do not fill {len(data)} bytes")
    return [_state(entry) for entry in _ENTRY.iter_unpack(memoryview(data)[_HEAD.size :])]


def _state(entry: tuple[int, ...]) -> ProducerState:
    producer_id, epoch, last_sequence, last_offset, delta, timestamp, coordinator_epoch, first = entry
    state = ProducerState(producer_id)
    state.producer_epoch = epoch
    state.coordinator_epoch = coordinator_epoch
    state.last_timestamp = timestamp
    state.current_txn_first_offset = None if first < 0 else first
    if last_offset >= 0 and last_sequence != NO_SEQUENCE:
        first_sequence = _first_sequence(last_sequence, delta)
        state.batches.append(BatchMetadata(first_sequence, last_sequence, last_offset - delta, last_offset, timestamp))
    return state


def _first_sequence(last_sequence: int, delta: int) -> int:
    first = last_sequence - delta
    return first if first >= 0 else first + (1 << 31)
