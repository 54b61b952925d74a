"""Records by their schemas, in both flavours and over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
import trio

import odradek
from odradek import SchemaInfo
from odradek.types import Decoded


def test_schemas_are_set_removed_and_taken_back() -> None:
    with odradek.KafkaBroker(topics=["t"]) as broker:
        broker.produce("t", b"\x00\x00\x00\x00\x07\x02a", key=b"\x54", partition=0)
        broker.produce("t", None, partition=0, transactional_id="tx", transaction="abort")
        with broker.topic("t").set_schema('"string"') as undo:
            broker.topic("t").set_schema('"int"', part="key")
            first, second, marker = broker.records("t", control=True).decoded()
            assert first.record.value == b"\x00\x00\x00\x00\x07\x02a"
            assert (first.key, first.value) == (Decoded(42, "int"), Decoded("a", "string", schema_id=7))
            assert (second.key, second.value, marker.value) == (None, None, None)
            assert broker.schemas == [
                SchemaInfo("t", "key", "avro", "int"),
                SchemaInfo("t", "value", "avro", "string"),
            ]
            broker.topic("t").remove_schema(part="key")
            broker.topic("t").remove_schema(part="key")
        assert undo is not None
        assert broker.schemas == []
        with broker.topic("t").set_schema('"int"'):
            with broker.topic("t").set_schema('"string"'):
                pass
            assert [each.name for each in broker.schemas] == ["int"]


def test_mistakes_are_told() -> None:
    with odradek.KafkaBroker() as broker:
        refused: tuple[tuple[str, dict[str, Any], str], ...] = (
            ("", {}, "needs the name of a topic"),
            ("t", {"part": "header"}, "part='header': expected"),
            ("t", {"schema_id": -1}, "schema_id=-1"),
            ("t", {"schema_id": 2**32}, "schema_id=4294967296"),
        )
        for topic, arguments, words in refused:
            with pytest.raises(ValueError, match=words):
                broker.topic(topic).set_schema('"int"', **arguments)
        assert broker.schemas == []


def test_in_trio() -> None:
    async def main() -> None:
        async with odradek.open_broker(topics=["t"]) as broker:
            await broker.produce("t", b"\x54")
            async with broker.topic("t").set_schema('"int"'):
                assert [each.value for each in broker.records("t").decoded()] == [Decoded(42, "int")]
            assert broker.schemas == []

    trio.run(main)


def test_over_http() -> None:
    from odradek.broker.schemas.protobuf import compiled
    from odradek.control.server import ControlServer

    proto = 'syntax = "proto3"; message A { string a = 1; }'
    with odradek.KafkaBroker(topics=["t"]) as broker, ControlServer(broker) as server:
        remote = odradek.connect(server.url)
        broker.produce("t", b"\x0a\x01x")
        for schema in (proto, compiled(proto), b"\xff"):
            if schema == b"\xff":
                with pytest.raises(ValueError, match="not a descriptor set"):
                    remote.topic("t").set_schema(schema)
                continue
            with remote.topic("t").set_schema(schema):
                assert list(remote.records("t").decoded()) == list(broker.records("t").decoded())
                assert [each.value for each in remote.records("t").decoded()] == [Decoded({"a": "x"}, "A")]
                assert remote.schemas == broker.schemas


@pytest.mark.parametrize("text", ["ook", "né", "k1", "name", "kind", "gift", "-2"])
def test_a_text_is_looked_for_in_every_part(text: str) -> None:
    from odradek.broker.facade.records.decoded import has_text
    from odradek.broker.facade.records.record import DecodedRecord

    with odradek.KafkaBroker(topics=["t"]) as broker:
        broker.produce("t", "BOOK né", key="K1", headers={"Kind": b"Gift"})
        [record] = broker.records("t")
    found = DecodedRecord(record, None, Decoded({"name": -2}, "A"))
    assert has_text(found, text)
    assert not has_text(found, "books")
