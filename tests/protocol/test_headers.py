from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.messages import request_header, response_header
from odradek.protocol.headers import (
    RequestHeader,
    ResponseHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
)
from odradek.protocol.message_codec import codec
from tests.fakes.examples import examples

TAGS = st.lists(st.tuples(st.integers(0, 2**32 - 1), st.binary(max_size=200)), max_size=3, unique_by=lambda tag: tag[0])
CLIENT_IDS = st.none() | st.text(st.characters(codec="utf-8"), max_size=20)
INT32 = st.integers(-(2**31), 2**31 - 1)


@settings(max_examples=examples(60), deadline=None, database=None)
@given(st.sampled_from(list(API_BY_KEY.values())), st.data())
def test_equal_to_the_generated_request_header(spec, data) -> None:  # type: ignore[no-untyped-def]
    version = data.draw(st.integers(spec.min_version, spec.max_version))
    header = RequestHeader(spec.key, version, data.draw(INT32), data.draw(CLIENT_IDS))
    if spec.request_header_version(version) == 2:
        header.unknown_tagged_fields = tuple(sorted(data.draw(TAGS)))
    generated = request_header.RequestHeader(
        request_api_key=header.api_key,
        request_api_version=header.api_version,
        correlation_id=header.correlation_id,
        client_id=header.client_id,
        unknown_tagged_fields=header.unknown_tagged_fields,
    )
    encoded = encode_request_header(header)
    assert encoded == codec(request_header.RequestHeader, spec.request_header_version(version)).encode(generated)
    assert decode_request_header(memoryview(encoded + b"body")) == (header, len(encoded))
    for size in range(len(encoded)):
        with pytest.raises(ProtocolError):
            decode_request_header(encoded[:size])


@settings(max_examples=examples(30), deadline=None, database=None)
@given(INT32, st.sampled_from([0, 1]), TAGS)
def test_equal_to_the_generated_response_header(
    correlation_id: int, version: int, tags: list[tuple[int, bytes]]
) -> None:
    unknown = tuple(sorted(tags)) if version else ()
    encoded = encode_response_header(correlation_id, version, unknown)
    generated = response_header.ResponseHeader(correlation_id, unknown)
    assert encoded == codec(response_header.ResponseHeader, version).encode(generated)
    assert decode_response_header(encoded + b"body", version) == (
        ResponseHeader(correlation_id, unknown),
        len(encoded),
    )
    for size in range(len(encoded)):
        with pytest.raises(ProtocolError):
            decode_response_header(encoded[:size], version)


def test_client_id_that_is_not_utf_8_is_accepted() -> None:
    header, end = decode_request_header(bytes.fromhex("0012 0000 00000007 0002 ff41"))
    assert (header.client_id, end) == ("\ufffdA", 12)


def test_header_of_a_version_that_does_not_exist() -> None:
    """ApiVersions of any version must be readable: the broker answers it with version 0."""
    header, end = decode_request_header(bytes.fromhex("0012 7fff 00000007 ffff 00"))
    assert (header.api_version, header.client_id, end) == (0x7FFF, None, 11)


@pytest.mark.parametrize("key", [-1, 4, 95, 999])
def test_request_header_with_an_unknown_api_key_is_refused(key: int) -> None:
    with pytest.raises(ProtocolError, match=f"unknown API key {key}"):
        decode_request_header(key.to_bytes(2, "big", signed=True) + bytes(10))
    with pytest.raises(ProtocolError, match=f"unknown API key {key}"):
        encode_request_header(RequestHeader(key, 0))


@pytest.mark.parametrize(
    "header",
    [
        RequestHeader(3, 70_000),
        RequestHeader(3, 0, 2**31),
        RequestHeader(3, 0, 0, "x" * 32_768),
        RequestHeader(3, 0, 0, "\ud800"),
    ],
)
def test_headers_that_cannot_be_encoded(header: RequestHeader) -> None:
    with pytest.raises(ProtocolError):
        encode_request_header(header)


def test_a_response_header_that_cannot_be_encoded() -> None:
    with pytest.raises(ProtocolError):
        encode_response_header(2**31, 0)
