"""What stands before the data. The bytes are those of Confluent's and Avro's documents."""

from __future__ import annotations

import pytest

from odradek.broker.schemas.framing import Framed, JsonText, message_indexes, readings


def test_the_schema_id_is_cut_off() -> None:
    assert list(readings(b"\x00\x00\x00\x01\x02data")) == [
        Framed(b"data", schema_id=258),
        Framed(b"\x00\x00\x00\x01\x02data"),
    ]


def test_a_single_object_says_its_schema() -> None:
    assert next(readings(b"\xc3\x01\x08\x07\x06\x05\x04\x03\x02\x01\x02")) == Framed(
        b"\x02", fingerprint="0102030405060708"
    )


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x00\x00\x01", b"\xc3\x01", b"\x02a"])
def test_what_is_too_short_is_plain(data: bytes) -> None:
    assert list(readings(data)) == [Framed(data)]


def test_message_indexes_of_protobuf_are_read() -> None:
    assert message_indexes(b"\x00rest") == ([0], b"rest")
    assert message_indexes(b"\x02\x02") == ([1], b"")
    assert message_indexes(b"\x04\x02\x00rest") == ([1, 0], b"rest")
    assert message_indexes(b"\x02\xac\x02") == ([150], b"")


@pytest.mark.parametrize("data", [b"", b"\x80", b"\x04\x02", b"\x01", b"\xff" * 12, b"\xfe\xff\xff\xff\x0f"])
def test_message_indexes_that_are_none(data: bytes) -> None:
    with pytest.raises(ValueError, match="message indexes"):
        message_indexes(data)


def test_framed_data_are_read_with_their_schema() -> None:
    schema = JsonText("Order")
    assert schema.decode(Framed(b'{"a": [1]}', 7)) == ({"a": [1]}, None)
    assert (schema.kind, repr(schema)) == ("json", "<JsonText Order>")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_told(data: bytes) -> None:
    with pytest.raises(ValueError, match="does not fit Order"):
        JsonText("Order").decode(Framed(data))


def test_data_are_written_as_json() -> None:
    assert JsonText("Order").encode({"name": "ä"}) == '{"name": "ä"}'.encode()
