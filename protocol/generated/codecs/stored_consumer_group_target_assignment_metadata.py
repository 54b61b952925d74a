"""Codecs of `stored.consumer_group_target_assignment_metadata`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack
_pack_q: Final = Struct(">q").pack


def _read_consumer_group_target_assignment_metadata_key_0(r: Reader) -> ConsumerGroupTargetAssignmentMetadataKey:
    return ConsumerGroupTargetAssignmentMetadataKey(group_id=r.string())


def decode_consumer_group_target_assignment_metadata_key(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupTargetAssignmentMetadataKey, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_consumer_group_target_assignment_metadata_key_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupTargetAssignmentMetadataKey, version, buf, offset, most)


def _read_consumer_group_target_assignment_metadata_value_0(r: Reader) -> ConsumerGroupTargetAssignmentMetadataValue:
    message = ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=r.int32())
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.assignment_timestamp = r.int64()
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def decode_consumer_group_target_assignment_metadata_value(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupTargetAssignmentMetadataValue, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_consumer_group_target_assignment_metadata_value_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupTargetAssignmentMetadataValue, version, buf, offset, most)


def _write_consumer_group_target_assignment_metadata_key_0(
    w: Writer, m: ConsumerGroupTargetAssignmentMetadataKey
) -> None:
    w.string(m.group_id)
    if m.unknown_tagged_fields:
        w.refuse()


def encode_consumer_group_target_assignment_metadata_key_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_consumer_group_target_assignment_metadata_key_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ConsumerGroupTargetAssignmentMetadataKey, version, message)


def encode_consumer_group_target_assignment_metadata_key(version: int, message: Any) -> bytes:
    return in_one_piece(encode_consumer_group_target_assignment_metadata_key_parts(version, message))


def _assignment_timestamp_of_consumer_group_target_assignment_metadata_value_0(
    m: ConsumerGroupTargetAssignmentMetadataValue,
) -> bytes:
    w = Writer()
    w.fixed(_pack_q(m.assignment_timestamp))
    return w.whole()


def _write_consumer_group_target_assignment_metadata_value_0(
    w: Writer, m: ConsumerGroupTargetAssignmentMetadataValue
) -> None:
    w.fixed(_pack_l(m.assignment_epoch))
    known: tuple[tuple[int, bytes], ...] = ()
    if m.assignment_timestamp != 0:
        known = (*known, (0, _assignment_timestamp_of_consumer_group_target_assignment_metadata_value_0(m)))
    w.tags(known, m.unknown_tagged_fields)


def encode_consumer_group_target_assignment_metadata_value_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_consumer_group_target_assignment_metadata_value_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ConsumerGroupTargetAssignmentMetadataValue, version, message)


def encode_consumer_group_target_assignment_metadata_value(version: int, message: Any) -> bytes:
    return in_one_piece(encode_consumer_group_target_assignment_metadata_value_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "ConsumerGroupTargetAssignmentMetadataKey": decode_consumer_group_target_assignment_metadata_key,
    "ConsumerGroupTargetAssignmentMetadataValue": decode_consumer_group_target_assignment_metadata_value,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "ConsumerGroupTargetAssignmentMetadataKey": encode_consumer_group_target_assignment_metadata_key,
    "ConsumerGroupTargetAssignmentMetadataValue": encode_consumer_group_target_assignment_metadata_value,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "ConsumerGroupTargetAssignmentMetadataKey": encode_consumer_group_target_assignment_metadata_key_parts,
    "ConsumerGroupTargetAssignmentMetadataValue": encode_consumer_group_target_assignment_metadata_value_parts,
}
