"""Records as the broker shows them, without a client."""

from __future__ import annotations

from typing import Any

import pytest
import trio

import odradek
from odradek import SchemaInfo
from odradek.protocol.errors import KafkaError
from odradek.types import Decoded
from tests.broker.facade.test_threaded import produce_three


def test_records_come_back_decoded() -> None:
    with odradek.KafkaBroker(topics={"p-data": 2}) as broker:
        produce_three(broker)
        produce_three(broker)
        records = list(broker.records("p-data"))
        assert [each.offset for each in records] == [0, 1, 2, 3, 4, 5]
        assert {(each.topic, each.partition, each.codec, each.producer_id) for each in records} == {
            ("p-data", 0, "none", -1)
        }
        assert [each.offset for each in broker.records("p-data", start=4)] == [4, 5]
        assert list(broker.records("p-data", 1)) == []
        assert len(broker.records("p-data", isolation="read_committed")) == 6
        with pytest.raises(KafkaError, match="no topic"):
            broker.records("nope")
        with pytest.raises(KafkaError, match="no partition 2"):
            broker.records("p-data", 2)
        with pytest.raises(ValueError, match="isolation"):
            broker.records("p-data", isolation="dirty")  # type: ignore[arg-type]


def test_a_part_of_the_records_is_read() -> None:
    with odradek.KafkaBroker(topics={"t": 2}) as broker:
        broker.produce_all("t", [odradek.ProducerRecord(str(number), partition=0) for number in range(100)])
        broker.produce("t", "other", partition=1)
        assert [each.offset for each in broker.records("t", 0, start=90, limit=3)] == [90, 91, 92]
        assert [each.partition for each in broker.records("t", start=0, limit=101)] == [0] * 100 + [1]
        assert list(broker.records("t", 0, start=100)) == []
        assert list(broker.records("t", 0, limit=0)) == []
        with pytest.raises(ValueError, match="limit=-1"):
            broker.records("t", limit=-1)


def test_a_committed_transaction_behind_an_aborted_one_is_read_from_its_middle() -> None:
    with odradek.KafkaBroker(topics={"t": 1}) as broker:
        broker.produce_all("t", ["a", "b"], transactional_id="tx", transaction="abort")  # 0, 1, marker 2
        broker.produce_all("t", ["c", "d"], transactional_id="tx")  # 3, 4, marker 5
        for start, expected in ((0, [3, 4]), (1, [3, 4]), (2, [3, 4]), (4, [4]), (5, [])):
            found = broker.records("t", 0, start=start, isolation="read_committed")
            assert [each.offset for each in found] == expected


def test_records_are_a_list_that_is_read_when_it_is_used() -> None:
    with odradek.KafkaBroker(topics={"t": 1, "empty": 1}) as broker:
        broker.produce_all("t", ["a", "b", "c"])
        found = broker.records("t")
        assert found
        assert len(found) == 3
        assert not broker.records("empty")
        assert broker.records("empty") == []
        assert (found[0].value, found[-1].value, [each.value for each in found[1:]]) == (b"a", b"c", [b"b", b"c"])
        assert found == list(found) == broker.records("t") != broker.records("t", start=1)
        assert repr(broker.records("t", limit=1)) == repr([found[0]])
        broker.produce_all("t", ["x"] * 30)
        assert len(found) == 3, "it has what the topic held"
        assert repr(broker.records("t")).endswith(", ...]")


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


def test_set_schema_with_mistakes_is_refused() -> None:
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


def test_records_are_decoded_in_trio() -> None:
    async def main() -> None:
        async with odradek.open_broker(topics=["t"]) as broker:
            await broker.produce("t", b"\x54")
            async with broker.topic("t").set_schema('"int"'):
                assert [each.value for each in broker.records("t").decoded()] == [Decoded(42, "int")]
            assert broker.schemas == []

    trio.run(main)


def test_records_are_decoded_over_http() -> None:
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
    from odradek.broker.facade.records.reading import has_text
    from odradek.broker.facade.records.record import DecodedRecord

    with odradek.KafkaBroker(topics=["t"]) as broker:
        broker.produce("t", "BOOK né", key="K1", headers={"Kind": b"Gift"})
        [record] = broker.records("t")
    found = DecodedRecord(record, None, Decoded({"name": -2}, "A"))
    assert has_text(found, text)
    assert not has_text(found, "books")
