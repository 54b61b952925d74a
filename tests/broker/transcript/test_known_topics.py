"""Names of topics that are gone."""

from __future__ import annotations

from odradek.broker.cluster import Cluster


def test_a_deleted_topic_keeps_its_name() -> None:
    cluster = Cluster()
    topic_id = cluster.create_topic("orders", partitions=1).topic_id
    known = cluster.known_topics.by_id(topic_id)
    assert known is cluster.topics.get("orders")
    cluster.delete_topic("orders")
    gone = cluster.known_topics.by_id(topic_id)
    assert gone is not None
    assert gone.name == "orders"
    assert cluster.known_topics.by_id(bytes(16)) is None
