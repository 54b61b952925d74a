"""Feature levels: what is let pass, what goes with it, what Kafka says to the rest."""

from __future__ import annotations

from contextlib import suppress

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.feature_control import FeatureUpdate, update_features
from odradek.broker.controller.machine import MetadataState, adopt
from odradek.broker.metadata.image import ELR_VERSION
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from tests.fakes.configs import set_configs

UPGRADE, SAFE, UNSAFE = 1, 2, 3


def refusal(cluster: Cluster, *updates: FeatureUpdate) -> str | None:
    with pytest.raises(KafkaError) as refused:
        cluster.controller.ask(update_features, updates)
    assert refused.value.code is ErrorCode.INVALID_UPDATE_VERSION
    return refused.value.message


def test_update_features_changes_all_features_or_none() -> None:
    cluster = Cluster()
    before = dict(cluster.image.features)
    refusal(cluster, FeatureUpdate("group.version", 0, SAFE), FeatureUpdate("share.version", 9))
    assert cluster.image.features == before
    cluster.controller.ask(update_features, [FeatureUpdate("group.version", 0, SAFE)], validate_only=True)
    assert cluster.image.features == before


def test_elr_feature_writes_the_cluster_wide_min_isr() -> None:
    cluster = Cluster(nodes=2)
    cluster.controller.ask(update_features, [FeatureUpdate(ELR_VERSION, 0, SAFE)])
    set_configs(cluster, 4, "", {})
    set_configs(cluster, 4, "1", {"min.insync.replicas": "2"})
    cluster.controller.ask(update_features, [FeatureUpdate(ELR_VERSION, 1)])
    assert cluster.image.configs_of(4, "") == {"min.insync.replicas": "1"}
    assert cluster.image.configs_of(4, "1") == {}
    assert cluster.image.feature(ELR_VERSION) == 1


def test_elr_needs_its_metadata_version() -> None:
    cluster = Cluster()
    records = [FeatureLevelRecord(ELR_VERSION, 0), FeatureLevelRecord("metadata.version", 22)]
    cluster.controller.ask(adopt, [*records, ConfigRecord(4, "", "min.insync.replicas", None)])
    assert refusal(cluster, FeatureUpdate(ELR_VERSION, 1)) == (
        f"Invalid update version 1 for feature {ELR_VERSION}. {ELR_VERSION} could not be set to 1 because it depends "
        "on metadata.version level 23"
    )
    cluster.controller.ask(update_features, [FeatureUpdate(ELR_VERSION, 1), FeatureUpdate("metadata.version", 30)])
    assert cluster.image.feature("metadata.version") == 30


def test_a_metadata_version_without_new_records_may_be_left() -> None:
    cluster = Cluster()
    cluster.controller.ask(adopt, [FeatureLevelRecord("metadata.version", 29)])
    cluster.controller.ask(update_features, [FeatureUpdate("metadata.version", 25, SAFE)])
    assert cluster.image.feature("metadata.version") == 25
    assert "metadata.version downgrade from 25 to 22" in str(
        refusal(cluster, FeatureUpdate("metadata.version", 22, SAFE))
    )


@pytest.mark.parametrize(
    ("update", "why"),
    [
        (FeatureUpdate("group.version", 0, 0), "The controller does not support the given upgrade type."),
        (FeatureUpdate("group.version", 0, 4), "The controller does not support the given upgrade type."),
        (FeatureUpdate("group.version", -1, SAFE), "A feature version cannot be less than 0."),
        (FeatureUpdate("group.version", 2), "Local controller 1 only supports versions 0-1"),
        (FeatureUpdate("no.such", 1), "Local controller 1 does not support this feature."),
        (FeatureUpdate("no.such", 0), "Feature no.such not found."),
        (
            FeatureUpdate("group.version", 0),
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade.",
        ),
        (FeatureUpdate("metadata.version", 33, SAFE), "Can't downgrade to a newer version."),
    ],
)
def test_update_features_refuses_what_no_kafka_takes(update: FeatureUpdate, why: str) -> None:
    cluster = Cluster()
    cluster.controller.ask(adopt, [FeatureLevelRecord("metadata.version", 32)])
    text = f"Invalid update version {update.level} for feature {update.name}. {why}"
    assert refusal(cluster, update) == text


@pytest.mark.parametrize("upgrade_type", [UPGRADE, SAFE, UNSAFE])
def test_update_features_to_the_level_that_is_there_is_taken(upgrade_type: int) -> None:
    cluster = Cluster()
    level = cluster.image.feature("metadata.version")
    cluster.controller.ask(update_features, [FeatureUpdate("metadata.version", level, upgrade_type)])
    assert cluster.image.feature("metadata.version") == level


def test_a_downgrade_of_metadata_version_may_pass_no_level_with_new_records() -> None:
    """Kafka's `MetadataVersion` says of each level whether it has new records."""
    cluster = Cluster()
    passed = []
    for level in range(8, 34):
        cluster.controller.ask(adopt, [FeatureLevelRecord("metadata.version", level)])
        with suppress(KafkaError):
            update_features(cluster.controller.state, [FeatureUpdate("metadata.version", level - 1, SAFE)])
            passed.append(level)
    assert passed == [9, 10, 12, 16, 18, 19, 20, 21, 22, 24, 25, 26, 27, 28, 29, 31]
    assert "Unsafe metadata downgrade is not supported in this version." in str(
        refusal(cluster, FeatureUpdate("metadata.version", 32, UNSAFE))
    )


@pytest.mark.parametrize(
    ("current", "level", "taken"),
    [(5, 4, False), (6, 5, False), (7, 6, False), (8, 7, False), (4, 4, True), (3, 3, False), (4, 5, True)],
)
def test_kafka_3_9_sets_metadata_versions_from_3_3_iv0_on(current: int, level: int, taken: bool) -> None:
    cluster = Cluster(config={"odradek.kafka.version": "3.9"})
    cluster.controller.ask(adopt, [FeatureLevelRecord("metadata.version", current)])
    update = FeatureUpdate("metadata.version", level, UPGRADE if level >= current else SAFE)
    refused = cluster.controller.ask(update_features, [update])
    assert (not refused) is taken
    assert cluster.image.feature("metadata.version") == (level if taken else current)


def test_the_quorums_version_is_what_the_log_has() -> None:
    cluster = Cluster(config={"controller.quorum.bootstrap.servers": "localhost:9093"})
    offset = cluster.image.offset
    cluster.controller.ask(update_features, [FeatureUpdate("kraft.version", 1)])
    assert cluster.image.offset == offset + 1
    state = MetadataState(cluster.image, cluster.config, 1)
    state.kraft_version, state.quorum_is_in_memory = 0, False
    with pytest.raises(KafkaError, match="version 0"):
        update_features(state, [FeatureUpdate("kraft.version", 1)])


def test_a_static_quorum_in_memory_becomes_a_dynamic_one() -> None:
    cluster = Cluster(nodes=2)
    cluster.controller.update_features([FeatureUpdate("kraft.version", 1)], validate_only=True)
    assert cluster.controller.kraft_version == 0
    cluster.controller.update_features([FeatureUpdate("kraft.version", 1)])
    assert cluster.controller.kraft_version == 1
    assert "Can't downgrade the version of this feature." in str(
        refusal(cluster, FeatureUpdate("kraft.version", 0, SAFE))
    )
