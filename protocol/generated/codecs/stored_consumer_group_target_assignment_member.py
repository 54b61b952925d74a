"""Codecs of `stored.consumer_group_target_assignment_member`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece


def _read_consumer_group_target_assignment_member_key_0(r: Reader) -> ConsumerGroupTargetAssignmentMemberKey:
    return ConsumerGroupTargetAssignmentMemberKey(group_id=r.string(), member_id=r.string())


def decode_consumer_group_target_assignment_member_key(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupTargetAssignmentMemberKey, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_consumer_group_target_assignment_member_key_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupTargetAssignmentMemberKey, version, buf, offset, most)


def _read_topic_partition_0(r: Reader) -> TopicPartition:
    return TopicPartition(
        topic_id=r.uuid(),
        partitions=[r.int32() for _ in range(r.compact_count(4))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_consumer_group_target_assignment_member_value_0(r: Reader) -> ConsumerGroupTargetAssignmentMemberValue:
    return ConsumerGroupTargetAssignmentMemberValue(
        topic_partitions=[_read_topic_partition_0(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_consumer_group_target_assignment_member_value(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupTargetAssignmentMemberValue, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_consumer_group_target_assignment_member_value_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupTargetAssignmentMemberValue, version, buf, offset, most)


def _write_consumer_group_target_assignment_member_key_0(w: Writer, m: ConsumerGroupTargetAssignmentMemberKey) -> None:
    w.string(m.group_id)
    w.string(m.member_id)
    if m.unknown_tagged_fields:
        w.refuse()


def encode_consumer_group_target_assignment_member_key_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_consumer_group_target_assignment_member_key_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ConsumerGroupTargetAssignmentMemberKey, version, message)


def encode_consumer_group_target_assignment_member_key(version: int, message: Any) -> bytes:
    return in_one_piece(encode_consumer_group_target_assignment_member_key_parts(version, message))


def _write_topic_partition_0(w: Writer, m: TopicPartition) -> None:
    w.uuid(m.topic_id)
    w.compact_numbers("l", m.partitions)
    w.tags((), m.unknown_tagged_fields)


def _write_consumer_group_target_assignment_member_value_0(
    w: Writer, m: ConsumerGroupTargetAssignmentMemberValue
) -> None:
    w.compact(len(m.topic_partitions))
    for each in m.topic_partitions:
        _write_topic_partition_0(w, each)
    w.tags((), m.unknown_tagged_fields)


def encode_consumer_group_target_assignment_member_value_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_consumer_group_target_assignment_member_value_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ConsumerGroupTargetAssignmentMemberValue, version, message)


def encode_consumer_group_target_assignment_member_value(version: int, message: Any) -> bytes:
    return in_one_piece(encode_consumer_group_target_assignment_member_value_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "ConsumerGroupTargetAssignmentMemberKey": decode_consumer_group_target_assignment_member_key,
    "ConsumerGroupTargetAssignmentMemberValue": decode_consumer_group_target_assignment_member_value,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "ConsumerGroupTargetAssignmentMemberKey": encode_consumer_group_target_assignment_member_key,
    "ConsumerGroupTargetAssignmentMemberValue": encode_consumer_group_target_assignment_member_value,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "ConsumerGroupTargetAssignmentMemberKey": encode_consumer_group_target_assignment_member_key_parts,
    "ConsumerGroupTargetAssignmentMemberValue": encode_consumer_group_target_assignment_member_value_parts,
}
