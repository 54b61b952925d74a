"""Deltas: nothing, and everything."""

from __future__ import annotations

from odradek.broker.cluster import Cluster
from odradek.broker.metadata.delta import MetadataDelta


def test_a_new_delta_is_empty() -> None:
    assert MetadataDelta().is_empty


def test_everything_names_all_resources() -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("a", configs={"retention.ms": "5"})
    delta = MetadataDelta.of_everything(cluster.image)
    assert [topic.name for topic in delta.created.values()] == ["a"]
    assert set(delta.configs) == {(2, "a"), (4, "")}
    assert delta.brokers == {1: None, 2: None}
    assert not delta.is_empty
