"""Dynamic broker configs: what the image says is in force, but for what odradek does not know."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.commands import Adopt
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord


def test_cluster_wide_and_single_values_are_in_force_and_go() -> None:
    cluster = Cluster(nodes=2)
    name = "log.cleaner.backoff.ms"
    cluster.controller.ask(Adopt([ConfigRecord(4, "", name, "5"), ConfigRecord(4, "2", name, "7")]))
    assert [cluster.config.get_int(name, node) for node in (1, 2)] == [5, 7]
    cluster.controller.ask(Adopt([ConfigRecord(4, "2", name, None)]))
    assert cluster.config.get_int(name, 2) == 5


def test_what_kafka_keeps_for_plugins_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster()
    records = [ConfigRecord(4, "", "my.plugin.x", "5"), ConfigRecord(4, "", "log.cleaner.threads", "many")]
    cluster.controller.ask(Adopt([*records, ConfigRecord(4, "", "log.cleaner.backoff.ms", "5")]))
    assert cluster.config.get_int("log.cleaner.backoff.ms") == 5
    assert cluster.config.dynamic_default.keys() == {"min.insync.replicas", "log.cleaner.backoff.ms", "my.plugin.x"}
    assert "log.cleaner.threads" in caplog.text
