"""The files of a log directory, item by item, for people and programs.

Every item is a mapping with a `kind`: `file`, `log`, `metadata_snapshot`, `batch`, `record`, `index`, `timeindex`,
`txnindex`, `producer`, `leader_epoch`, `checkpoint`, `line`, `empty` and `error`. `render_text` writes an item in the
form that Kafka's own dump tool prints, so the two outputs can be compared line by line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from odradek.protocol.compression import CompressionError
from odradek.protocol.consumer_protocol import decode_assignment, decode_subscription
from odradek.protocol.control import ControlRecordType, control_record_type, parse_control_record
from odradek.protocol.errors import CorruptDataError, ProtocolError
from odradek.protocol.json_form import camel_case, to_json
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_batch import parse_kraft_control_record
from odradek.protocol.metadata_records import MetadataRecordError, decode_metadata_record
from odradek.protocol.record_batch import RecordBatch, TimestampType
from odradek.protocol.records import Buffer, Record
from odradek.protocol.shown import HIDDEN, is_secret
from odradek.protocol.stored import (
    TRANSACTION_STATES,
    UnknownRecordTypeError,
    decode_group_record,
    decode_share_record,
    decode_transaction_record,
)
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import LEADER_EPOCHS, parse_leader_epochs, parse_offsets, parse_snapshot
from odradek.storage.file_system import LARGE, FileSystem
from odradek.storage.formats.segment_files import (
    LOG,
    OFFSET_INDEX,
    SNAPSHOT,
    TIME_INDEX,
    TXN_INDEX,
    parse_file_name,
    parse_offset_index,
    parse_time_index,
    parse_txn_index,
    stored_batch_at,
)
from odradek.storage.metadata_snapshot import CHECKPOINT, parse_snapshot_name
from odradek.storage.quorum_state import QUORUM_STATE

Item = dict[str, Any]
Decoder = Callable[[bytes, bytes | None], tuple[Any, Any]]

_DECODERS: Mapping[str, Decoder] = {
    "__consumer_offsets": decode_group_record,
    "__transaction_state": decode_transaction_record,
    "__share_group_state": decode_share_record,
}
_TEXT_FILES = {"partition.metadata", "meta.properties", ".kafka_cleanshutdown", QUORUM_STATE}
_METADATA_TOPIC = "__cluster_metadata"


def dump(path: Path) -> Iterator[Item]:
    """The items of a file, of a partition's folder or of a whole log directory, in the order of the names.

    In a folder, files of no log are skipped. A file of no log that is named itself is an `error` item.
    """
    if path.is_dir():
        for child in sorted(path.iterdir()):
            if (child.is_dir() and not child.is_symlink()) or _reader(child) is not None:
                yield from dump(child)
        return
    reader = _reader(path)
    if reader is None:
        yield _error(path, None, "no file of a log directory that can be shown")
        return
    fs = FileSystem()
    try:
        data = fs.view(path) if path.suffix in (LOG, CHECKPOINT) else fs.read(path, LARGE)
    except StorageError as error:
        yield _error(path, None, str(error.message).removeprefix(f"{path}: "))
        return
    yield {"kind": "file", "path": _shown(path), "size": len(data)}
    try:
        yield from reader(path, data)
    except CorruptDataError as error:
        yield _error(path, None, str(error))


def _reader(path: Path) -> Callable[[Path, Any], Iterator[Item]] | None:
    parsed = parse_file_name(path.name)
    if parsed is not None:
        return _SEGMENT_READERS[parsed[1]]
    if path.name == LEADER_EPOCHS:
        return _dump_leader_epochs
    if path.name.endswith("-checkpoint"):
        return _dump_offsets
    if path.name.endswith(CHECKPOINT):
        return _dump_metadata_snapshot
    return _dump_text if path.name in _TEXT_FILES else None


def _shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}" if path.parent.name else path.name


def _error(path: Path, position: int | None, text: str) -> Item:
    return {"kind": "error", "path": _shown(path), "position": position, "error": text}


# --- batches ----------------------------------------------------------------------------------------------------------


def _dump_log(path: Path, data: Buffer) -> Iterator[Item]:
    yield {"kind": "log", "base_offset": int(path.name[:20])}
    yield from _dump_batches(path, data, path.parent.name.rpartition("-")[0])


def _dump_metadata_snapshot(path: Path, data: Buffer) -> Iterator[Item]:
    snapshot_id = parse_snapshot_name(path.name)
    if snapshot_id is not None:
        yield {"kind": "metadata_snapshot", **snapshot_id._asdict()}
    yield from _dump_batches(path, data, _METADATA_TOPIC)


def _dump_batches(path: Path, data: Buffer, topic: str) -> Iterator[Item]:
    position = 0
    while position < len(data):
        try:
            batch = stored_batch_at(data, position)
        except CorruptDataError as error:
            yield _error(path, position, str(error))
            return
        if batch is None:
            yield _error(path, position, f"{len(data) - position} bytes are not a whole batch")
            return
        yield _batch_item(batch, position)
        try:
            for record in batch.records():
                yield _record_item(batch, record, topic)
        except CorruptDataError as error:
            yield _error(path, position, f"records of the batch: {error}")
        position += batch.size_bytes


def _batch_item(batch: RecordBatch, position: int) -> Item:
    return {
        "kind": "batch",
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "count": batch.record_count,
        "base_sequence": batch.base_sequence,
        "last_sequence": batch.last_sequence,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "partition_leader_epoch": batch.partition_leader_epoch,
        "transactional": batch.is_transactional,
        "control": batch.is_control,
        "delete_horizon_ms": batch.delete_horizon_ms,
        "position": position,
        "timestamp_type": _timestamp_type(batch),
        "max_timestamp": batch.max_timestamp,
        "size": batch.size_bytes,
        "magic": batch.magic,
        "codec": _codec_name(batch),
        "crc": batch.crc,
        "valid": batch.is_crc_valid,
    }


def _codec_name(batch: RecordBatch) -> str:
    try:
        return batch.codec.name.lower()
    except CompressionError as error:
        return error.message


def _timestamp_type(batch: RecordBatch) -> str:
    return "LogAppendTime" if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else "CreateTime"


def _record_item(batch: RecordBatch, record: Record, topic: str) -> Item:
    decoder = _DECODERS.get(topic)
    sequence = -1 if batch.base_sequence < 0 else batch.base_sequence + record.offset - batch.base_offset
    item: Item = {
        "kind": "record",
        "offset": record.offset,
        "timestamp_type": _timestamp_type(batch),
        "timestamp": record.timestamp,
        "key_size": -1 if record.key is None else len(record.key),
        "value_size": -1 if record.value is None else len(record.value),
        "sequence": sequence & 0x7FFFFFFF if sequence >= 0 else -1,
        "headers": [[name, None if value is None else _text(value)] for name, value in record.headers],
    }
    if batch.is_control:
        item["control"] = _control(record)
    elif topic == _METADATA_TOPIC:
        item.update(record_content(record.value))
    elif decoder is not None and record.key is not None:
        item.update(_decoded(decoder, bytes(record.key), None if record.value is None else bytes(record.value)))
    else:
        item["key"] = None if record.key is None else _text(record.key)
        item["value"] = None if record.value is None else _text(record.value)
    return item


def _text(value: bytes | memoryview) -> str:
    return bytes(value).decode("utf-8", "replace")


def _control(record: Record) -> Item:
    marker = parse_control_record(record)
    if marker is None:
        return control_content(record)
    return {"type": "COMMIT" if marker.commit else "ABORT", "coordinator_epoch": marker.coordinator_epoch}


def _decoded(decoder: Decoder, key: bytes, value: bytes | None) -> Item:
    """Key and value of an internal topic's record as `{"type" | "version": .., "data": ..}`."""
    try:
        key_message, value_message = decoder(key, value)
    except UnknownRecordTypeError:
        return {"key": "<UNKNOWN>", "value": "<UNKNOWN>"}
    except ProtocolError as error:
        return {"key": _text(key), "value": None if value is None else _text(value), "error": str(error)}
    shown_key = {"type": str(int.from_bytes(key[:2], "big")), "data": to_json(key_message, 0)}
    if value is None or value_message is None:
        return {"key": shown_key, "value": None}
    version = int.from_bytes(value[:2], "big", signed=True)
    data = to_json(value_message, version)
    if type(value_message).__name__ == "GroupMetadataValue":
        _show_members(data, value_message)
    elif decoder is decode_transaction_record:
        data["transactionStatus"] = TRANSACTION_STATES.get(data["transactionStatus"], data["transactionStatus"])
    return {"key": shown_key, "value": {"version": str(version), "data": data}}


def _show_members(data: Any, value: Any) -> None:
    """Decode the members' subscriptions and assignments; other bytes stay as they are."""
    if value.protocol_type != "consumer":
        return
    for shown, member in zip(data["members"], value.members, strict=True):
        for field, decode in (("subscription", decode_subscription), ("assignment", decode_assignment)):
            raw = getattr(member, field)
            try:
                message, version = decode(raw) if raw else (None, 0)
            except ProtocolError:
                continue
            if message is not None:
                shown[field] = to_json(message, version)


# --- the other files --------------------------------------------------------------------------------------------------


def _dump_index(path: Path, data: bytes) -> Iterator[Item]:
    entries = parse_offset_index(data, int(path.name[:20]))
    if not entries:
        yield {"kind": "empty", "path": _shown(path)}
    for entry in entries:
        yield {"kind": "index", "offset": entry.offset, "position": entry.position}


def _dump_time_index(path: Path, data: bytes) -> Iterator[Item]:
    for entry in parse_time_index(data, int(path.name[:20])):
        yield {"kind": "timeindex", "timestamp": entry.timestamp, "offset": entry.offset}


def _dump_txn_index(path: Path, data: bytes) -> Iterator[Item]:
    for entry in parse_txn_index(data):
        yield {"kind": "txnindex", "version": 0, **entry._asdict()}


def _dump_snapshot(path: Path, data: bytes) -> Iterator[Item]:
    for state in parse_snapshot(data):
        last = state.batches[-1] if state.batches else None
        item: Item = {
            "kind": "producer",
            "producer_id": state.producer_id,
            "producer_epoch": state.producer_epoch,
            "coordinator_epoch": state.coordinator_epoch,
            "current_txn_first_offset": state.current_txn_first_offset,
            "last_timestamp": state.last_timestamp,
        }
        if last is not None:
            item |= {
                "first_sequence": last.base_sequence,
                "last_sequence": last.last_sequence,
                "last_offset": last.last_offset,
                "offset_delta": last.last_offset - last.base_offset,
                "timestamp": last.timestamp,
            }
        yield item


def _dump_leader_epochs(path: Path, data: bytes) -> Iterator[Item]:
    for epoch, start in parse_leader_epochs(data):
        yield {"kind": "leader_epoch", "leader_epoch": epoch, "start_offset": start}


def _dump_offsets(path: Path, data: bytes) -> Iterator[Item]:
    for (topic, partition), offset in sorted(parse_offsets(data).items()):
        yield {"kind": "checkpoint", "topic": topic, "partition": partition, "offset": offset}


def _dump_text(path: Path, data: bytes) -> Iterator[Item]:
    for line in _text(data).splitlines():
        yield {"kind": "line", "text": line}


_SEGMENT_READERS: Mapping[str, Callable[[Path, Any], Iterator[Item]]] = {
    LOG: _dump_log,
    OFFSET_INDEX: _dump_index,
    TIME_INDEX: _dump_time_index,
    TXN_INDEX: _dump_txn_index,
    SNAPSHOT: _dump_snapshot,
}


# --- text -------------------------------------------------------------------------------------------------------------


def render_text(item: Item) -> str:
    """An item as one line of text."""
    return _RENDERERS[item["kind"]](item)


def _optional(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _render_batch(item: Item) -> str:
    return (
        f"baseOffset: {item['base_offset']} lastOffset: {item['last_offset']} count: {item['count']} "
        f"baseSequence: {item['base_sequence']} lastSequence: {item['last_sequence']} "
        f"producerId: {item['producer_id']} producerEpoch: {item['producer_epoch']} "
        f"partitionLeaderEpoch: {item['partition_leader_epoch']} isTransactional: {_flag(item['transactional'])} "
        f"isControl: {_flag(item['control'])} deleteHorizonMs: {_optional(item['delete_horizon_ms'])} "
        f"position: {item['position']} {item['timestamp_type']}: {item['max_timestamp']} size: {item['size']} "
        f"magic: {item['magic']} compresscodec: {item['codec']} crc: {item['crc']} isvalid: {_flag(item['valid'])}"
    )


def _render_record(item: Item) -> str:
    text = (
        f"| offset: {item['offset']} {item['timestamp_type']}: {item['timestamp']} keySize: {item['key_size']} "
        f"valueSize: {item['value_size']} sequence: {item['sequence']} "
        f"headerKeys: [{','.join(name for name, _ in item['headers'])}]"
    )
    if "control" in item:
        control = item["control"]
        if "coordinator_epoch" in control:
            return f"{text} endTxnMarker: {control['type']} coordinatorEpoch: {control['coordinator_epoch']}"
        return f"{text} {render_control(control)}"
    key, value = item["key"], item["value"]
    if isinstance(key, dict):
        return f"{text} key: {_json(key)} payload: {'<DELETE>' if value is None else _json(value)}"
    if key is not None:
        text += f" key: {key}"
    if isinstance(value, dict):
        return f"{text} payload: {_json(value)}"
    return text if value is None else f"{text} payload: {value}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _render_producer(item: Item) -> str:
    text = (
        f"producerId: {item['producer_id']} producerEpoch: {item['producer_epoch']} "
        f"coordinatorEpoch: {item['coordinator_epoch']} "
        f"currentTxnFirstOffset: {_optional(item['current_txn_first_offset'])} lastTimestamp: {item['last_timestamp']}"
    )
    if "last_offset" not in item:
        return text
    return (
        f"{text} firstSequence: {item['first_sequence']} lastSequence: {item['last_sequence']} "
        f"lastOffset: {item['last_offset']} offsetDelta: {item['offset_delta']} timestamp: {item['timestamp']}"
    )


def _render_error(item: Item) -> str:
    where = "" if item["position"] is None else f" at position {item['position']}"
    return f"error: {item['path']}{where}: {item['error']}"


_RENDERERS: Mapping[str, Callable[[Item], str]] = {
    "file": lambda item: f"Dumping {item['path']}",
    "log": lambda item: f"Log starting offset: {item['base_offset']}",
    "metadata_snapshot": lambda item: f"Snapshot end offset: {item['end_offset']}, epoch: {item['epoch']}",
    "batch": _render_batch,
    "record": _render_record,
    "empty": lambda item: f"{item['path']} is empty.",
    "index": lambda item: f"offset: {item['offset']} position: {item['position']}",
    "timeindex": lambda item: f"timestamp: {item['timestamp']} offset: {item['offset']}",
    "txnindex": lambda item: (
        f"version: 0 producerId: {item['producer_id']} firstOffset: {item['first_offset']} "
        f"lastOffset: {item['last_offset']} lastStableOffset: {item['last_stable_offset']}"
    ),
    "producer": _render_producer,
    "leader_epoch": lambda item: f"leaderEpoch: {item['leader_epoch']} startOffset: {item['start_offset']}",
    "checkpoint": lambda item: f"{item['topic']}-{item['partition']} offset: {item['offset']}",
    "line": lambda item: str(item["text"]),
    "error": _render_error,
}


_CONTROL_NAMES = {kind.value: kind.name for kind in ControlRecordType}
_SHOWN_CONTROLS = {  # the dump tool's prefix of the fields
    "LEADER_CHANGE": "LeaderChange:",
    "SNAPSHOT_HEADER": "SnapshotHeader",
    "SNAPSHOT_FOOTER": "SnapshotFooter",
    "KRAFT_VERSION": "KRaftVersion",
    "KRAFT_VOTERS": "KRaftVoters",
}


def record_content(value: bytes | None) -> dict[str, Any]:
    """Key and value of a metadata record; `error` says so if this release has no such record."""
    try:
        record, version = decode_metadata_record(value)
    except MetadataRecordError as error:
        return {"key": None, "value": None if value is None else value.hex(), "error": str(error)}
    shown = {"type": type_name(type(record).__name__), "version": version, "data": _without_secrets(record, version)}
    return {"key": None, "value": shown}


def _without_secrets(record: MetadataRecord, version: int) -> dict[str, Any]:
    """The fields of a record without passwords. Kafka's tool shows them, but a dump may be sent to somebody."""
    form = to_json(record, version)
    for field, value in record._values():
        if value and is_secret(field, record):
            form[camel_case(field)] = HIDDEN
    return form


def type_name(class_name: str) -> str:
    """`NoOpRecord` -> `NO_OP_RECORD`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).upper()


def control_content(record: Record) -> dict[str, Any]:
    """Type and fields of a control record that ends no transaction. Raises InvalidRecordError for a damaged one."""
    kind = control_record_type(record)
    content: dict[str, Any] = {"type": _CONTROL_NAMES.get(kind, str(kind))}
    message = parse_kraft_control_record(record)
    if message is not None:
        content["data"] = to_json(message, message.version)
    return content


def render_control(content: dict[str, Any]) -> str:
    """The content of a control record in one line."""
    if "data" not in content:
        return f"controlType: {content['type']}"
    return f"{_SHOWN_CONTROLS[content['type']]} {json.dumps(content['data'], separators=(',', ':'))}"
