"""Protobuf by a .proto file or a descriptor set. The bytes are written by hand, as Protobuf's encoding has them."""

from __future__ import annotations

import pytest

from odradek.broker.schemas.framing import Framed
from odradek.broker.schemas.protobuf import ProtobufSchema, compiled

PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Order { int64 id = 1; string item = 2; google.protobuf.Timestamp at = 3; Kind kind = 4; }
message Payment { message Card { string number = 1; } Card card = 1; }
enum Kind { NONE = 0; GIFT = 1; }
"""
ORDER = b"\x08\x2a\x12\x04book"
BOOK = {"id": "42", "item": "book", "kind": "NONE"}


@pytest.fixture(scope="module")
def descriptor_set() -> bytes:
    return compiled(PROTO)


def test_a_message_of_a_proto_file() -> None:
    schema = ProtobufSchema(PROTO)
    assert (schema.kind, schema.name) == ("protobuf", "shop.Order")
    assert repr(schema) == "<ProtobufSchema shop.Order>"
    assert schema.decode(Framed(ORDER + b"\x1a\x02\x08\x01")) == ({**BOOK, "at": "1970-01-01T00:00:01Z"}, None)


def test_a_message_of_a_descriptor_set(descriptor_set: bytes) -> None:
    assert ProtobufSchema(descriptor_set).decode(Framed(ORDER)) == (BOOK, None)
    card = ProtobufSchema(descriptor_set, "shop.Payment.Card")
    assert card.decode(Framed(b"\x0a\x017")) == ({"number": "7"}, None)


def test_the_indexes_say_which_message(descriptor_set: bytes) -> None:
    schema = ProtobufSchema(descriptor_set)
    assert schema.decode(Framed(b"\x00" + ORDER, schema_id=1)) == (BOOK, None)
    assert schema.decode(Framed(b"\x04\x02\x00\x0a\x017", schema_id=1)) == ({"number": "7"}, None)
    with pytest.raises(ValueError, match=r"of the message \[7\], which given.proto does not have"):
        schema.decode(Framed(b"\x02\x0e" + ORDER, schema_id=1))
    with pytest.raises(ValueError, match="cut short"):
        schema.decode(Framed(b"\x80", schema_id=1))


def test_googles_own_files_may_be_missing_in_a_set(descriptor_set: bytes) -> None:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    files = FileDescriptorSet.FromString(descriptor_set)
    alone = FileDescriptorSet(file=[each for each in files.file if each.name == "given.proto"])
    assert len(files.file) == 2
    assert ProtobufSchema(alone.SerializeToString()).decode(Framed(ORDER)) == (BOOK, None)
    alone.file[0].dependency[0] = "other.proto"
    with pytest.raises(ValueError, match=r"lacks other\.proto: protoc --include_imports adds it"):
        ProtobufSchema(alone.SerializeToString())


def test_protobuf_record_with_unknown_fields_is_told(descriptor_set: bytes) -> None:
    values, problem = ProtobufSchema(descriptor_set).decode(Framed(ORDER + b"\x78\x01"))
    assert (values, problem) == (BOOK, "shop.Order has no field 15")


@pytest.mark.parametrize("data", [b"\x08", b"\x12\x7f", b"\xff\xff", b"\x12\x01\xff"])
def test_what_does_not_fit_is_told(descriptor_set: bytes, data: bytes) -> None:
    with pytest.raises(ValueError, match=r"does not fit shop\.Order"):
        ProtobufSchema(descriptor_set).decode(Framed(data))


def test_what_is_no_schema_is_told(descriptor_set: bytes) -> None:
    with pytest.raises(ValueError, match=r"not a \.proto file: given\.proto:1:\d+: "):
        ProtobufSchema("message Order { wrong }")
    with pytest.raises(ValueError, match=r"not a \.proto file: .*other\.proto"):
        ProtobufSchema('syntax = "proto3"; import "other.proto"; message A {}')
    with pytest.raises(ValueError, match="declares no messages"):
        ProtobufSchema('syntax = "proto3"; enum A { B = 0; }')
    with pytest.raises(ValueError, match="not a descriptor set"):
        ProtobufSchema(b"\xff\xff\xff")
    with pytest.raises(ValueError, match=r"no message 'Order'; there are shop\.Order, "):
        ProtobufSchema(descriptor_set, "Order")


def test_data_are_written_as_they_are_read(descriptor_set: bytes) -> None:
    schema = ProtobufSchema(descriptor_set)
    assert schema.encode({"id": 42, "item": "book"}) == b"\0" + ORDER
    with pytest.raises(ValueError, match=r"does not fit shop\.Order: .*no field named"):
        schema.encode({"number": 1})
