"""The rule `unregistered-schema`: what it finds over the wire, and what it leaves alone."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.unregistered_schema import unregistered_schema
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.schemas.framing import JsonText
from odradek.broker.schemas.record_schemas import Part, Schema
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch
from tests.broker.facade.report.test_hints import connected

RULE = "unregistered-schema"
GOOD, UNKNOWN, PLAIN = b"\x00\x00\x00\x00\x07{}", b"\x00\x00\x00\x00\x08{}", b"plain"


class Registered:
    """The id 7, and subjects for the values of "orders"."""

    def schema(self, topic: str, part: Part, number: int) -> Schema | None:
        return JsonText("Order") if number == 7 else None

    def expects(self, topic: str, part: Part) -> bool:
        return (topic, part) == ("orders", "value")


class Beside:
    """A registry that nobody asks."""

    url = "http://localhost"

    def stop(self) -> None:
        raise NotImplementedError

    resume = stop


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics=["orders", "others"]) as started:
        started.cluster.schema_registry = Beside()
        started.cluster.record_schemas.registered = Registered()
        yield started
        assert started.bugs == []


def write(broker: KafkaBroker, topic: str, *values: bytes | None) -> None:
    records = [Record(0, round(time.time() * 1000), b"key", value, ()) for value in values]
    data = TopicProduceData(topic, partition_data=[PartitionProduceData(0, build_batch(records))])
    with connected(broker, "till") as client:
        answer = client.request(ProduceRequest(None, -1, 30_000, [data]), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0


def found(broker: KafkaBroker) -> list[str]:
    return [each.sentence for each in broker.strictness_since(None, RULE) if each.rule == RULE]


def test_records_without_a_registered_id(broker: KafkaBroker) -> None:
    write(broker, "orders", GOOD, UNKNOWN, PLAIN, None)
    (sentence,) = found(broker)
    assert sentence.startswith("till wrote 2 values to 'orders' without the id of a schema of the registry")
    assert broker.strictness == []


@pytest.mark.parametrize(
    ("topic", "value"),
    [("orders", GOOD), ("orders", None), ("others", PLAIN)],
)
def test_what_is_left_alone(broker: KafkaBroker, topic: str, value: bytes | None) -> None:
    write(broker, topic, value)
    assert found(broker) == []


def test_without_a_registry_nothing_is_asked(broker: KafkaBroker) -> None:
    write(broker, "orders", PLAIN)
    broker.cluster.schema_registry = None
    assert found(broker) == []


def test_what_the_log_has_no_more_is_not_judged(broker: KafkaBroker) -> None:
    write(broker, "orders", PLAIN)
    broker.delete_topic("orders")
    assert found(broker) == []
    assert list(unregistered_schema(Situation(topics={}, groups={}))) == []
