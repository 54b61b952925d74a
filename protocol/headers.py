"""Request headers v1 and v2, response headers v0 and v1, written by hand: every request passes here.

The broker's dispatcher reads the same fields in line, from `REQUEST_HEADER` on: it needs no object, and decodes each
client id once. The client id is a plain nullable string in both request headers, so that a broker can read it whatever
the version (KIP-482). The generated `messages.request_header` and `messages.response_header` say the same; a test
compares.
"""

from __future__ import annotations

from struct import Struct
from struct import error as struct_error

from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ProtocolError
from odradek.protocol.message import Buffer, Message, UnknownTaggedFields
from odradek.protocol.varint import MAX_STRING_BYTES, encode_tagged_section, read_unknown_fields

REQUEST_HEADER = Struct(">hhih")
"""API key, version, correlation id and length of the client id (-1: null), which follows at `CLIENT_ID_AT`."""
CLIENT_ID_AT = REQUEST_HEADER.size
_INT32 = Struct(">i")


class RequestHeader(Message):
    """The header of a request."""

    __slots__ = ("api_key", "api_version", "correlation_id", "client_id", "unknown_tagged_fields")  # noqa: RUF023

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        return RequestHeader.__slots__

    def __init__(
        self,
        api_key: int,
        api_version: int,
        correlation_id: int = 0,
        client_id: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.api_key = api_key
        self.api_version = api_version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.unknown_tagged_fields = unknown_tagged_fields


class ResponseHeader(Message):
    """The header of a response."""

    __slots__ = ("correlation_id", "unknown_tagged_fields")

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        return ResponseHeader.__slots__

    def __init__(self, correlation_id: int = 0, unknown_tagged_fields: UnknownTaggedFields = ()) -> None:
        self.correlation_id = correlation_id
        self.unknown_tagged_fields = unknown_tagged_fields


def decode_request_header(buf: Buffer) -> tuple[RequestHeader, int]:
    """The header and the offset of the body. The version may be one that the API does not have.

    Raises ProtocolError for an unknown API key (the layout is unknown with it) and for a truncated header.
    """
    try:
        api_key, api_version, correlation_id, length = REQUEST_HEADER.unpack_from(buf)
        spec = API_BY_KEY.get(api_key)
        if spec is None:
            raise ProtocolError(f"unknown API key {api_key}")
        offset = CLIENT_ID_AT
        client_id = None
        if length >= 0:
            offset += length
            if offset > len(buf):
                raise ProtocolError(f"client id of {length} bytes, {len(buf) - CLIENT_ID_AT} are left")
            client_id = str(buf[CLIENT_ID_AT:offset], "utf-8", "replace")
        unknown: UnknownTaggedFields = ()
        if spec.flexible_from is not None and api_version >= spec.flexible_from:
            if buf[offset]:
                unknown, offset = read_unknown_fields(buf, offset)
            else:
                offset += 1
    except (struct_error, IndexError):
        raise ProtocolError(f"request header truncated: the frame has {len(buf)} bytes") from None
    return RequestHeader(api_key, api_version, correlation_id, client_id, unknown), offset


def encode_request_header(header: RequestHeader) -> bytes:
    spec = API_BY_KEY.get(header.api_key)
    if spec is None:
        raise ProtocolError(f"unknown API key {header.api_key}")
    client_id = b"" if header.client_id is None else encode_utf8(header.client_id, "client id")
    length = -1 if header.client_id is None else len(client_id)
    try:
        fixed = REQUEST_HEADER.pack(header.api_key, header.api_version, header.correlation_id, length)
    except struct_error as error:
        raise ProtocolError(f"request header: {error}") from None
    tagged = b""
    if spec.request_header_version(header.api_version) >= 2:
        tagged = encode_tagged_section((), header.unknown_tagged_fields)
    return fixed + client_id + tagged


def encode_response_header(
    correlation_id: int, header_version: int, unknown_tagged_fields: UnknownTaggedFields = ()
) -> bytes:
    """`header_version` comes from `ApiSpec.response_header_version`."""
    try:
        fixed = _INT32.pack(correlation_id)
    except struct_error as error:
        raise ProtocolError(f"response header: {error}") from None
    if header_version == 0:
        return fixed
    return fixed + (encode_tagged_section((), unknown_tagged_fields) if unknown_tagged_fields else b"\0")


def decode_response_header(buf: Buffer, header_version: int) -> tuple[ResponseHeader, int]:
    """The header and the offset of the body."""
    try:
        (correlation_id,) = _INT32.unpack_from(buf)
        unknown: UnknownTaggedFields = ()
        offset = 4
        if header_version >= 1:
            unknown, offset = read_unknown_fields(buf, offset)
    except (struct_error, IndexError):
        raise ProtocolError(f"response header truncated: the frame has {len(buf)} bytes") from None
    return ResponseHeader(correlation_id, unknown), offset


def encode_utf8(text: str, what: str) -> bytes:
    """The bytes of a string, at most 32767 of them in every version of the protocol."""
    try:
        encoded = text.encode("utf-8")
    except (UnicodeEncodeError, AttributeError):
        raise ProtocolError(f"{what} is not text that UTF-8 can express: {text!r}") from None
    if len(encoded) > MAX_STRING_BYTES:
        raise ProtocolError(f"{what} has {len(encoded)} bytes, at most {MAX_STRING_BYTES} can be sent")
    return encoded
