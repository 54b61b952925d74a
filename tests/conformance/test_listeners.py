"""A real Kafka and odradek started with the same properties file, one after the other on the same directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.metadata_records.register_broker_record import RegisterBrokerRecord
from odradek.protocol.metadata_records import decode_metadata_record
from odradek.protocol.record_batch import iter_batches
from odradek.wire_client import WireClient
from tests.conformance.real_kafka import RELEASE, RealKafka, free_ports
from tests.scenarios import listener_rules, listeners

pytestmark = pytest.mark.jdk

NAMES = ("inside", "outside", "hidden")


class _Ports:
    def __init__(self) -> None:
        self.inside, self.outside, self.hidden, self.controller = free_ports(4)


def _answers(ports: _Ports) -> dict[str, Any]:
    listeners.await_coordinator(ports.inside)
    found: dict[str, Any] = {name: listeners.told_through(getattr(ports, name)) for name in NAMES}
    found["configs"] = listeners.shown(ports.inside)
    found["changes"] = listeners.changes(ports.inside)
    found["configs after the changes"] = listeners.shown(ports.inside)
    found["limits"] = listeners.limits(ports.inside, ports.outside)
    return found


def _registrations(log_dir: Path) -> list[list[tuple[str, str, int, int]]]:
    """The listeners that each registration of the broker in the metadata log names."""
    found = []
    for segment in sorted((log_dir / "__cluster_metadata-0").glob("*.log")):
        for batch in iter_batches(memoryview(segment.read_bytes())):
            if batch.is_control:
                continue
            for record in batch.records():
                decoded, _ = decode_metadata_record(record.value)
                if isinstance(decoded, RegisterBrokerRecord):
                    found.append(
                        [(each.name, each.host, each.port, each.security_protocol) for each in decoded.end_points]
                    )
    return found


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """What a real Kafka answers, and what odradek does after it."""
    ports = _Ports()
    config = listeners.properties(ports.inside, ports.outside, ports.hidden, ports.controller)
    kafka = RealKafka(port=ports.inside, config=config)
    kafka.start()
    try:
        with WireClient("127.0.0.1", ports.inside) as client:
            client.request(CreateTopicsRequest(topics=[CreatableTopic(listeners.TOPIC, 1, 1)], timeout_ms=60_000))
        real = _answers(ports)
        for name in ("my.dynamic",):
            listeners.alter(ports.inside, "0", name, None)
        listeners.alter(ports.inside, "", "my.default", None)
        listeners.alter(ports.inside, "", "max.connections.per.ip.overrides", None)
        kafka.halt()
        real["registered"] = _registrations(kafka.log_dir)
        with KafkaBroker(config_file=kafka.folder / "server.properties"):
            ours = _answers(ports)
        ours["registered"] = _registrations(kafka.log_dir)[len(real["registered"]) :]
        kafka.start()  # what odradek left is its own again
        ours["seen by Kafka"] = listeners.told_through(ports.outside)["metadata v12"]
        yield real, ours
    finally:
        kafka.stop(kill=True)


@pytest.mark.parametrize("what", [*NAMES, "configs", "changes", "configs after the changes", "limits"])
def test_listeners_are_described_alike_by_both(both: tuple[dict[str, Any], dict[str, Any]], what: str) -> None:
    real, ours = both
    assert ours[what] == real[what]


def test_brokers_register_the_same_listeners(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    real, ours = both
    assert real["registered"]
    assert set(map(tuple, ours["registered"])) == set(map(tuple, real["registered"]))


def test_a_real_kafka_goes_on_with_what_odradek_left(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    real, ours = both
    assert ours["seen by Kafka"] == real["outside"]["metadata v12"]


def test_the_rules_are_still_those_that_were_recorded() -> None:
    rules = listener_rules.recorded(RELEASE)
    answers = listener_rules.ask({name: properties for name, (properties, _) in rules.items()})
    assert answers == {name: answer for name, (_, answer) in rules.items()}
