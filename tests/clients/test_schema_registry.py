"""Clients and frameworks of other projects beside the schema registry: Python, Go, Java, JavaScript and Rust."""

from __future__ import annotations

import asyncio
import json
import subprocess
from typing import Any

import pytest

import odradek
from tests.fakes.brokers import broker_fixture
from tests.scenarios.test_other_clients import (
    go_program,
    quix_program,
    registry_java_command,
    registry_js_folder,
    reports,
    rust_program,
)

V1 = {"type": "record", "name": "Order", "fields": [{"name": "number", "type": "int"}]}
V2 = {**V1, "fields": [*V1["fields"], {"name": "note", "type": "string", "default": "none"}]}
BAD = {**V1, "fields": [{"name": "number", "type": "string"}]}
broker = broker_fixture(topics=["orders"], registry=True)


@pytest.fixture
def client(broker: odradek.KafkaBroker) -> Any:
    """confluent-kafka's client of a schema registry."""
    try:
        from confluent_kafka.schema_registry import SchemaRegistryClient
    except ImportError as error:
        pytest.skip(f"needs confluent-kafka[avro,json,protobuf]: {error}")
    return SchemaRegistryClient({"url": broker.schema_registry_url})


def _context() -> Any:
    from confluent_kafka.serialization import MessageField, SerializationContext

    return SerializationContext("orders", MessageField.VALUE)


def test_schema_registry_serves_confluents_avro_serializer(broker: odradek.KafkaBroker, client: Any) -> None:
    from confluent_kafka import Producer
    from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer

    producer = Producer(broker.client_config())
    for schema, order in ((V1, {"number": 1}), (V2, {"number": 2, "note": "two"})):
        producer.produce("orders", AvroSerializer(client, json.dumps(schema))(order, _context()))
    producer.flush()
    values = [each.value for each in broker.records("orders")]
    assert [(value or b"")[:5] for value in values] == [b"\x00\x00\x00\x00\x01", b"\x00\x00\x00\x00\x02"]
    newest = AvroDeserializer(client, json.dumps(V2))
    assert [newest(each, _context()) for each in values] == [
        {"number": 1, "note": "none"},
        {"number": 2, "note": "two"},
    ]
    assert client.get_versions("orders-value") == [1, 2]


def test_what_is_not_compatible_comes_as_the_error_that_clients_know(client: Any) -> None:
    from confluent_kafka.schema_registry import Schema, SchemaRegistryError

    client.register_schema("orders-value", Schema(json.dumps(V1), "AVRO"))
    assert not client.test_compatibility("orders-value", Schema(json.dumps(BAD), "AVRO"))
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema("orders-value", Schema(json.dumps(BAD), "AVRO"))
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 40901)
    with pytest.raises(SchemaRegistryError) as missing:
        client.get_schema(99)
    assert missing.value.error_code == 40403


def test_json_schema_in_python_with_a_reference(broker: odradek.KafkaBroker, client: Any) -> None:
    from confluent_kafka.schema_registry import Schema, SchemaReference
    from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer

    item = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["name"]}
    client.register_schema("item", Schema(json.dumps(item), "JSON"))
    order = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Order",
        "type": "object",
        "properties": {"item": {"$ref": "http://example.com/item.json"}},
        "required": ["item"],
    }
    references = [SchemaReference("http://example.com/item.json", "item", 1)]
    schema = Schema(json.dumps(order), "JSON", references)
    data = JSONSerializer(schema, client)({"item": {"name": "book"}}, _context())
    assert JSONDeserializer(schema, schema_registry_client=client)(data, _context()) == {"item": {"name": "book"}}
    assert client.get_latest_version("orders-value").schema.references == references


def test_protobuf_in_python_with_a_file_that_it_imports(client: Any) -> None:
    from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    pool = DescriptorPool()
    text, number = 9, 5
    item = FileDescriptorProto(name="shop/item.proto", package="shop", syntax="proto3")
    item.message_type.add(name="Item").field.add(name="name", number=1, type=text, label=1)
    order = FileDescriptorProto(name="order.proto", syntax="proto3", dependency=["shop/item.proto"])
    message = order.message_type.add(name="Order")
    message.field.add(name="number", number=1, type=number, label=1)
    message.field.add(name="item", number=2, type=11, type_name=".shop.Item", label=1)
    for each in (item, order):
        pool.Add(each)
    kind = GetMessageClass(pool.FindMessageTypeByName("Order"))
    given = kind(number=7)
    given.item.name = "book"
    data = ProtobufSerializer(kind, client, {"use.deprecated.format": False})(given, _context())
    back: Any = ProtobufDeserializer(kind, {"use.deprecated.format": False}, client)(data, _context())
    assert (back.number, back.item.name) == (7, "book")
    assert sorted(client.get_subjects()) == ["orders-value", "shop/item.proto"]
    assert "message Order {" in client.get_latest_version("orders-value").schema.schema_str


def test_what_else_the_client_of_python_asks(client: Any) -> None:
    from confluent_kafka.schema_registry import ConfigCompatibilityLevel, Schema, ServerConfig

    number = client.register_schema("s", Schema(json.dumps(V1), "AVRO"))
    registered = client.lookup_schema("s", Schema(json.dumps(V1), "AVRO"))
    assert (registered.schema_id, registered.version, registered.subject) == (number, 1, "s")
    assert client.get_schema_by_guid(registered.guid).schema_str == registered.schema.schema_str
    client.set_compatibility("s", "FULL")
    assert client.get_compatibility("s") == "FULL"
    client.set_config("s", ServerConfig(compatibility=ConfigCompatibilityLevel.NONE))
    assert client.get_config("s").compatibility_level == "NONE"
    assert client.get_schema_types() == ["JSON", "PROTOBUF", "AVRO"]
    assert client.get_contexts() == ["."]
    assert client.delete_subject("s") == [1]
    assert client.delete_subject("s", permanent=True) == [1]
    assert client.get_subjects() == []


def test_schema_registry_serves_faststream_with_avro(broker: odradek.KafkaBroker, client: Any) -> None:
    from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
    from faststream.confluent import KafkaBroker

    to_avro, of_avro = AvroSerializer(client, json.dumps(V1)), AvroDeserializer(client)
    app = KafkaBroker(broker.bootstrap_servers, logger=None)

    async def decoded(message: Any) -> Any:
        return of_avro(message.body, _context())

    async def main() -> Any:
        seen = asyncio.get_running_loop().create_future()

        @app.subscriber("orders", group_id="shop", auto_offset_reset="earliest", decoder=decoded)
        async def handle(order: dict[str, int]) -> None:
            seen.set_result(order)

        async with app:
            await app.start()
            await app.publish(to_avro({"number": 7}, _context()), "orders")
            return await asyncio.wait_for(seen, 60)

    assert asyncio.run(main()) == {"number": 7}
    assert broker.requests.count("SchemaRegistry", error=True) == 0


def test_quix_streams_uses_the_schema_registry(broker: odradek.KafkaBroker) -> None:
    broker.create_topic("quix-orders")
    broker.create_topic("quix-doubled")
    command = [*quix_program(), broker.bootstrap_servers, broker.schema_registry_url]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.stdout == "[2, 4, 6]\n", ran.stderr[-2000:]
    doubled = [each.value and each.value.data for each in broker.records("quix-doubled").decoded()]
    assert doubled == [{"number": 2}, {"number": 4}, {"number": 6}]


def test_franz_go_uses_the_schema_registry(broker: odradek.KafkaBroker) -> None:
    report = reports([str(go_program("registry/main.go")), broker.bootstrap_servers, broker.schema_registry_url])
    for scenario in ("everyCall", "errorsHaveTheirCodes", "recordsAreDecoded"):
        assert report(scenario) == ""


def test_javascript_uses_the_schema_registry(broker: odradek.KafkaBroker) -> None:
    node, folder = registry_js_folder()
    report = reports([node, str(folder / "registry.mjs"), broker.schema_registry_url])
    for scenario in (
        "kafkajsAvro",
        "kafkajsJson",
        "kafkajsRefusesWhatIsNotCompatible",
        "confluentAvro",
        "confluentJson",
    ):
        assert report(scenario) == ""


@pytest.mark.jdk
def test_the_java_serializers_use_the_schema_registry(broker: odradek.KafkaBroker) -> None:
    report = reports([*registry_java_command(), broker.bootstrap_servers, broker.schema_registry_url])
    for scenario in ("everyCall", "errorsHaveTheirCodes", "references", "recordsThereAndBack"):
        assert report(scenario) == ""
    [record] = broker.records("orders").decoded()
    assert record.value is not None
    assert record.value.data == {"number": 7}


def test_rust_uses_the_schema_registry(broker: odradek.KafkaBroker) -> None:
    report = reports([str(rust_program()), broker.schema_registry_url])
    for scenario in ("avro_there_and_back", "references_are_registered", "what_is_not_compatible_is_refused"):
        assert report(scenario) == ""
