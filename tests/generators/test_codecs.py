from __future__ import annotations

import ast

import construct
import pytest

from generators import codecs
from generators.codec_decoders import DecoderFunctions
from generators.codec_encoders import EncoderFunctions
from generators.codec_source import ModuleSource
from odradek._compiled import MODULES
from odradek.protocol import primitives as p
from odradek.protocol.generated.messages.describe_client_quotas import DescribeClientQuotasResponse
from odradek.protocol.generated.messages.produce import PartitionProduceData


def test_all_of_them_are_compiled_and_their_messages_with_them() -> None:
    """A message class of plain Python would cost them most of what they gain."""
    folder = "protocol.generated"
    written = {name.removesuffix(".py").replace("/", ".") for name in codecs.files()} - {f"{folder}.codecs.index"}
    messages = {f"{folder}.messages.{name}" for name in codecs.APIS}
    records = {f"{folder}.stored.{name}" for name in codecs.RECORDS}
    assert written | messages | records <= set(MODULES)
    assert {name for name in MODULES if name.startswith(f"{folder}.codecs.")} == written


def test_versions_of_one_layout_share_a_function() -> None:
    functions = {
        node.name
        for node in ast.parse(codecs.files()["protocol/generated/codecs/produce.py"]).body
        if isinstance(node, ast.FunctionDef) and "partition_produce_data" in node.name
    }
    assert functions == {"_read_partition_produce_data_0", "_read_partition_produce_data_9"}


def test_what_cannot_be_written_out_is_refused() -> None:
    """Float64 has no method."""
    with pytest.raises(TypeError, match="FormatField"):
        EncoderFunctions(ModuleSource()).entry(DescribeClientQuotasResponse)
    with pytest.raises(TypeError, match="FormatField"):
        DecoderFunctions(ModuleSource()).entry(DescribeClientQuotasResponse)
    member = p.Member("records", None, construct.GreedyBytes, None, False)
    body = p.StructBody(PartitionProduceData, [member], flexible=False)
    with pytest.raises(TypeError, match="GreedyBytes"):
        EncoderFunctions(ModuleSource()).struct(body, 0)
    with pytest.raises(TypeError, match="GreedyBytes"):
        DecoderFunctions(ModuleSource()).struct(body, 0)
