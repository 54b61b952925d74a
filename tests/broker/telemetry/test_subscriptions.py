"""What subscriptions make of a client; ids and orders are Kafka's in the conversations of test_telemetry."""

from __future__ import annotations

import logging

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import adopt
from odradek.broker.telemetry.subscriptions import DEFAULT_INTERVAL_MS, SubscriptionTable
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.uuids import uuid_from_text
from tests.fakes.configs import set_configs

METRICS = 16
ID = uuid_from_text("EhyhfhHzR5Gr92Oxw7XC3w")


def test_the_subscription_id_is_kafkas() -> None:
    """Recorded from a real Kafka 4.3.1, whose only subscription asked for everything each 5 seconds."""
    cluster = Cluster()
    set_configs(cluster, METRICS, "all", {"metrics": "*", "interval.ms": "5000"})
    asked = SubscriptionTable(cluster.image).for_client(ID, {})
    assert (asked.metrics, asked.interval_ms, asked.subscription_id) == (("*",), 5000, 570737867)


def test_a_client_gets_all_that_match_it() -> None:
    cluster = Cluster()
    set_configs(cluster, METRICS, "a", {"metrics": "org.a,org.b", "match": "client_id=x"})
    set_configs(cluster, METRICS, "b", {"metrics": "org.b,org.c", "interval.ms": "1000"})
    table = SubscriptionTable(cluster.image)
    both, one = table.for_client(ID, {"client_id": "x"}), table.for_client(ID, {"client_id": "y"})
    assert (set(both.metrics), both.interval_ms) == ({"org.a", "org.b", "org.c"}, 1000)
    assert set(one.metrics) == {"org.b", "org.c"}
    assert both.subscription_id != one.subscription_id


def test_no_subscription_is_none_each_five_minutes() -> None:
    asked = SubscriptionTable(Cluster().image).for_client(ID, {})
    assert (asked.metrics, asked.interval_ms) == ((), DEFAULT_INTERVAL_MS)


def test_what_python_cannot_read_in_a_log_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    """Java knows possessive quantifiers in older Pythons too, and classes that Python's ``re`` does not."""
    cluster = Cluster()
    cluster.controller.ask(adopt, [ConfigRecord(METRICS, "java", "match", "client_id=\\p{Alpha}+")])
    set_configs(cluster, METRICS, "b", {"metrics": "org.b"})
    with caplog.at_level(logging.WARNING):
        table = SubscriptionTable(cluster.image)
    assert len(table) == 1
    assert "client metrics subscription java is passed over" in caplog.text


def test_a_change_counts_the_version_up() -> None:
    cluster = Cluster()
    table = SubscriptionTable(cluster.image)
    before = table.version
    set_configs(cluster, METRICS, "b", {"metrics": "org.b"})
    table.read(cluster.image)
    assert table.version == before + 1
    assert len(table) == 1
