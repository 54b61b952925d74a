from __future__ import annotations

import ast

import construct
import pytest

from odradek._compiled import MODULES
from odradek.protocol import generate, generate_codecs
from odradek.protocol import primitives as p
from odradek.protocol.generate_codecs import generated_files, main, outdated_files
from odradek.protocol.messages.describe_client_quotas import DescribeClientQuotasResponse
from odradek.protocol.messages.produce import PartitionProduceData
from odradek.protocol.written_decoder import DecoderFunctions
from odradek.protocol.written_encoder import EncoderFunctions
from odradek.protocol.written_source import ModuleSource, laid_out, signature


def test_generated_files_are_current() -> None:
    assert outdated_files() == []


def test_no_other_files_stand_among_the_generated_ones() -> None:
    present = {f"codecs/{path.name}" for path in (generate.HERE / "codecs").glob("*.py")}
    assert present - {"codecs/__init__.py"} == set(generated_files())


def test_all_of_them_are_compiled_and_their_messages_with_them() -> None:
    """A message class of plain Python would cost them most of what they gain."""
    written = {name.removesuffix(".py").replace("/", ".") for name in generated_files()} - {"codecs.index"}
    messages = {f"messages.{name}" for name in generate_codecs.APIS}
    records = {f"stored.{name}" for name in generate_codecs.RECORDS}
    assert {f"protocol.{name}" for name in written | messages | records} <= set(MODULES)
    assert {name for name in MODULES if name.startswith("protocol.codecs.")} == {f"protocol.{name}" for name in written}


def test_check_reports_what_is_not_current(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0
    monkeypatch.setattr(generate_codecs, "generated_files", lambda: {"codecs/fetch.py": "changed", "codecs/x.py": ""})
    assert main(["--check"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "all codecs are current",
        "not current: codecs/fetch.py",
        "not current: codecs/x.py",
    ]


def test_versions_of_one_layout_share_a_function() -> None:
    functions = {
        node.name
        for node in ast.parse(generated_files()["codecs/produce.py"]).body
        if isinstance(node, ast.FunctionDef) and "partition_produce_data" in node.name
    }
    assert functions == {"_read_partition_produce_data_3", "_read_partition_produce_data_9"}


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


def test_long_lines_are_laid_out_as_the_formatter_does() -> None:
    assert laid_out("  ", "f(", ["a", "b"], ")") == ["  f(a, b)"]
    long = "x" * 120
    assert laid_out("  ", "f(", [long, "b"], ")") == ["  f(", f"      {long},", "      b,", "  )"]
    assert signature("f", ["a: int"], "int") == ["def f(a: int) -> int:"]
    assert signature("f", ["a: int"], long) == ["def f(", "    a: int,", f") -> {long}:"]
    assert signature("f", ["a: int", "b: int"], long) == ["def f(", "    a: int, b: int", f") -> {long}:"]
