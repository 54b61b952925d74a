"""Codecs of `stored.offset_commit`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.offset_commit import OffsetCommitKey, OffsetCommitValue
from odradek.protocol.message import ZERO_UUID, Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack
_pack_q: Final = Struct(">q").pack
_pack_ql: Final = Struct(">ql").pack
_pack_qq: Final = Struct(">qq").pack


def _read_offset_commit_key_0(r: Reader) -> OffsetCommitKey:
    return OffsetCommitKey(group=r.string(), topic=r.string(), partition=r.int32())


def decode_offset_commit_key(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[OffsetCommitKey, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_offset_commit_key_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(OffsetCommitKey, version, buf, offset, most)


def _read_offset_commit_value_0(r: Reader) -> OffsetCommitValue:
    return OffsetCommitValue(offset=r.int64(), metadata=r.string(), commit_timestamp=r.int64())


def _read_offset_commit_value_1(r: Reader) -> OffsetCommitValue:
    return OffsetCommitValue(
        offset=r.int64(), metadata=r.string(), commit_timestamp=r.int64(), expire_timestamp=r.int64()
    )


def _read_offset_commit_value_3(r: Reader) -> OffsetCommitValue:
    return OffsetCommitValue(offset=r.int64(), leader_epoch=r.int32(), metadata=r.string(), commit_timestamp=r.int64())


def _read_offset_commit_value_4(r: Reader) -> OffsetCommitValue:
    message = OffsetCommitValue(
        offset=r.int64(), leader_epoch=r.int32(), metadata=r.compact_string(), commit_timestamp=r.int64()
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.topic_id = r.uuid()
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def decode_offset_commit_value(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[OffsetCommitValue, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 4:
            message = _read_offset_commit_value_4(reader)
        elif version >= 3:
            message = _read_offset_commit_value_3(reader)
        elif version >= 2:
            message = _read_offset_commit_value_0(reader)
        elif version >= 1:
            message = _read_offset_commit_value_1(reader)
        else:
            message = _read_offset_commit_value_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(OffsetCommitValue, version, buf, offset, most)


def _write_offset_commit_key_0(w: Writer, m: OffsetCommitKey) -> None:
    w.string(m.group)
    w.string(m.topic)
    w.fixed(_pack_l(m.partition))
    if m.unknown_tagged_fields:
        w.refuse()


def encode_offset_commit_key_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_offset_commit_key_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(OffsetCommitKey, version, message)


def encode_offset_commit_key(version: int, message: Any) -> bytes:
    return in_one_piece(encode_offset_commit_key_parts(version, message))


def _write_offset_commit_value_0(w: Writer, m: OffsetCommitValue) -> None:
    w.fixed(_pack_q(m.offset))
    w.string(m.metadata)
    w.fixed(_pack_q(m.commit_timestamp))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_offset_commit_value_1(w: Writer, m: OffsetCommitValue) -> None:
    w.fixed(_pack_q(m.offset))
    w.string(m.metadata)
    w.fixed(_pack_qq(m.commit_timestamp, m.expire_timestamp))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_offset_commit_value_3(w: Writer, m: OffsetCommitValue) -> None:
    w.fixed(_pack_ql(m.offset, m.leader_epoch))
    w.string(m.metadata)
    w.fixed(_pack_q(m.commit_timestamp))
    if m.unknown_tagged_fields:
        w.refuse()


def _topic_id_of_offset_commit_value_4(m: OffsetCommitValue) -> bytes:
    w = Writer()
    w.uuid(m.topic_id)
    return w.whole()


def _write_offset_commit_value_4(w: Writer, m: OffsetCommitValue) -> None:
    w.fixed(_pack_ql(m.offset, m.leader_epoch))
    w.compact_string(m.metadata)
    w.fixed(_pack_q(m.commit_timestamp))
    known: tuple[tuple[int, bytes], ...] = ()
    if m.topic_id != ZERO_UUID:
        known = (*known, (0, _topic_id_of_offset_commit_value_4(m)))
    w.tags(known, m.unknown_tagged_fields)


def encode_offset_commit_value_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 4:
            _write_offset_commit_value_4(writer, message)
        elif version >= 3:
            _write_offset_commit_value_3(writer, message)
        elif version >= 2:
            _write_offset_commit_value_0(writer, message)
        elif version >= 1:
            _write_offset_commit_value_1(writer, message)
        else:
            _write_offset_commit_value_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(OffsetCommitValue, version, message)


def encode_offset_commit_value(version: int, message: Any) -> bytes:
    return in_one_piece(encode_offset_commit_value_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "OffsetCommitKey": decode_offset_commit_key,
    "OffsetCommitValue": decode_offset_commit_value,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "OffsetCommitKey": encode_offset_commit_key,
    "OffsetCommitValue": encode_offset_commit_value,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "OffsetCommitKey": encode_offset_commit_key_parts,
    "OffsetCommitValue": encode_offset_commit_value_parts,
}
