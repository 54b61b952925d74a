"""The prefixes that serializers write: Confluent's magic byte and schema id, Avro's single-object header. And JSON as
text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

_CONFLUENT = b"\x00"
_ID_END = 5
_SINGLE_OBJECT = b"\xc3\x01"
_FINGERPRINT_END = 10
_LONGEST_VARINT = 10


class Framed(NamedTuple):
    """Data, and what was written before it. ``schema_id``: Confluent's, ``fingerprint``: Avro's, in hex."""

    data: bytes
    schema_id: int | None = None
    fingerprint: str | None = None


def readings(data: bytes) -> Iterator[Framed]:
    """The possible meanings of the bytes, the most likely first: a leading zero may be Confluent's or Avro's own."""
    if data[:1] == _CONFLUENT and len(data) >= _ID_END:
        yield Framed(data[_ID_END:], schema_id=int.from_bytes(data[1:_ID_END]))
    if data[:2] == _SINGLE_OBJECT and len(data) >= _FINGERPRINT_END:
        yield Framed(data[_FINGERPRINT_END:], fingerprint=data[2:_FINGERPRINT_END][::-1].hex())
    yield Framed(data)


def message_indexes(data: bytes) -> tuple[list[int], bytes]:
    """Which message of a .proto file it is, from the outermost in, and the message; ValueError if it is cut short."""
    count, position = _zigzag(data, 0)
    if not 0 <= count <= len(data):
        raise ValueError(f"{count} message indexes in {len(data)} bytes")
    indexes = []
    for _ in range(count):
        index, position = _zigzag(data, position)
        indexes.append(index)
    return indexes or [0], data[position:]


def _zigzag(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift, byte in enumerate(data[position : position + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position + shift + 1
    raise ValueError("the message indexes are cut short")


class JsonText:
    """Reads JSON; ``name``: of the schema that it is of, which is not compared with the data."""

    kind = "json"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<JsonText {self.name}>"

    def decode(self, framed: Framed) -> tuple[Any, str | None]:
        """The data, and None; ValueError for what is no JSON."""
        try:
            return json.loads(framed.data), None
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise ValueError(f"does not fit {self.name}: {reason}") from None

    def encode(self, data: Any) -> bytes:
        """The data as JSON."""
        return json.dumps(data, ensure_ascii=False).encode()
