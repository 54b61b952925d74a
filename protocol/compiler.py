"""Python source from constructs: one decoder and one builder per message and version.

The generated code works on a buffer and an offset. Runs of fixed-size fields become one `struct` call, which also reads
the length (or the first byte of it) of what follows; a length below 128 in compact form costs one comparison; record
fields are slices. Every read is bounded: `unpack_from` and indexing raise at the end of the buffer, slices are checked.
A construct that is not known here raises TypeError at generation: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from odradek.protocol.decoder_source import DecoderSource
from odradek.protocol.encoder_source import EncoderSource
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part, joined
from odradek.protocol.message import Message
from odradek.protocol.primitives import StructBody
from odradek.protocol.varint import ANY_NUMBER


def compile_decoder(body: StructBody, version: int) -> Callable[..., tuple[Any, int]]:
    """`decode(buf, offset=0, most=ANY_NUMBER) -> (message, offset after it)`."""
    source = DecoderSource(body, f"{body.message.__name__} version {version}")
    return source.function(f"def generated(buf, offset=0, most={ANY_NUMBER}):")  # type: ignore[no-any-return]


def compile_encoders(body: StructBody, version: int) -> tuple[Callable[[Any], bytes], Callable[[Any], list[Part]]]:
    """`encode(message) -> bytes` and `encode_parts(message) -> list of parts`."""
    build = EncoderSource(body).function("def generated(message, parts, out):")

    def encode(message: Any) -> bytes:
        parts: list[Part] = []
        out: list[bytes] = []
        try:
            build(message, parts, out)
            return joined([*parts, *out]) if parts else b"".join(out)
        except ENCODING_ERRORS as error:
            raise explain(body, version, message, error) from None

    def encode_parts(message: Any) -> list[Part]:
        parts: list[Part] = []
        out: list[bytes] = []
        try:
            build(message, parts, out)
            if out:
                parts.append(b"".join(out))
        except ENCODING_ERRORS as error:
            raise explain(body, version, message, error) from None
        return parts

    return encode, encode_parts


def explain(body: StructBody, version: int, message: Message, error: Exception) -> ProtocolError:
    """The error that encoding meets, with the path to the value: found by building again with the construct itself."""
    title = f"{body.message.__name__} version {version}"
    try:
        body._build(message, BytesIO(), None, title)
    except ProtocolError as explained:
        return explained
    except Exception as unexpected:
        return ProtocolError(f"{title}: {unexpected}")
    return ProtocolError(f"{title}: {error}")
