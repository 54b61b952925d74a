"""Which code reads and writes a message, and what is loaded for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from odradek._compiled import compiled
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import ProduceRequest
from odradek.protocol.message_codec import MessageCodec, codec, decoded_again

ASKED = ApiVersionsRequest("client", "1.0")
NAMED = MetadataRequest([MetadataRequestTopic(name="orders")])


def test_one_codec_for_a_version() -> None:
    assert codec(ApiVersionsRequest, 3) is codec(ApiVersionsRequest, 3)
    assert codec(ApiVersionsRequest, 3) is not codec(ApiVersionsRequest, 4)


@pytest.mark.parametrize("version", [-1, 6])
def test_a_version_that_is_none(version: int) -> None:
    with pytest.raises(ProtocolError, match=f"ApiVersionsRequest has the versions 0 to 5, not {version}"):
        MessageCodec(ApiVersionsRequest, version)


@pytest.mark.parametrize("asked", [ASKED, NAMED], ids=["written out", "generated"])
def test_the_first_message_is_as_good_as_the_others(asked: ApiVersionsRequest | MetadataRequest) -> None:
    """Whatever code is behind it; each form of writing comes first once."""
    reference = MessageCodec(type(asked), 4)
    data = bytes(reference.construct.build(asked))
    for first in ("encode", "encode_parts"):
        fresh = MessageCodec(type(asked), 4)
        written = [getattr(fresh, first)(asked), fresh.encode(asked), fresh.encode_parts(asked), fresh.encode(asked)]
        assert [each if isinstance(each, bytes) else b"".join(each) for each in written] == [data] * 4
        assert [fresh.decode(b"--" + data, 2) for _ in range(3)] == [(asked, len(data) + 2)] * 3


def test_damage_is_named_alike_by_the_first_and_the_second() -> None:
    fresh = MessageCodec(ApiVersionsRequest, 3)
    said = []
    for _ in range(3):
        with pytest.raises(ProtocolError) as refused:
            fresh.decode(b"\x07cli")
        said.append(str(refused.value))
    assert len(set(said)) == 1


@pytest.mark.parametrize(
    ("messages", "loaded"),
    [("api_versions.ApiVersions", False), ("metadata.Metadata", True)],
    ids=["written out", "generated"],
)
def test_a_first_exchange_that_is_written_out_needs_no_construct(messages: str, loaded: bool) -> None:
    module, name = messages.split(".")
    code = (
        "import sys\n"
        "from odradek.protocol.message_codec import codec\n"
        f"from odradek.protocol.generated.messages.{module} import {name}Request, {name}Response\n"
        f"codec({name}Request, 0).decode(bytes(4))\n"
        f"codec({name}Response, 0).encode({name}Response())\n"
        "print('construct' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == f"{loaded}\n"


def test_what_is_written_out_serves_always_where_it_is_compiled() -> None:
    fresh = MessageCodec(ApiVersionsRequest, 3)
    for _ in range(3):
        fresh.decode(fresh.encode(ASKED))
    code = getattr(fresh.decode, "func", fresh.decode)
    assert (code.__module__ == "odradek.protocol.generated.codecs.api_versions") is compiled


def test_damage_that_a_written_out_decoder_meets_is_told_by_the_other() -> None:
    with pytest.raises(ProtocolError, match="ProduceRequest version 9 is cut off after 0 bytes"):
        decoded_again(ProduceRequest, 9, b"", 0, 1)
