"""Turning good requests into bad ones: in their bytes, or in their fields so that they still decode."""

from __future__ import annotations

import random
from typing import Any

from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ProtocolError
from odradek.protocol.headers import decode_request_header
from odradek.protocol.message import Message
from odradek.protocol.message_codec import codec
from tests.broker.conftest import request_frame

EXTREMES = (b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\x00\x00\x00\x01")
INTEGERS = (0, 1, -1, 2, -2, 127, -128, 32767, -32768, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 1000)
TEXTS = (
    "",
    ".",
    "..",
    "p-data",
    "g-data",
    "__consumer_offsets",
    "__transaction_state",
    "x" * 300,
    "é\0ü",
    "a b",
    "1",
    "-1",
)


def mutate(frame: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """A bad relative of a request frame (both without size)."""
    if rng.random() < 0.6:
        changed = mutate_fields(frame, rng)
        if changed is not None:
            return changed
    return mutate_bytes(frame, others, rng)


def mutate_bytes(frame: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """One to three changes of any kind, anywhere."""
    data = bytearray(frame)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(8)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data[at:at] = rng.randbytes(rng.randint(1, 9))
        elif kind == 4:
            data[at : at + 4] = rng.choice(EXTREMES)
        elif kind == 5:
            other = rng.choice(others)
            data[at:] = other[rng.randrange(len(other) + 1) :]
        elif kind == 6:
            data[at : at + rng.randint(1, 20)] = b""
        else:
            data[at:at] = data[at : at + rng.randint(1, 40)]
    return bytes(data)


def mutate_fields(frame: bytes, rng: random.Random) -> bytes | None:
    """One to four fields have other values, and the version may be another; None if the frame does not decode."""
    try:
        header, offset = decode_request_header(frame)
        spec = API_BY_KEY[header.api_key]
        request, _ = codec(spec.request, header.api_version).decode(memoryview(frame), offset)
    except ProtocolError:
        return None
    for _ in range(rng.randint(1, 4)):
        target = _somewhere(request, rng)
        field = rng.choice([name for name in target.field_names() if name != "unknown_tagged_fields"] or [""])
        if not field:
            continue
        before = getattr(target, field)
        try:
            setattr(target, field, _other_value(before, rng))
            request_frame(request, header.api_version)
        except (ProtocolError, TypeError, AttributeError):
            setattr(target, field, before)
    version = rng.randint(spec.min_version, spec.max_version) if rng.random() < 0.3 else header.api_version
    try:
        return request_frame(request, version, header.correlation_id, header.client_id)[4:]
    except ProtocolError:
        return None


def _somewhere(message: Any, rng: random.Random) -> Any:
    """The message itself or a struct somewhere inside it."""
    while rng.random() < 0.7:
        inner = [getattr(message, name) for name in message.field_names()]
        structs = [each for value in inner if isinstance(value, list) for each in value if isinstance(each, Message)]
        if not structs:
            break
        message = rng.choice(structs)
    return message


def _other_value(value: Any, rng: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice(INTEGERS)
    if isinstance(value, str):
        return rng.choice([*TEXTS, None])
    if isinstance(value, memoryview | bytes):
        data = bytearray(value)
        for _ in range(rng.randint(1, 3)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        return rng.choice([bytes(data), bytes(data), b"", rng.randbytes(16)])
    if isinstance(value, list):
        return rng.choice([[], value * 2, value[:1] * 50, value[1:], None])
    return rng.choice(["x", 1, b"x", None])
