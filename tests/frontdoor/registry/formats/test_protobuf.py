"""Protobuf: who reads whom, a message for each rule of docs/registry.md. One run of protoc has many of them."""

from __future__ import annotations

import base64
import importlib
import sys
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from odradek.broker.schemas.protobuf import FILE, compiled
from odradek.registry.formats.protobuf import ProtobufSchema, proto_text

RULES = {
    # the reader's fields, the writer's, why it does not read
    "Same": ("int32 a = 1;", "int32 a = 1;", None),
    "Renamed": ("int32 b = 1;", "int32 a = 1;", None),
    "Added": ("int32 a = 1; string b = 2;", "int32 a = 1;", None),
    "Removed": ("int32 a = 1;", "int32 a = 1; string b = 2;", None),
    "Varint": ("bool a = 1;", "uint64 a = 1;", None),
    "EnumAsInt": ("int32 a = 1;", "E a = 1;", None),
    "OtherEnum": ("E a = 1;", "F a = 1;", None),
    "Zigzag": ("sint64 a = 1;", "sint32 a = 1;", None),
    "NoZigzag": ("int32 a = 1;", "sint32 a = 1;", "NoZigzag.a is int32, and was sint32"),
    "Fixed": ("sfixed32 a = 1; sfixed64 b = 2;", "fixed32 a = 1; fixed64 b = 2;", None),
    "OtherFixed": ("fixed64 a = 1;", "fixed32 a = 1;", "OtherFixed.a is fixed64, and was fixed32"),
    "Float": ("double a = 1;", "float a = 1;", "Float.a is double, and was float"),
    "Text": ("bytes a = 1;", "string a = 1;", None),
    "TextAsInt": ("int32 a = 1;", "string a = 1;", "TextAsInt.a is int32, and was string"),
    "MessageAsBytes": ("bytes a = 1;", "Same a = 1;", "MessageAsBytes.a is bytes, and was message"),
    "OtherMessage": ("Same a = 1;", "Added a = 1;", "OtherMessage.a is of Same, and was of Added"),
    "Itself": ("Itself a = 1;", "Itself a = 1;", None),
    "RepeatedText": ("repeated string a = 1;", "string a = 1;", None),
    "RepeatedInt": ("repeated int32 a = 1;", "int32 a = 1;", "RepeatedInt.a is repeated on one side only"),
    "Map": ("map<string, int64> a = 1;", "map<string, int32> a = 1;", None),
    "OtherMap": (
        "map<string, string> a = 1;",
        "map<string, int32> a = 1;",
        "OtherMap.a.value is string, and was int32",
    ),
    "NoMap": ("repeated Same a = 1;", "map<string, int32> a = 1;", "NoMap.a is a map on one side only"),
    "OneIntoOneof": ("oneof o { int32 a = 1; int32 b = 2; }", "int32 a = 1;", None),
    "SeveralIntoOneof": (
        "oneof o { int32 a = 1; int32 b = 2; }",
        "int32 a = 1; int32 b = 2;",
        "several fields of SeveralIntoOneof have moved into the oneof o",
    ),
    "OutOfOneof": ("int32 a = 1; int32 b = 2;", "oneof o { int32 a = 1; int32 b = 2; }", None),
    "FewerInOneof": (
        "oneof o { int32 a = 1; }",
        "oneof o { int32 a = 1; int32 b = 2; }",
        "the oneof o of FewerInOneof has lost fields",
    ),
    "Optional": ("optional int32 a = 1;", "int32 a = 1;", None),
}
ENUMS = "enum E { E0 = 0; } enum F { F0 = 0; F1 = 1; }"


def schema(text: str, syntax: str = "proto3", **imported: str) -> ProtobufSchema:
    return ProtobufSchema(f'syntax = "{syntax}"; {text}', imported)


def test_protobuf_schemas_read_each_other_as_confluent_says() -> None:
    reader, writer = (
        schema(ENUMS + " ".join(f"message {name} {{ {fields[side]} }}" for name, fields in RULES.items()))
        for side in (0, 1)
    )
    assert list(reader.reads(writer)) == [why for _, _, why in RULES.values() if why is not None]


def test_messages_have_to_stay_where_they_are() -> None:
    before = schema("message A { message B {} message C { int32 x = 1; } } message D {}")
    assert schema("message A { message B {} message C {} } message D {} message E {}").reads(before) == []
    assert schema("message A { message C {} message B {} } message D {}").reads(before) == [
        "the message A.B stands at another place of the file",
        "the message A.C stands at another place of the file",
    ]
    assert schema("message A { message B {} }").reads(before) == [
        "the message A.C is missing",
        "the message D is missing",
    ]
    assert schema("package p; message A {}").reads(before) == ["the package is 'p', and was ''"]


def test_protobuf_schema_with_a_new_required_field_is_incompatible() -> None:
    one, two = (
        schema(f"message A {{ {fields} }}", "proto2") for fields in ("required int32 a = 1;", "optional int32 a = 1;")
    )
    assert one.reads(two) == ["A.a is required, and was not"]
    assert two.reads(one) == []


def test_messages_of_other_files_are_compared_too() -> None:
    text = 'import "in/inner.proto"; message A { Inner i = 1; }'
    files = [f'syntax = "proto3"; message Inner {{ {kind} a = 1; }}' for kind in ("int32", "string")]
    one, two = (schema(text, **{"in/inner.proto": each}) for each in files)
    assert one.reads(two) == ["Inner.a is int32, and was string"]


def test_texts_are_kept_as_they_come() -> None:
    text = 'syntax = "proto3"; // a comment\nmessage A {}\n'
    made = ProtobufSchema(text, {})
    assert made.canonical == text
    assert made.normalized == 'syntax = "proto3";\n\nmessage A {\n}\n'
    assert repr(made) == "<ProtobufSchema of A>"


def test_a_descriptor_is_as_good_as_a_text() -> None:
    made = schema("message A { int32 a = 1; }")
    serialized = made.formats["serialized"]()
    assert FileDescriptorProto.FromString(base64.b64decode(serialized)).message_type[0].name == "A"
    assert ProtobufSchema(serialized, {}).canonical == made.normalized


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("message A {", "not a .proto file"),
        ('syntax = "proto3"; import "unknown.proto";', "unknown.proto"),
        ("AAAA", "invalid FileDescriptorProto in base64"),
    ],
)
def test_a_text_that_is_no_protobuf_schema_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ProtobufSchema(text, {})


@pytest.mark.parametrize("path", ["../up.proto", "/root.proto", "a//b.proto", "a\\b.proto", ".", ""])
def test_paths_stay_in_their_folder(path: str) -> None:
    with pytest.raises(ValueError, match=r"is not the path of a \.proto file"):
        schema("message A {}", **{path: ""})


def test_protobuf_schemas_without_the_package_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    monkeypatch.delitem(sys.modules, ProtobufSchema.__module__)
    with pytest.raises(ImportError, match=r'pip install "odradek\[schemas\]"'):
        importlib.import_module(ProtobufSchema.__module__)


OLDER = """
syntax = "proto2";
package some.place;
import public "google/protobuf/timestamp.proto";
option java_package = "a \\"quoted\\" one";
option optimize_for = LITE_RUNTIME;
option cc_enable_arenas = false;
// A comment is not kept.
message Outer {
  option deprecated = true;
  required int32 id = 1;
  optional string text = 2 [default = "a\\"b\\\\\\n", deprecated = true];
  optional bytes data = 3 [default = "\\000\\377"];
  optional double ratio = 4 [default = -1.5];
  optional bool flag = 5 [default = true];
  optional Kind kind = 6 [default = TWO];
  repeated sint64 packed_ones = 7 [packed = true, json_name = "ones"];
  map<string, Inner> inners = 8;
  oneof choice {
    Inner inner = 9;
    google.protobuf.Timestamp time = 10;
  }
  message Inner { optional Outer back = 1; }
  enum Kind {
    option allow_alias = true;
    ONE = 1;
    UNO = 1 [deprecated = true];
    TWO = 2;
    reserved 5, 7 to 9, 100 to max;
    reserved "OLD";
  }
  extensions 100 to 199;
  extensions 1000 to max;
  reserved 20, 30 to 40;
  reserved "gone", "away";
}
"""
NEWER = """
syntax = "proto3";
message M { optional int32 maybe = 1; int32 plain = 2; repeated string many = 3; map<int64, bytes> pairs = 4; }
enum E { NONE = 0; }
service S {
  option deprecated = true;
  rpc Ask(M) returns (M);
  rpc Talk(stream M) returns (stream M) { option idempotency_level = IDEMPOTENT; }
}
"""


def described(text: str) -> FileDescriptorProto:
    files = FileDescriptorSet.FromString(compiled(text)).file
    return next(each for each in files if each.name == FILE)


@pytest.mark.parametrize("text", [OLDER, NEWER])
def test_a_text_that_says_the_same(text: str) -> None:
    file = described(text)
    written = proto_text(file)
    assert described(written) == file
    assert "comment" not in written


@pytest.mark.parametrize("name", ["any", "api", "duration", "struct", "timestamp", "type", "wrappers"])
def test_protobuf_schemas_import_the_files_of_google(name: str) -> None:
    file = FileDescriptorProto()
    importlib.import_module(f"google.protobuf.{name}_pb2").DESCRIPTOR.CopyToProto(file)
    written = proto_text(file)
    assert f'syntax = "{file.syntax}";' in written
    for message in file.message_type:
        assert f"message {message.name} {{" in written


def test_a_small_file_as_it_is_written() -> None:
    assert proto_text(described('syntax = "proto3"; package p; message M { M m = 1; oneof o { int32 a = 2; } }')) == (
        'syntax = "proto3";\npackage p;\n\nmessage M {\n  .p.M m = 1;\n  oneof o {\n    int32 a = 2;\n  }\n}\n'
    )


def _file(**more: Any) -> FileDescriptorProto:
    return FileDescriptorProto(name="f", **more)


def test_protobuf_text_of_unsupported_parts_is_refused() -> None:
    for file, why in (
        (_file(syntax="editions"), "the syntax 'editions'"),
        (_file(extension=[{"name": "e"}]), "extensions are not supported"),
        (_file(message_type=[{"name": "M", "extension": [{"name": "e"}]}]), "the message M has extensions"),
        (_file(message_type=[{"name": "M", "field": [{"name": "g", "number": 1, "type": 10}]}]), "g is a group"),
        (
            _file(message_type=[{"name": "M", "extension_range": [{"start": 1, "end": 2, "options": {}}]}]),
            "extensions with options",
        ),
        (_file(options={"features": {}}), "the option features"),
    ):
        with pytest.raises(ValueError, match=why):
            proto_text(file)
    file = _file()
    file.options.MergeFromString(b"\xc8\x3e\x01")
    with pytest.raises(ValueError, match="f has options of its own"):
        proto_text(file)
