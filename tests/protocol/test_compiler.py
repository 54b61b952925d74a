"""The compiled codecs against the constructs that they are generated from, for every message and version."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from typing import Any
from unittest.mock import Mock

import construct
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from odradek._compiled import MODULES, compiled
from odradek.protocol import primitives as p
from odradek.protocol.codec_parts import WINDOW
from odradek.protocol.compiler import DecoderSource, compile_decoder, compile_encoder
from odradek.protocol.errors import ProtocolError
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.codecs.index import DECODED
from odradek.protocol.generated.messages.fetch import FetchRequest, FetchResponse
from odradek.protocol.generated.messages.list_transactions import ListTransactionsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.message import Message, VersionedMessage
from odradek.protocol.message_codec import MessageCodec, codec
from odradek.protocol.schema import fold
from odradek.protocol.varint import ANY_NUMBER, MAX_ELEMENTS, MAX_TAGGED_FIELDS, encode_uvarint
from tests.fakes.examples import examples
from tests.fakes.filled import asking
from tests.protocol.message_strategies import all_messages, instances, versions

MESSAGES = list(all_messages())
FEW = settings(
    max_examples=examples(3),
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def interpreted_build(codec_: MessageCodec[Any], message: VersionedMessage) -> bytes:
    out = BytesIO()
    codec_.construct._build(message, out, None, "message")
    return out.getvalue()


def interpreted_parse(codec_: MessageCodec[Any], data: bytes) -> tuple[Message, int]:
    stream = BytesIO(data)
    return codec_.construct._parse(stream, None, "message"), stream.tell()


@pytest.mark.long
@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
@FEW
@given(data=st.data())
def test_compiled_equals_interpreted(message: type[VersionedMessage], data: st.DataObject) -> None:
    for version in versions(message):
        codec_ = codec(message, version)
        value = data.draw(instances(message, version))
        encoded = codec_.encode(value)
        assert encoded == interpreted_build(codec_, value)
        assert joined(codec_.encode_parts(value)) == encoded
        assert codec_.decode(encoded) == interpreted_parse(codec_, encoded) == (value, len(encoded))
        framed = b"head" + encoded + b"more"
        assert codec_.decode(memoryview(framed), 4) == (value, 4 + len(encoded))


@pytest.mark.long
@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
@FEW
@given(data=st.data())
def test_bad_input_gives_protocol_errors_only(message: type[VersionedMessage], data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(versions(message)))
    codec_ = codec(message, version)
    encoded = codec_.encode(data.draw(instances(message, version)))
    for bad in mutations(encoded, data):
        assert outcome(codec_.decode, bad) == outcome(lambda buf: interpreted_parse(codec_, bytes(buf)), bad)


def mutations(encoded: bytes, data: st.DataObject) -> list[bytes]:
    cut = data.draw(st.integers(0, max(len(encoded) - 1, 0)))
    place = data.draw(st.integers(0, max(len(encoded) - 1, 0)))
    byte = data.draw(st.sampled_from([0x00, 0x01, 0x7F, 0x80, 0xFF]))
    changed = bytearray(encoded)
    changed[place : place + 1] = bytes([byte])
    inserted = encoded[:place] + b"\xff\xff\xff\xff\x0f" + encoded[place:]
    return [encoded[:cut], bytes(changed), inserted, data.draw(st.binary(max_size=40))]


def outcome(decode: Any, data: bytes) -> Any:
    """What a decoder makes of the data; "error" for a ProtocolError."""
    try:
        value, end = decode(data)
    except ProtocolError:
        return "error"
    return comparable(value), end


def comparable(value: Any) -> Any:
    """Plain values, with NaN equal to itself."""
    if isinstance(value, Message):
        return [type(value), *(comparable(getattr(value, name)) for name in value.field_names())]
    if isinstance(value, list):
        return [comparable(element) for element in value]
    return bytes(value) if isinstance(value, memoryview) else repr(value) if isinstance(value, float) else value


HOT = [message for message in MESSAGES if message.__name__ in DECODED]


def written_out(message: type[VersionedMessage], version: int) -> Callable[..., tuple[Any, int]]:
    """The decoder that the generator of typed codecs writes now, for mypyc to compile.

    What it cannot read it leaves to the plain one, which knows why; here it has to read all by itself.
    """
    source = DecoderSource(fold(message, version), typed=True)
    module = import_module(f"odradek.protocol.generated.codecs.{DECODED[message.__name__]}")
    scope = {**vars(module), "ANY_NUMBER": ANY_NUMBER, **{used.__name__: used for used in source.messages.values()}}
    scope["decoded_again"] = Mock(side_effect=ProtocolError("left to the plain decoder"))
    constants = [f"{name} = {value}" for name, value in source.constants.items()]
    head = "def generated(version, data, offset=0, most=ANY_NUMBER):"
    exec("\n".join([*constants, head, *source.lines]), scope)
    made: Callable[..., tuple[Any, int]] = scope["generated"]
    return made


@pytest.mark.parametrize("message", HOT, ids=lambda message: message.__name__)
def test_a_written_out_decoder_reads_what_was_encoded(message: type[VersionedMessage]) -> None:
    for version in {message.MIN_VERSION, message.MAX_VERSION}:
        value = asking(message, version, 2)
        encoded = codec(message, version).encode(value)
        decode = written_out(message, version)
        for data in (encoded, memoryview(encoded), bytearray(encoded)):
            assert decode(version, data) == (value, len(encoded))
        assert decode(version, b"xy" + encoded, 2) == (value, len(encoded) + 2)
        for size in range(0, len(encoded), 1 + len(encoded) // 8):
            with pytest.raises(ProtocolError):
                decode(version, encoded[:size])


def test_a_written_out_decoder_counts_the_elements_of_all_lists() -> None:
    value = asking(FetchRequest, 11, 2)
    encoded = codec(FetchRequest, 11).encode(value)
    elements = 2 + 4 + 2 + 4  # topics, their partitions, forgotten topics, and theirs
    assert written_out(FetchRequest, 11)(11, encoded, 0, elements)[0] == value
    with pytest.raises(ProtocolError):
        written_out(FetchRequest, 11)(11, encoded, 0, elements - 1)


def test_a_written_out_decoder_reads_a_request_larger_than_its_window() -> None:
    sizes = (0, 1, 3000, WINDOW - 100, WINDOW, 3 * WINDOW, 5, *[300] * 50, *range(900, 1100, 7))
    topics = [TopicProduceData(f"t{size}", partition_data=[PartitionProduceData(size, bytes(size))]) for size in sizes]
    value = ProduceRequest(acks=1, topic_data=topics * 3)
    encoded = codec(ProduceRequest, 9).encode(value)
    for data in (encoded, memoryview(encoded)):
        found, end = written_out(ProduceRequest, 9)(9, data)
        assert end == len(encoded)
        assert [len(each.partition_data[0].records) for each in found.topic_data] == [*sizes] * 3
        assert [each.name for each in found.topic_data] == [each.name for each in topics] * 3


def test_every_truncation_is_an_error() -> None:
    topic = TopicProduceData(name="t", partition_data=[PartitionProduceData(index=1, records=b"records")])
    for version in (3, 9, 13):
        encoded = codec(ProduceRequest, version).encode(ProduceRequest(acks=1, topic_data=[topic]))
        for size in range(len(encoded)):
            with pytest.raises(ProtocolError):
                codec(ProduceRequest, version).decode(encoded[:size])


def test_a_claimed_length_allocates_nothing() -> None:
    """Array lengths up to two billion in a frame of a few bytes: refused by what is left, before anything is made."""
    for version in range(14):
        flexible = version >= 9
        claimed = b"\xff\xff\xff\xff\x07" if flexible else b"\x7f\xff\xff\xff"
        with pytest.raises(ProtocolError, match="topics"):
            codec(MetadataRequest, version).decode(claimed + bytes(20))


@pytest.mark.parametrize(
    ("message", "version", "before", "element", "after"),
    [
        (OffsetForLeaderEpochRequest, 2, b"", b"\0\0" + bytes(4), b""),
        (ListTransactionsRequest, 0, b"\1", bytes(8), b"\0"),
    ],
)
@pytest.mark.long
def test_arrays_of_more_than_a_million_elements_are_refused(
    message: Any, version: int, before: bytes, element: bytes, after: bytes
) -> None:
    """As Kafka 4.4.0: 1,000,000 names are read, 1,000,001 close the connection."""
    codec_ = codec(message, version)

    def data(count: int) -> bytes:
        length = encode_uvarint(count + 1) if after else count.to_bytes(4, "big")
        return before + length + element * count + after

    most = data(MAX_ELEMENTS)
    assert codec_.decode(most)[1] == len(most)
    for decode in (codec_.decode, lambda buf: interpreted_parse(codec_, bytes(buf))):
        assert outcome(decode, data(MAX_ELEMENTS + 1)) == "error"


@pytest.mark.parametrize("message", [MetadataRequest, FetchRequest])
@pytest.mark.parametrize("count", [10_000, 10_001, 0x80000001, 0xFFFFFFFF])
def test_more_than_ten_thousand_tagged_fields_are_refused(message: Any, count: int) -> None:
    """As Kafka 4.4.0, which takes a negative number for an error too."""
    refused = count > MAX_TAGGED_FIELDS
    codec_ = codec(message, 12)
    plain = codec_.encode(message())
    assert plain[-1:] == b"\0"
    fields = b"".join(encode_uvarint(tag) + b"\0" for tag in range(5, 10_006))
    data = plain[:-1] + encode_uvarint(count) + fields[: len(fields) if refused else -3]
    assert (outcome(codec_.decode, data) == "error") is refused
    assert (outcome(lambda buf: interpreted_parse(codec_, bytes(buf)), data) == "error") is refused


def test_records_are_slices_of_what_was_received() -> None:
    records = bytes(range(256)) * 40
    topic = TopicProduceData(name="t", partition_data=[PartitionProduceData(index=1, records=records)])
    frame = codec(ProduceRequest, 9).encode(ProduceRequest(topic_data=[topic]))
    decoded, _ = codec(ProduceRequest, 9).decode(memoryview(frame))
    view = decoded.topic_data[0].partition_data[0].records
    assert isinstance(view, memoryview)
    assert view.obj is frame
    assert bytes(view) == records


def test_large_records_are_parts_of_their_own() -> None:
    records = memoryview(bytes(10_000))
    topic = TopicProduceData(
        name="t", partition_data=[PartitionProduceData(records=[records[:5_000], records[5_000:]])]
    )
    request = ProduceRequest(topic_data=[topic])
    parts = codec(ProduceRequest, 9).encode_parts(request)
    assert [part for part in parts if isinstance(part, memoryview)] == [records[:5_000], records[5_000:]]
    assert joined(parts) == codec(ProduceRequest, 9).encode(request)
    assert interpreted_build(codec(ProduceRequest, 9), request) == codec(ProduceRequest, 9).encode(request)


@pytest.mark.parametrize(
    ("message", "version", "path"),
    [
        (MetadataRequest(topics=None), 0, "topics: null"),
        (MetadataRequest(topics=[MetadataRequestTopic(name=None)]), 1, r"topics\[0\].name: null"),
        (MetadataRequest(topics=[MetadataRequestTopic(name="x" * 40_000)]), 1, "40000 bytes"),
        (MetadataRequest(topics=[MetadataRequestTopic(name="\ud800")]), 12, "UTF-8"),
        (MetadataRequest(topics=[MetadataRequestTopic(topic_id=b"short")]), 12, "16 bytes"),
        (MetadataRequest(allow_auto_topic_creation=False), 3, "no allow_auto_topic_creation"),
        (MetadataRequest(unknown_tagged_fields=((0, b""),)), 8, "no tagged fields"),
        (MetadataRequest(unknown_tagged_fields=((5, b""), (3, b""))), 9, "ascending"),
        (ProduceRequest(acks=70_000), 9, r"acks: 70000"),
        (ProduceRequest(topic_data=[MetadataRequestTopic()]), 9, "TopicProduceData"),  # type: ignore[list-item]
        (FetchResponse(unknown_tagged_fields=((0, b"clash"),)), 15, None),
        (FetchResponse(session_id=3), 4, "session_id"),
    ],
)
def test_values_that_a_version_cannot_express(message: VersionedMessage, version: int, path: str | None) -> None:
    codec_: MessageCodec[Any] = codec(type(message), version)
    if path is None:
        codec_.encode(message)
        return
    for build in (codec_.encode, codec_.encode_parts, lambda value: interpreted_build(codec_, value)):
        with pytest.raises(ProtocolError, match=path):
            build(message)


WRONG_TYPES: list[tuple[Callable[[Any], VersionedMessage], Any, int, str]] = [
    (lambda name: MetadataRequest(topics=[MetadataRequestTopic(name=name)]), b"x", 12, "UTF-8"),
    (lambda topics: MetadataRequest(topics=topics), 5, 12, "list"),
    (lambda acks: ProduceRequest(acks=acks), None, 9, "acks: None"),
    (lambda endpoints: FetchResponse(node_endpoints=endpoints), None, 16, "node_endpoints: null"),
]


@pytest.mark.parametrize(("make", "value", "version", "path"), WRONG_TYPES)
def test_values_of_a_wrong_type(make: Callable[[Any], VersionedMessage], value: Any, version: int, path: str) -> None:
    """A compiled message refuses them itself."""
    if compiled and "protocol.message" in MODULES:
        with pytest.raises(TypeError):
            make(value)
        return
    message = make(value)
    codec_: MessageCodec[Any] = codec(type(message), version)
    for build in (codec_.encode, codec_.encode_parts, lambda value: interpreted_build(codec_, value)):
        with pytest.raises(ProtocolError, match=path):
            build(message)


def test_an_unknown_construct_is_refused_at_generation() -> None:
    member = p.Member("records", None, construct.GreedyBytes, None, False)
    body = p.StructBody(PartitionProduceData, [member], flexible=False)
    with pytest.raises(TypeError, match="GreedyBytes"):
        compile_decoder(body, 0)
    with pytest.raises(TypeError, match="GreedyBytes"):
        compile_encoder(body, 0)


def test_versions_outside_the_range_are_refused() -> None:
    for version in (-1, 14):
        with pytest.raises(ProtocolError, match="ProduceRequest has the versions 0 to 13"):
            codec(ProduceRequest, version)


def test_a_codec_is_made_once() -> None:
    assert codec(ProduceRequest, 9) is codec(ProduceRequest, 9)
