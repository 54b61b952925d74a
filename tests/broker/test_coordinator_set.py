"""The coordinators of a cluster: made when they are first asked for, and told of changed metadata."""

from __future__ import annotations

import odradek
from odradek.broker.cluster import Cluster
from odradek.broker.controller.feature_control import FeatureUpdate, update_features
from odradek.broker.controller.feature_levels import SHARE_VERSION
from odradek.broker.metadata.image import CONSUMER_OFFSETS, ResourceType
from tests.fakes.configs import set_configs


def test_coordinators_are_made_when_they_are_first_asked_for() -> None:
    cluster = Cluster()
    assert cluster.coordinators.groups.made is None
    assert cluster.groups is cluster.coordinators.groups()
    assert cluster.services.groups.made is cluster.groups
    assert CONSUMER_OFFSETS not in cluster.image.topics


def test_groups_forget_the_offsets_of_a_deleted_topic_unless_coordinators_rest() -> None:
    with odradek.KafkaBroker(topics={"kept": 1, "deleted": 1}) as broker:
        broker.group("g").set_offsets({("kept", 0): 0, ("deleted", 0): 0})
        broker.topic("deleted").delete()
        assert set(broker.group("g").offsets) == {("kept", 0)}
        broker.cluster.coordinators.resting = True
        broker.topic("kept").delete()
        assert set(broker.group("g").offsets) == {("kept", 0)}


def test_share_partitions_follow_the_configs_of_groups_and_brokers_and_the_features() -> None:
    cluster = Cluster(config={"odradek.features": "share.version=1"})
    settings_of = cluster.services.share_partitions().settings_of
    assert settings_of("g").delivery_limit == settings_of("h").delivery_limit == 5
    set_configs(cluster, ResourceType.GROUP, "g", {"share.delivery.count.limit": "3"})
    assert (settings_of("g").delivery_limit, settings_of("h").delivery_limit) == (3, 5)
    cluster.config.set_dynamic(None, {"group.share.delivery.count.limit": "4"})
    assert (settings_of("g").delivery_limit, settings_of("h").delivery_limit) == (3, 4)
    set_configs(cluster, ResourceType.GROUP, "h", {"errors.deadletterqueue.topic.name": "dlq.h"})
    assert settings_of("h").dead_letter_topic == ""
    cluster.controller.ask(update_features, [FeatureUpdate(SHARE_VERSION, 2)])
    assert settings_of("h").dead_letter_topic == "dlq.h"
