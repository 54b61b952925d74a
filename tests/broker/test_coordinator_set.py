"""The coordinators of a cluster: made when they are first asked for, and told of changed metadata."""

from __future__ import annotations

import odradek
from odradek.broker.cluster import Cluster
from odradek.broker.metadata.topic_name_rules import CONSUMER_OFFSETS


def test_coordinators_are_made_when_they_are_first_asked_for() -> None:
    cluster = Cluster()
    assert cluster.coordinators.groups.made is None
    assert cluster.groups is cluster.coordinators.groups()
    assert cluster.services.groups.made is cluster.groups
    assert CONSUMER_OFFSETS not in cluster.image.topics


def test_groups_forget_the_offsets_of_a_deleted_topic_unless_coordinators_rest() -> None:
    with odradek.KafkaBroker(topics={"kept": 1, "deleted": 1}) as broker:
        broker.set_offsets("g", {("kept", 0): 0, ("deleted", 0): 0})
        broker.delete_topic("deleted")
        assert set(broker.group("g").offsets) == {("kept", 0)}
        broker.cluster.coordinators.resting = True
        broker.delete_topic("kept")
        assert set(broker.group("g").offsets) == {("kept", 0)}
