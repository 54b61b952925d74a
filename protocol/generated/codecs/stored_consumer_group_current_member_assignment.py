"""Codecs of `stored.consumer_group_current_member_assignment`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_llb: Final = Struct(">llb").pack


def _read_consumer_group_current_member_assignment_key_0(r: Reader) -> ConsumerGroupCurrentMemberAssignmentKey:
    return ConsumerGroupCurrentMemberAssignmentKey(group_id=r.string(), member_id=r.string())


def decode_consumer_group_current_member_assignment_key(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupCurrentMemberAssignmentKey, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_consumer_group_current_member_assignment_key_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupCurrentMemberAssignmentKey, version, buf, offset, most)


def _read_assignment_epochs_or_null_0(r: Reader) -> list[int] | None:
    count = r.compact_count_or_null(4)
    return None if count < 0 else [r.int32() for _ in range(count)]


def _read_topic_partitions_0(r: Reader) -> TopicPartitions:
    message = TopicPartitions(topic_id=r.uuid(), partitions=[r.int32() for _ in range(r.compact_count(4))])
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.assignment_epochs = _read_assignment_epochs_or_null_0(r)
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def _read_consumer_group_current_member_assignment_value_0(r: Reader) -> ConsumerGroupCurrentMemberAssignmentValue:
    return ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=r.int32(),
        previous_member_epoch=r.int32(),
        state=r.int8(),
        assigned_partitions=[_read_topic_partitions_0(r) for _ in range(r.compact_count(18))],
        partitions_pending_revocation=[_read_topic_partitions_0(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_consumer_group_current_member_assignment_value(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_consumer_group_current_member_assignment_value_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupCurrentMemberAssignmentValue, version, buf, offset, most)


def _write_consumer_group_current_member_assignment_key_0(
    w: Writer, m: ConsumerGroupCurrentMemberAssignmentKey
) -> None:
    w.string(m.group_id)
    w.string(m.member_id)
    if m.unknown_tagged_fields:
        w.refuse()


def encode_consumer_group_current_member_assignment_key_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_consumer_group_current_member_assignment_key_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ConsumerGroupCurrentMemberAssignmentKey, version, message)


def encode_consumer_group_current_member_assignment_key(version: int, message: Any) -> bytes:
    return in_one_piece(encode_consumer_group_current_member_assignment_key_parts(version, message))


def _assignment_epochs_of_topic_partitions_0(m: TopicPartitions) -> bytes:
    w = Writer()
    if m.assignment_epochs is None:
        w.compact(-1)
    else:
        w.compact_numbers("l", m.assignment_epochs)
    return w.whole()


def _write_topic_partitions_0(w: Writer, m: TopicPartitions) -> None:
    w.uuid(m.topic_id)
    w.compact_numbers("l", m.partitions)
    known: tuple[tuple[int, bytes], ...] = ()
    if m.assignment_epochs is None or len(m.assignment_epochs) > 0:
        known = (*known, (0, _assignment_epochs_of_topic_partitions_0(m)))
    w.tags(known, m.unknown_tagged_fields)


def _write_consumer_group_current_member_assignment_value_0(
    w: Writer, m: ConsumerGroupCurrentMemberAssignmentValue
) -> None:
    w.fixed(_pack_llb(m.member_epoch, m.previous_member_epoch, m.state))
    w.compact(len(m.assigned_partitions))
    for each in m.assigned_partitions:
        _write_topic_partitions_0(w, each)
    w.compact(len(m.partitions_pending_revocation))
    for each_2 in m.partitions_pending_revocation:
        _write_topic_partitions_0(w, each_2)
    w.tags((), m.unknown_tagged_fields)


def encode_consumer_group_current_member_assignment_value_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_consumer_group_current_member_assignment_value_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ConsumerGroupCurrentMemberAssignmentValue, version, message)


def encode_consumer_group_current_member_assignment_value(version: int, message: Any) -> bytes:
    return in_one_piece(encode_consumer_group_current_member_assignment_value_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "ConsumerGroupCurrentMemberAssignmentKey": decode_consumer_group_current_member_assignment_key,
    "ConsumerGroupCurrentMemberAssignmentValue": decode_consumer_group_current_member_assignment_value,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "ConsumerGroupCurrentMemberAssignmentKey": encode_consumer_group_current_member_assignment_key,
    "ConsumerGroupCurrentMemberAssignmentValue": encode_consumer_group_current_member_assignment_value,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "ConsumerGroupCurrentMemberAssignmentKey": encode_consumer_group_current_member_assignment_key_parts,
    "ConsumerGroupCurrentMemberAssignmentValue": encode_consumer_group_current_member_assignment_value_parts,
}
