"""The registry follows the log of a broker: what others write, what a reset or a restore takes away."""

from __future__ import annotations

import json
import logging
import sys
import threading
from pathlib import Path

import pytest
import trio

import odradek
from odradek.__main__ import main
from odradek.registry.decisions import Decision, SchemaRequest, register
from odradek.registry.entries import Content, Version
from odradek.registry.errors import RegistryError
from odradek.registry.records import schema_record
from odradek.registry.registry import RecordDecoding, Registry
from odradek.registry.state import RegistryState
from odradek.types import Decoded
from tests.frontdoor.registry.conftest import Ask, ask

INT = {"schema": '"int"'}
VERSIONS = "/subjects/s/versions"


def subjects(registry: Registry) -> list[str]:
    return registry.look(lambda state: state.subjects(""))


def test_the_first_schema_makes_the_topic(broker: odradek.KafkaBroker, registry: Ask) -> None:
    assert "_schemas" not in broker.topics
    registry("POST", VERSIONS, INT)
    topic = broker.topic("_schemas")
    assert (len(topic.partitions), topic.config["cleanup.policy"]) == (1, "compact")
    (record,) = broker.records("_schemas")
    assert record.key == b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}'


def test_what_another_registry_writes_is_seen(broker: odradek.KafkaBroker, registry: Ask) -> None:
    registry("POST", VERSIONS, INT)
    foreign = schema_record(Version("t", 1, 7, Content('"string"')))
    broker.produce("_schemas", foreign.value_bytes, key=foreign.key_bytes)
    assert registry("GET", "/subjects") == (200, ["s", "t"])
    assert registry("POST", "/subjects/u/versions", {"schema": '"long"'}) == (200, {"id": 8})


def test_two_registries_on_one_log_decide_one_after_the_other(broker: odradek.KafkaBroker) -> None:
    """Each finds that the other was faster, and decides anew."""
    registries = [Registry(broker), Registry(broker)]
    answers: list[int] = []

    def add(registry: Registry, subject: str, size: int) -> None:
        asked = SchemaRequest(Content(f'{{"type":"fixed","name":"F","size":{size}}}'))
        answers.append(registry.change(lambda state: register(state, registry.parser, subject, asked, False))["id"])

    def run(registry: Registry, name: str) -> None:
        for number in range(20):
            add(registry, f"{name}{number}", number + 1)

    threads = [threading.Thread(target=run, args=pair) for pair in zip(registries, "ab", strict=True)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(answers) == sorted([*range(1, 21), *range(1, 21)])
    assert subjects(registries[0]) == subjects(registries[1])
    assert len(subjects(registries[0])) == 40


def test_what_comes_while_it_is_decided_is_decided_anew(broker: odradek.KafkaBroker) -> None:
    registry, other = Registry(broker), Registry(broker)
    seen: list[list[str]] = []

    def decide(state: RegistryState) -> Decision:
        seen.append(state.subjects(""))
        if len(seen) == 1:
            asked = SchemaRequest(Content('"int"'))
            other.change(lambda state: register(state, other.parser, "first", asked, False))
        return register(state, registry.parser, "second", SchemaRequest(Content('"long"')), False)

    assert registry.change(decide) == {"id": 2}
    assert seen == [[], ["first"]]


def test_a_question_that_takes_long_keeps_nobody_waiting(broker: odradek.KafkaBroker) -> None:
    registry = Registry(broker)
    asked = [SchemaRequest(Content(f'"{name}"')) for name in ("int", "long")]
    reached, others_done = threading.Event(), threading.Event()
    seen: list[list[str]] = []

    def slow(state: RegistryState) -> Decision:
        seen.append(state.subjects(""))
        reached.set()
        assert others_done.wait(60)
        return register(state, registry.parser, "slow", asked[0], False)

    thread = threading.Thread(target=registry.change, args=(slow,))
    thread.start()
    assert reached.wait(60)
    registry.change(lambda state: register(state, registry.parser, "other", asked[1], False))
    assert subjects(registry) == ["other"]
    others_done.set()
    thread.join()
    assert (seen, subjects(registry)) == ([[], ["other"]], ["other", "slow"])


def test_a_snapshot_carries_the_schemas(broker: odradek.KafkaBroker, registry: Ask) -> None:
    registry("POST", VERSIONS, INT)
    snapshot = broker.snapshot()
    registry("POST", "/subjects/t/versions", {"schema": '"long"'})
    broker.restore(snapshot)
    assert registry("GET", "/subjects") == (200, ["s"])
    assert registry("POST", "/subjects/u/versions", {"schema": '"string"'}) == (200, {"id": 2})


def test_a_reset_forgets_the_schemas(broker: odradek.KafkaBroker, registry: Ask) -> None:
    registry("POST", VERSIONS, INT)
    broker.reset()
    assert registry("GET", "/subjects") == (200, [])
    assert registry("POST", VERSIONS, {"schema": '"string"'}) == (200, {"id": 1})


def test_a_fork_has_a_registry_of_its_own(broker: odradek.KafkaBroker, registry: Ask) -> None:
    registry("POST", VERSIONS, INT)
    with broker.fork() as fork:
        assert fork.schema_registry_url != broker.schema_registry_url
        assert ask(fork.schema_registry_url, "POST", "/subjects/t/versions", {"schema": '"long"'}) == (200, {"id": 2})
        assert ask(fork.schema_registry_url, "GET", "/subjects") == (200, ["s", "t"])
    assert registry("GET", "/subjects") == (200, ["s"])


def test_a_data_directory_keeps_the_schemas(tmp_path: Path) -> None:
    for expected in ([], ["s"]):
        with odradek.KafkaBroker(data_dir=tmp_path, registry=True) as broker:
            assert ask(broker.schema_registry_url, "GET", "/subjects") == (200, expected)
            assert ask(broker.schema_registry_url, "POST", VERSIONS, INT) == (200, {"id": 1})


def test_an_export_brings_the_schemas_with_their_ids(
    broker: odradek.KafkaBroker, registry: Ask, tmp_path: Path
) -> None:
    registry("POST", "/subjects/t/versions", {"schema": '"long"'})
    registry("POST", VERSIONS, INT)
    assert main(["export", str(tmp_path / "copy"), "--bootstrap-servers", broker.bootstrap_servers]) == 0
    with odradek.KafkaBroker(data_dir=tmp_path / "copy", registry=True) as copy:
        status, found = ask(copy.schema_registry_url, "GET", f"{VERSIONS}/latest")
    assert (status, found["id"], found["schema"]) == (200, 2, '"int"')


def test_a_deleted_topic_is_an_empty_registry(broker: odradek.KafkaBroker, registry: Ask) -> None:
    registry("POST", VERSIONS, INT)
    broker.topic("_schemas").delete()
    assert registry("GET", "/subjects") == (200, [])


def test_records_that_say_nothing_are_left_out_with_a_warning(
    broker: odradek.KafkaBroker, registry: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    registry("POST", VERSIONS, INT)
    broker.produce("_schemas", "no JSON", key="no JSON")
    with caplog.at_level(logging.WARNING, "odradek.registry"):
        assert registry("GET", "/subjects") == (200, ["s"])
    assert "_schemas at offset 1 is left out: the key is not JSON" in caplog.text
    broker.produce("_schemas", '{"compatibilityLevel":"WHAT"}', key='{"keytype":"CONFIG","subject":"s","magic":0}')
    with caplog.at_level(logging.WARNING, "odradek.registry"):
        assert registry("GET", "/config/s")[1]["error_code"] == 40408
    assert "_schemas at offset 2 is left out: invalid compatibility level 'WHAT'" in caplog.text


def test_a_topic_that_is_of_no_use_is_said() -> None:
    with odradek.KafkaBroker(topics={"_schemas": 2}) as broker:
        registry = Registry(broker)
        with pytest.raises(RegistryError, match="has 2 partitions") as refused:
            subjects(registry)
        assert refused.value.code == 50001
        assert repr(registry) == "<Registry: <RegistryState: 0 subjects>>"
        assert registry.cluster_id == broker.cluster.services.cluster_id


def test_a_log_that_takes_nothing_is_said() -> None:
    with odradek.KafkaBroker(nodes=3, config={"min.insync.replicas": 2, "default.replication.factor": 2}) as broker:
        registry = Registry(broker)
        asked = SchemaRequest(Content('"int"'))

        def change(subject: str) -> None:
            registry.change(lambda state: register(state, registry.parser, subject, asked, False))

        change("s")
        broker.kill_node(broker.topic("_schemas").partitions[0].replicas[1])
        with pytest.raises(RegistryError, match="NOT_ENOUGH_REPLICAS") as refused:
            change("t")
        assert refused.value.code == 50001
        assert subjects(registry) == ["s"]


INNER = '{"type":"record","name":"Inner","fields":[{"name":"n","type":"int"}]}'
OUTER = '{"type":"record","name":"Outer","fields":[{"name":"i","type":"Inner"}]}'


def values(broker: odradek.KafkaBroker) -> list[Decoded | None]:
    return [each.value for each in broker.records("orders").decoded()]


def test_registry_decodes_avro_with_a_reference(broker: odradek.KafkaBroker, registry: Ask) -> None:
    registry("POST", "/subjects/inner/versions", {"schema": INNER})
    reference = {"name": "Inner", "subject": "inner", "version": 1}
    registry("POST", "/subjects/orders-value/versions", {"schema": OUTER, "references": [reference]})
    broker.produce("orders", b"\x00\x00\x00\x00\x02\x0e", key=b"plain")
    (record,) = broker.records("orders").decoded()
    assert record.value == Decoded({"i": {"n": 7}}, "Outer", schema_id=2)
    assert record.key is None


def test_registry_decodes_protobuf_and_json(broker: odradek.KafkaBroker, registry: Ask) -> None:
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
