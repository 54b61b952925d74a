"""What a broker has not names what it has."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest

import odradek
from odradek.broker.facade.names import USUAL, elsewhere
from odradek.broker.facade.records.record import Records
from odradek.types import BlockingBroker, Broker, TrioBroker

HANDLES = {"topic(name)": odradek.Topic, "group(id)": odradek.Group, "clock": odradek.BrokerClock}
HANDLES |= {"requests": odradek.Transcript, "records(topic)": Records}


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [
        ("KafkaBroker", "delete_topic", "broker.topic(name).delete"),
        ("KafkaBroker", "set_offsets", "broker.group(id).set_offsets"),
        ("KafkaBroker", "advance", "broker.clock.advance"),
        ("KafkaBroker", "send", "broker.produce"),
        ("TrioBroker", "wait_records", "broker.topic(name).wait"),
        ("KafkaBroker", "lag", "broker.group(id).lag"),
        ("Topic", "create", "broker.create_topic"),
        ("Topic", "produce", "broker.produce"),
        ("TopicInfo", "delete", "broker.topic(name).delete"),
        ("GroupInfo", "wait", "broker.group(id).wait"),
    ],
)
def test_name_that_moved_is_named_with_its_new_place(kind: str, name: str, meant: str) -> None:
    assert elsewhere(kind, name) == f" (did you mean '{meant}'?)"


def test_nothing_is_named_where_nothing_has_the_words() -> None:
    assert elsewhere("KafkaBroker", "zzz") == elsewhere("Group", "delete") == ""


@pytest.mark.parametrize("name", USUAL)
def test_a_usual_name_is_none_of_ours_and_leads_to_one(name: str) -> None:
    assert not hasattr(BlockingBroker, name) or hasattr(odradek.KafkaBroker, USUAL[name])
    place, _, member = USUAL[name].rpartition(".")
    assert hasattr(HANDLES[place] if place else odradek.KafkaBroker, member)


def test_a_broker_and_its_handles_name_what_was_meant() -> None:
    with odradek.KafkaBroker(topics=["orders"]) as kafka:
        broker: Any = kafka
        for asked, told in {
            "delete_topic": r"^KafkaBroker has no 'delete_topic' \(did you mean 'broker.topic\(name\).delete'\?\)$",
            "bootstrap_server": r"^KafkaBroker has no 'bootstrap_server' .*'broker.bootstrap_servers'",
            "clock.advanc": r"^BrokerClock has no 'advanc' \(did you mean 'advance'",
        }.items():
            with pytest.raises(AttributeError, match=told):
                attrgetter(asked)(broker)
        with pytest.raises(AttributeError, match=r"^TopicInfo has no 'delete' .*topic\(name\).delete"):
            _ = broker.topics["orders"].delete
        assert not hasattr(broker, "delete_topic")


def test_calls_are_named_by_the_class_that_the_user_knows() -> None:
    assert BlockingBroker.create_topic.__qualname__ == "KafkaBroker.create_topic"
    assert TrioBroker.create_topic.__qualname__ == "TrioBroker.create_topic"
    assert Broker.records.__qualname__ == odradek.types.RemoteBroker.records.__qualname__ == "Broker.records"
