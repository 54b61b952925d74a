"""A text out of a descriptor says the same: protoc makes that descriptor of it again."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from odradek.broker.schemas.protobuf import FILE, compiled
from odradek.registry.formats.proto_text import proto_text

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
def test_the_files_of_google(name: str) -> None:
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


def test_what_is_not_written_is_said() -> None:
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
