"""Bytes as a step describes them, and as they are sent; records the other way round, for answers.

A description of a batch: `magic`, `codec`, `producerId`, `producerEpoch`, `baseSequence`, `transactional`, `records`
(each with `key`, `value`, `headers` and `at`, ms after the start of the conversation) and `broken`, what is made wrong
in the bytes.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from odradek.protocol.checksum import crc32c
from odradek.protocol.compression import Codec
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.message_sets import Message, _inflate, encode_message, is_message_set, read_messages
from odradek.protocol.record_batch import HEADER, HEADER_SIZE, RecordBatch, build_batch, iter_batches
from odradek.protocol.records import Record

_CRC = struct.Struct(">I")
BREAKS = (
    "crc",
    "count",
    "length",
    "delta",
    "cut",
    "magic",
    "base offset",
    "control",
    "unused attributes",
    "append time",
)
"""What can be made wrong. All but `crc`, `cut` and `length` have a checksum that fits."""


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def encoded(batches: Sequence[dict[str, Any]], began_ms: int) -> bytes:
    """The bytes of described batches; `began_ms`: what their times count from."""
    return b"".join(_batch(each, began_ms) for each in batches)


def _batch(batch: dict[str, Any], began_ms: int) -> bytes:
    rows = [
        Record(
            at,
            began_ms + row["at"] if row["at"] is not None else -1,
            _bytes(row["key"]),
            _bytes(row["value"]),
            tuple((name, _bytes(value)) for name, value in row.get("headers", ())),
        )
        for at, row in enumerate(batch["records"])
    ]
    magic = batch.get("magic", 2)
    if magic < 2:
        return b"".join(encode_message(magic, row.offset, row.timestamp, row.key, row.value) for row in rows)
    data = build_batch(
        rows,
        codec=Codec(batch.get("codec", 0)),
        producer_id=batch.get("producerId", -1),
        producer_epoch=batch.get("producerEpoch", -1),
        base_sequence=batch.get("baseSequence", -1),
        transactional=batch.get("transactional", False),
    )
    return _broken(data, batch["broken"]) if batch.get("broken") else data


def _broken(data: bytes, how: str) -> bytes:
    header = list(HEADER.unpack_from(data))
    body = data[HEADER_SIZE:]
    if how == "crc":
        header[4] ^= 1
    elif how == "count":
        header[12] += 1
    elif how == "length":
        header[1] += 1
    elif how == "delta":
        header[6] += 1
    elif how == "cut":
        return data[:-1]
    elif how == "magic":
        header[3] = 3
    elif how == "base offset":
        header[0] = 7
    elif how == "control":
        header[5] |= 0x20
    elif how == "unused attributes":
        header[5] |= 0x100
    else:
        header[5] |= 0x08
    made = HEADER.pack(*header) + body
    if how in ("crc", "length"):
        return made
    return made[:17] + _CRC.pack(crc32c(made[21:])) + made[21:]


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()


def subscription(topics: Sequence[str]) -> str:
    """ConsumerProtocolSubscription 0, in base64."""
    names = b"".join(map(_text, topics))
    return base64.b64encode(struct.pack(">hi", 0, len(topics)) + names + b"\xff\xff\xff\xff").decode()


def assignment(partitions: Mapping[str, Sequence[int]]) -> str:
    """ConsumerProtocolAssignment 0, in base64."""
    data = struct.pack(">hi", 0, len(partitions))
    for topic, indexes in partitions.items():
        data += _text(topic) + struct.pack(f">i{len(indexes)}i", len(indexes), *indexes)
    return base64.b64encode(data + b"\xff\xff\xff\xff").decode()


def _inflated(batch: RecordBatch) -> bytes:
    """Other libraries make other bytes of the same."""
    try:
        return bytes(batch.body())
    except CorruptDataError:
        return bytes(batch.data[HEADER_SIZE:])


def _message(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"message": [message.offset, message.timestamp, str(message.key)]}
    if message.codec is Codec.NONE or message.value is None:
        return said | {"value": str(message.value)}
    inside = _inflate(message.codec, message.magic, message.value, 1 << 24)
    return said | {"codec": message.codec, "inside": [_message(each) for each in read_messages(inside)]}


def described(data: bytes) -> list[dict[str, Any]]:
    """The batches of an answer, field by field. A batch that is cut off is left out, as clients do."""
    if len(data) >= HEADER_SIZE and is_message_set(data):
        return [_message(each) for each in read_messages(data)]
    return [
        {
            "baseOffset": batch.base_offset,
            "lastOffset": batch.last_offset,
            "leaderEpoch": batch.partition_leader_epoch,
            "attributes": batch.attributes,
            "baseTimestamp": batch.base_timestamp,
            "maxTimestamp": batch.max_timestamp,
            "producerId": batch.producer_id,
            "producerEpoch": batch.producer_epoch,
            "baseSequence": batch.base_sequence,
            "count": batch.record_count,
            "body": _inflated(batch).hex(),
        }
        for batch in iter_batches(data)
    ]
