"""Written-out codecs against the code that is generated at run time: the same bytes, values and errors.

Without compiled modules they run here as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from odradek._compiled import compiled
from odradek.protocol.codec_parts import SMALL, WINDOW, encode_whole
from odradek.protocol.compiler import compile_decoder, compile_encoder
from odradek.protocol.errors import ProtocolError
from odradek.protocol.file_slice import Part, joined
from odradek.protocol.generated.codecs.index import DECODED, ENCODED
from odradek.protocol.generated.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.offset_commit import OffsetCommitResponse, OffsetCommitResponseTopic
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from odradek.protocol.generated.stored.offset_commit import OffsetCommitValue
from odradek.protocol.message import Message, VersionedMessage
from odradek.protocol.message_codec import codec, written_decoder, written_encoder
from odradek.protocol.schema import fold
from tests.fakes.examples import examples
from tests.protocol.message_strategies import all_messages, instances, versions
from tests.protocol.test_compiler import comparable, mutations

KNOWN = {message.__name__: message for message in all_messages()}
READ = [KNOWN[name] for name in DECODED]
WRITTEN = [KNOWN[name] for name in ENCODED]
FEW = settings(
    max_examples=examples(5),
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def decoders(message: type[VersionedMessage], version: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The one that is written out, and the one generated at run time."""
    written = written_decoder(message, version)
    assert written is not None
    return written, compile_decoder(fold(message, version), version)


def outcome(call: Callable[[], Any]) -> Any:
    """What comes back, or what a ProtocolError says."""
    try:
        return call()
    except ProtocolError as error:
        return f"ProtocolError: {error}"


def read(decode: Callable[..., Any], data: Any, offset: int = 0) -> Any:
    result = outcome(lambda: decode(data, offset))
    return result if isinstance(result, str) else (comparable(result[0]), result[1])


@pytest.mark.parametrize("message", READ, ids=lambda message: message.__name__)
@FEW
@given(data=st.data())
def test_written_out_decoders_read_what_construct_reads(message: type[VersionedMessage], data: st.DataObject) -> None:
    for version in versions(message):
        written, at_run_time = decoders(message, version)
        encoded = codec(message, version).encode(data.draw(instances(message, version)))
        framed = b"head" + encoded + b"more"
        for source in (framed, memoryview(framed), bytearray(framed)):
            assert read(written, source, 4) == read(at_run_time, source, 4)
        far = memoryview(bytes(WINDOW - 2) + framed + bytes(WINDOW))  # over the end of a window
        assert read(written, far, WINDOW + 2) == read(at_run_time, far, WINDOW + 2)


@pytest.mark.parametrize("message", READ, ids=lambda message: message.__name__)
@FEW
@given(data=st.data())
def test_codecs_refuse_the_same_damaged_bytes(message: type[VersionedMessage], data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(versions(message)))
    written, at_run_time = decoders(message, version)
    encoded = codec(message, version).encode(data.draw(instances(message, version)))
    for bad in mutations(encoded, data):
        assert read(written, bad) == read(at_run_time, bad)
        long = memoryview(bytes(WINDOW) + bad)
        assert read(written, long, WINDOW) == read(at_run_time, long, WINDOW)


@pytest.mark.parametrize("message", READ, ids=lambda message: message.__name__)
@FEW
@given(data=st.data())
def test_what_is_written_out_reads_it_all_by_itself(
    message: type[VersionedMessage], data: st.DataObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right bytes are never left to the code generated at run time, which would hide a mistake."""

    def refused(*anything: Any) -> Any:
        raise AssertionError(f"left to the other decoder: {anything}")

    for version in versions(message):
        encoded = codec(message, version).encode(data.draw(instances(message, version)))
        with monkeypatch.context() as patched:
            patched.setattr("odradek.protocol.compiler.compile_decoder", refused)
            written = written_decoder(message, version)
            assert written is not None
            assert written(encoded)[1] == len(encoded)


@pytest.mark.parametrize("message", WRITTEN, ids=lambda message: message.__name__)
@FEW
@given(data=st.data())
def test_written_out_encoders_write_what_construct_writes(message: type[VersionedMessage], data: st.DataObject) -> None:
    for version in versions(message):
        value = data.draw(instances(message, version))
        assert encoder(message, version)(value) == compile_encoder(fold(message, version), version)(value)


@pytest.mark.long
@pytest.mark.parametrize("message", WRITTEN, ids=lambda message: message.__name__)
@FEW
@given(data=st.data())
def test_writing_what_a_version_cannot_say(message: type[VersionedMessage], data: st.DataObject) -> None:
    """A value made for one version, written in each of the others, and values out of range."""
    value = data.draw(instances(message, data.draw(st.sampled_from(versions(message)))))
    for version in versions(message):
        assert_written_alike(message, version, value)
    for changed in spoilt(value):
        assert_written_alike(message, message.MAX_VERSION, changed)


def assert_written_alike(message: type[VersionedMessage], version: int, value: Any) -> None:
    at_run_time = compile_encoder(fold(message, version), version)
    assert outcome(lambda: encoder(message, version)(value)) == outcome(lambda: at_run_time(value))


def encoder(message: type[VersionedMessage], version: int) -> Callable[[Any], list[Part]]:
    found = written_encoder(message, version)
    assert found is not None
    return found


def spoilt(value: VersionedMessage) -> list[Any]:
    """Copies with one field that no version can express; a compiled message takes values of the field's type only."""
    found: list[Any] = [PartitionProduceData(), None]
    for name in value.field_names():
        held = getattr(value, name)
        if type(held) is int:
            found.append(value.replace(**{name: 2**64}))
        if type(held) is str:
            found += [value.replace(**{name: text}) for text in ("x" * 40_000, "\ud800")]
        if type(held) is list and not compiled:
            found += [value.replace(**{name: other}) for other in (5, [None], None)]
        if name == "unknown_tagged_fields":
            found += [value.replace(**{name: tags}) for tags in (((200, b""), (100, b"")), ((0, b"clash"),))]
    return found


def test_long_records_are_slices_of_what_was_received() -> None:
    """In a frame of one window, and of many. Short ones may be copies."""
    for size in (100, 3 * WINDOW):
        records = [bytes([number]) * size for number in range(3)]
        partitions = [PartitionProduceData(index=index, records=each) for index, each in enumerate(records)]
        frame = codec(ProduceRequest, 9).encode(
            ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=partitions)])
        )
        decode, _ = decoders(ProduceRequest, 9)
        request, end = decode(memoryview(frame))
        views = [each.records for each in request.topic_data[0].partition_data]
        assert [bytes(view) for view in views] == records
        assert size <= SMALL or all(isinstance(view, memoryview) and view.obj is frame for view in views)
        assert end == len(frame)


@pytest.mark.parametrize("cut", [0, 1])
@pytest.mark.parametrize("size", [100, 3 * WINDOW])
def test_nothing_of_a_buffer_is_held_afterwards(size: int, cut: int) -> None:
    """A connection lends its buffer, and moves what is in it when the request is done."""
    topic = TopicProduceData(name="t", partition_data=[PartitionProduceData(records=bytes(size))])
    encoded = codec(ProduceRequest, 9).encode(ProduceRequest(topic_data=[topic]))
    frame = bytearray(encoded[: len(encoded) - cut])
    decode, _ = decoders(ProduceRequest, 9)
    view = memoryview(frame)
    outcome(lambda: decode(view))
    view.release()
    frame.append(0)  # a BufferError where somebody has a view


def test_every_truncation_is_the_same_error() -> None:
    partition = PartitionProduceData(index=1, records=b"records")
    request = ProduceRequest(acks=1, topic_data=[TopicProduceData(name="t", partition_data=[partition])])
    for version in (3, 9, 13):
        encoded = codec(ProduceRequest, version).encode(request)
        written, at_run_time = decoders(ProduceRequest, version)
        for size in range(len(encoded)):
            said = read(written, encoded[:size])
            assert said.startswith("ProtocolError: ")
            assert said == read(at_run_time, encoded[:size])


def test_an_error_has_nothing_to_do_with_another_one() -> None:
    """The failure of the written-out decoder is not told as its cause or context."""
    written, _ = decoders(HeartbeatRequest, 4)
    with pytest.raises(ProtocolError, match="HeartbeatRequest version 4 is cut off after 0 bytes") as caught:
        written(b"")
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_large_records_are_parts_of_their_own() -> None:
    records = memoryview(bytes(range(256)) * 100)
    pieces = [records[:9_000], records[9_000:]]
    topic = FetchableTopicResponse(topic="t", partitions=[PartitionData(records=pieces), PartitionData(records=b"few")])
    response = FetchResponse(responses=[topic])
    encode = encoder(FetchResponse, 12)
    parts = encode(response)
    assert [part for part in parts if isinstance(part, memoryview)] == pieces
    assert joined(parts) == encode_whole(encode, response) == codec(FetchResponse, 12).encode(response)


def test_answers_as_kafka_writes_them() -> None:
    """By hand, from the field tables."""
    partition = PartitionProduceResponse(index=1, base_offset=7, log_start_offset=0)
    produced = ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[partition])])
    assert written(produced, 9) == bytes.fromhex(
        "020274020000000100000000000000000007ffffffffffffffff0000000000000000010000000000000000"
    )
    assert written(HeartbeatResponse(error_code=27), 0) == bytes.fromhex("001b")
    assert written(HeartbeatResponse(throttle_time_ms=5, error_code=-1), 4) == bytes.fromhex("00000005ffff00")
    committed = OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="ab")])
    assert written(committed, 2) == bytes.fromhex("000000010002616200000000")
    value = OffsetCommitValue(offset=258, leader_epoch=-1, metadata="m", commit_timestamp=1)
    assert written(value, 3) == bytes.fromhex("0000000000000102ffffffff00016d0000000000000001")


def written(message: VersionedMessage, version: int) -> bytes:
    return encode_whole(encoder(type(message), version), message)


def test_other_messages_are_not_written_out() -> None:
    assert written_decoder(MetadataRequest, 12) is None
    assert written_encoder(MetadataRequest, 12) is None
    assert written_encoder(ProduceRequest, 12) is None, "a broker only reads it"


def test_every_field_of_a_read_message_is_set() -> None:
    """Whatever a version lacks has its default."""
    for version in versions(ProduceRequest):
        decode, _ = decoders(ProduceRequest, version)
        message: Message = decode(codec(ProduceRequest, version).encode(ProduceRequest()))[0]
        assert message == ProduceRequest()
