"""Records are shown by the schemas that the registry has for their ids, without being told one."""

from __future__ import annotations

import json
import sys

import pytest
import trio

import odradek
from odradek.registry.decisions import SchemaRequest, register
from odradek.registry.entries import Content
from odradek.registry.record_decoding import RecordDecoding
from odradek.registry.registry import Registry
from odradek.types import Decoded
from tests.frontdoor.registry.conftest import Ask

INNER = '{"type":"record","name":"Inner","fields":[{"name":"n","type":"int"}]}'
OUTER = '{"type":"record","name":"Outer","fields":[{"name":"i","type":"Inner"}]}'


def values(broker: odradek.KafkaBroker) -> list[Decoded | None]:
    return [each.value for each in broker.records("orders").decoded()]


def test_avro_with_a_reference(broker: odradek.KafkaBroker, registry: Ask) -> None:
    registry("POST", "/subjects/inner/versions", {"schema": INNER})
    reference = {"name": "Inner", "subject": "inner", "version": 1}
    registry("POST", "/subjects/orders-value/versions", {"schema": OUTER, "references": [reference]})
    broker.produce("orders", b"\x00\x00\x00\x00\x02\x0e", key=b"plain")
    (record,) = broker.records("orders").decoded()
    assert record.value == Decoded({"i": {"n": 7}}, "Outer", schema_id=2)
    assert record.key is None


def test_protobuf_and_json(broker: odradek.KafkaBroker, registry: Ask) -> None:
    files = (
        'syntax = "proto3"; message I { int32 n = 1; }',
        'syntax = "proto3"; import "i.proto"; message M { I i = 1; }',
    )
    registry("POST", "/subjects/i/versions", {"schema": files[0], "schemaType": "PROTOBUF"})
    references = [{"name": "i.proto", "subject": "i", "version": 1}]
    body = {"schema": files[1], "schemaType": "PROTOBUF", "references": references}
    registry("POST", "/subjects/p/versions", body)
    registry("POST", "/subjects/j/versions", {"schema": '{"title":"Order"}', "schemaType": "JSON"})
    broker.produce("orders", b"\x00\x00\x00\x00\x02\x00\x0a\x02\x08\x07")
    broker.produce("orders", b'\x00\x00\x00\x00\x03{"a": 1}')
    assert values(broker) == [Decoded({"i": {"n": 7}}, "M", schema_id=2), Decoded({"a": 1}, "Order", schema_id=3)]


def test_what_somebody_has_set_goes_before(broker: odradek.KafkaBroker, registry: Ask) -> None:
    registry("POST", "/subjects/orders-value/versions", {"schema": '"int"'})
    broker.produce("orders", b"\x00\x00\x00\x00\x01\x02")
    assert values(broker) == [Decoded(1, "int", schema_id=1)]
    with broker.topic("orders").set_schema('"boolean"', schema_id=1):
        assert values(broker)[0].schema == "boolean"  # type: ignore[union-attr]


def test_ids_that_are_not_known(broker: odradek.KafkaBroker) -> None:
    broker.produce("orders", b"\x00\x00\x00\x00\x09\x02")
    assert values(broker) == [None]


def test_the_subject_decides_between_contexts(broker: odradek.KafkaBroker, registry: Ask) -> None:
    registry("POST", "/subjects/other/versions", {"schema": '"string"'})
    registry("POST", "/subjects/:.c:orders-value/versions", {"schema": '"int"'})
    broker.produce("orders", b"\x00\x00\x00\x00\x01\x02")
    assert values(broker) == [Decoded(1, "int", schema_id=1)]


def test_a_registry_that_has_ended_tells_nothing() -> None:
    with odradek.KafkaBroker(topics=["orders"]) as broker:
        assert broker.cluster.record_schemas.registered is None
        registry = Registry(broker)
        decoding = RecordDecoding(registry, broker)
        asked = SchemaRequest(Content('"int"'))
        registry.change(lambda state: register(state, registry.parser, "s", asked, normalize=False))
        assert decoding.schema("orders", "value", 1) is not None
        assert repr(decoding) == "<RecordDecoding by <Registry: <RegistryState: 1 subjects>>>"
    assert decoding.schema("orders", "value", 1) is None
    assert not decoding.expects("orders", "value")


def test_in_the_broker_s_own_thread() -> None:
    async def main() -> None:
        async with odradek.open_broker(topics=["orders"], registry=True) as broker:
            schema = json.dumps({"type": "enum", "name": "E", "symbols": ["A", "B"]})
            key = b'{"keytype":"SCHEMA","subject":"orders-value","version":1,"magic":1}'
            value = {"subject": "orders-value", "version": 1, "id": 5, "schema": schema, "deleted": False}
            await broker.create_topic("_schemas", config={"cleanup.policy": "compact"})
            await broker.produce("_schemas", json.dumps(value), key=key)
            await broker.produce("orders", b"\x00\x00\x00\x00\x05\x02")
            assert [each.value for each in broker.records("orders").decoded()] == [Decoded("B", "E", schema_id=5)]

    trio.run(main)


def test_what_is_missing_to_read_it_is_told(
    broker: odradek.KafkaBroker, registry: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry("POST", "/subjects/orders-value/versions", {"schema": '"int"'})
    broker.produce("orders", b"\x00\x00\x00\x00\x01\x02")
    monkeypatch.setitem(sys.modules, "fastavro", None)
    (found,) = values(broker)
    assert found is not None
    assert (found.data, found.schema) == (None, "avro")
    assert 'pip install "odradek[schemas]"' in (found.problem or "")
