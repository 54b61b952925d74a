"""What a new cluster has finalized: as `kafka-storage format` of 4.4.0 writes it, and in its words what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.controller.feature_control import FeatureUpdate, update_features
from odradek.broker.controller.feature_levels import (
    NEW_CLUSTER,
    RELEASES,
    SUPPORTED,
    features_at_start,
    name_of,
    new_cluster_of,
    supported_by,
    supported_features,
)
from odradek.broker.metadata.image import METADATA_VERSION, TRANSACTION_VERSION
from odradek.broker.releases.release import release_of
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.create_acls import AclCreation, CreateAclsRequest
from odradek.protocol.generated.messages.create_delegation_token import CreateDelegationTokenRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from tests.fakes.ask import ask

KNOWN = RELEASES[: RELEASES.index("4.4-IV2") + 1]
RELEASE, FEATURES = "odradek.release.version", "odradek.features"
UNSTABLE = {"unstable.feature.versions.enable": "true"}
BEFORE_SCRAM, BEFORE_CONTROLLERS = "3.5-IV1", "3.6-IV2"


def at_start(**values: str) -> Mapping[str, int]:
    names = {"release": RELEASE, "features": FEATURES}
    return features_at_start(BrokerConfig({names[name]: text for name, text in values.items()}))


def test_feature_levels_of_the_newest_release() -> None:
    assert at_start() == NEW_CLUSTER == at_start(release="4.4-IV2") == at_start(release="4.4")
    assert list(at_start()) == [
        METADATA_VERSION,
        "eligible.leader.replicas.version",
        "group.version",
        "share.version",
        "streams.version",
        "transaction.version",
    ]
    assert SUPPORTED[METADATA_VERSION] == (7, 6 + len(KNOWN))


@pytest.mark.parametrize(
    ("values", "features"),
    [
        ({"release": "3.9"}, {METADATA_VERSION: 21}),
        ({"release": "4.0-IV0"}, {METADATA_VERSION: 22, "group.version": 1}),
        (
            {"release": "4.0-IV3", "features": "transaction.version=1"},
            {METADATA_VERSION: 25, "group.version": 1, "transaction.version": 1},
        ),
        (
            {"release": "4.1"},
            {
                METADATA_VERSION: 27,
                "eligible.leader.replicas.version": 1,
                "group.version": 1,
                "transaction.version": 2,
            },
        ),
        ({"release": "4.2"}, {**NEW_CLUSTER, METADATA_VERSION: 29, "share.version": 1}),
        ({"features": "metadata.version=20"}, {METADATA_VERSION: 20}),
        ({"features": "group.version=0"}, {name: level for name, level in NEW_CLUSTER.items() if name[0] != "g"}),
    ],
)
def test_feature_levels_that_format_writes(values: dict[str, str], features: dict[str, int]) -> None:
    assert at_start(**values) == features


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (
            {"release": "9.9"},
            f"Unknown metadata.version '9.9'. Supported metadata.version are: {', '.join(KNOWN)}",
        ),
        (
            {"release": "3.9-IV0", "features": "eligible.leader.replicas.version=1"},
            "eligible.leader.replicas.version could not be set to 1 because it depends on metadata.version level 23",
        ),
        ({"features": "group.version=7"}, "No feature:group.version with feature level 7"),
        (
            {"release": "4.0", "features": "metadata.version=20"},
            "Use --release-version instead of --feature metadata.version=X to avoid ambiguity.",
        ),
    ],
)
def test_feature_levels_that_format_refuses_with_kafkas_texts(values: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        at_start(**values)
    assert str(refused.value) == why


def test_levels_that_are_not_ours_to_give() -> None:
    refused = (("foo=1", "Unsupported feature: foo"), ("kraft.version=1", "kraft"), ("x", "equals sign not found"))
    for features, why in refused:
        with pytest.raises(ConfigError, match=why):
            at_start(features=features)


@pytest.mark.parametrize(
    ("values", "features"),
    [
        ({"release": "4.4-IV0"}, {**NEW_CLUSTER, METADATA_VERSION: 31, "share.version": 2}),
        ({"release": "4.3"}, {**NEW_CLUSTER, METADATA_VERSION: 30, "share.version": 1}),
        ({"features": "share.version=1"}, {**NEW_CLUSTER, "share.version": 1}),
        ({"release": "3.9"}, {METADATA_VERSION: 21}),
    ],
)
def test_feature_levels_that_format_of_4_4_writes(values: dict[str, str], features: dict[str, int]) -> None:
    names = {"release": RELEASE, "features": FEATURES}
    config = {"odradek.kafka.version": "4.4"} | {names[name]: text for name, text in values.items()}
    assert features_at_start(BrokerConfig(config)) == features


def test_a_release_gives_the_levels_that_it_has() -> None:
    older = {"odradek.kafka.version": "4.0", RELEASE: "4.0-IV0"}
    assert features_at_start(BrokerConfig(older)) == {METADATA_VERSION: 22, "group.version": 1}
    with pytest.raises(ConfigError, match=r"Version 4\.1 is not .* is 3\.3-IV3 and the maximum version is 4\.1-IV0$"):
        features_at_start(BrokerConfig({**older, RELEASE: "4.1"}))
    with pytest.raises(ConfigError, match=r"are for KRaft: Kafka 3\.9 \(ZooKeeper\) has no features"):
        features_at_start(BrokerConfig({"odradek.kafka.version": "3.9", "odradek.zookeeper": True, RELEASE: "3.9"}))


def test_unstable_levels_are_asked_for() -> None:
    assert supported_features(BrokerConfig({})) is SUPPORTED
    assert supported_features(BrokerConfig(UNSTABLE)) == {**SUPPORTED, METADATA_VERSION: (7, 34)}
    assert features_at_start(BrokerConfig({**UNSTABLE, FEATURES: "metadata.version=34"}))[METADATA_VERSION] == 34
    with pytest.raises(ConfigError, match=r"^metadata\.version 4\.5-IV0 is not yet stable\.$"):
        at_start(features="metadata.version=34")


@pytest.mark.parametrize(
    ("release", "newest"),
    [
        ("3.8", "3.9-IV0"),
        ("3.9", "4.0-IV1"),
        ("4.0", "4.1-IV0"),
        ("4.1", "4.2-IV1"),
        ("4.2", "4.3-IV0"),
        ("4.3", "4.4-IV0"),
        ("4.4", "4.5-IV0"),
    ],
)
def test_a_release_in_development_has_a_level_of_the_next(release: str, newest: str) -> None:
    """The levels behind `LATEST_PRODUCTION` in Kafka's own source of that release."""
    config = BrokerConfig({**UNSTABLE, "odradek.kafka.version": release})
    assert name_of(supported_features(config)[METADATA_VERSION][1]) == newest
    more = {"3.9": {TRANSACTION_VERSION: (0, 2)}, "4.1": {"streams.version": (0, 1)}}
    for name, levels in more.get(release, {}).items():
        assert supported_features(config)[name] == levels
        assert supported_features(BrokerConfig({"odradek.kafka.version": release})).get(name) != levels


@pytest.mark.parametrize(
    ("level", "more"),
    [
        (7, {}),
        (21, {}),
        (22, {"group.version": 1}),
        (23, {}),
        (24, {"transaction.version": 2}),
        (25, {}),
        (26, {"eligible.leader.replicas.version": 1}),
        (27, {}),
        (28, {"share.version": 1}),
        (29, {"streams.version": 1}),
        (30, {}),
        (31, {"share.version": 2}),
        (33, {}),
    ],
)
def test_a_new_cluster_has_what_came_up_to_its_metadata_version(level: int, more: dict[str, int]) -> None:
    """`bootstrapMetadataVersion` of Kafka's features."""
    assert at_start(release=name_of(level)) == at_start(features=f"metadata.version={level}")
    found = dict(at_start(release=name_of(level)))
    assert found.pop(METADATA_VERSION) == level
    before = dict(at_start(release=name_of(max(7, level - 1))))
    before.pop(METADATA_VERSION)
    assert found == {**before, **more}


@pytest.mark.parametrize("text", ["share.version=x", "share.version=", "share.version=123456"])
def test_a_level_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=f"^Can't parse feature=level string {text}: unable to parse"):
        at_start(features=text)


@pytest.mark.parametrize(("level", "taken"), [(6, False), (7, True), (33, True), (35, False)])
def test_a_metadata_version_that_there_is_not_is_refused(level: int, taken: bool) -> None:
    text = rf"No MetadataVersion with feature level {level}\. Valid feature levels are from 7 to 34\."
    with nullcontext() if taken else pytest.raises(ConfigError, match=text):
        at_start(features=f"metadata.version={level}")


def upgrade(cluster: Cluster, level: int) -> None:
    cluster.controller.ask(update_features, [FeatureUpdate(METADATA_VERSION, level, 1)])


def test_an_old_cluster_has_no_scram_users() -> None:
    cluster = Cluster(config={RELEASE: BEFORE_SCRAM})
    request = AlterUserScramCredentialsRequest([], [ScramCredentialUpsertion("u", 1, 4096, b"12345678", b"x" * 32)])
    [refused] = ask(cluster, request).results
    text = "The current metadata.version does not support SCRAM"
    assert (refused.user, refused.error_code, refused.error_message) == ("u", 35, text)
    upgrade(cluster, 11)
    assert [each.error_code for each in ask(cluster, request).results] == [0]


def test_an_old_cluster_has_no_min_insync_replicas_of_its_own() -> None:
    request = DescribeConfigsRequest([DescribeConfigsResource(4, "", None)])
    [defaults] = ask(Cluster(config={RELEASE: "3.9"}), request).results
    assert defaults.configs == []
    [defaults] = ask(Cluster(), request).results
    assert [each.name for each in defaults.configs] == ["min.insync.replicas"]


def test_controllers_are_registered_once_they_may_be() -> None:
    cluster = Cluster(nodes=2, config={RELEASE: BEFORE_CONTROLLERS})
    assert cluster.image.controllers == {}
    cluster.membership.lose(2)
    upgrade(cluster, 14)
    assert cluster.image.controllers == {}
    upgrade(cluster, 15)
    assert list(cluster.image.controllers) == [1], "the other one is down"
    cluster.membership.rejoin(2)
    assert list(cluster.image.controllers) == [1, 2]


def test_feature_levels_of_an_old_cluster_allow_what_kafka_allows() -> None:
    guarded = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
    cluster = Cluster(config={RELEASE: "3.3-IV3", "allow.everyone.if.no.acl.found": "true", **guarded})
    assert cluster.image.features == {METADATA_VERSION: 7}
    cluster.create_topic("t")
    [made] = ask(cluster, CreateAclsRequest([AclCreation(2, "x", 3, "User:a", "*", 3, 3)])).results
    assert made.error_code == 0
    assert ask(cluster, CreateDelegationTokenRequest()).error_code != 0


def test_the_newest_release_has_those_of_the_definition() -> None:
    assert supported_by(release_of()) is SUPPORTED
    assert new_cluster_of(release_of()) is NEW_CLUSTER


def test_an_older_one_has_its_own_and_writes_the_metadata_version_first() -> None:
    release = release_of("4.0")
    assert supported_by(release)[METADATA_VERSION] == (7, 25)
    assert list(new_cluster_of(release).items()) == [
        (METADATA_VERSION, 25),
        ("group.version", 1),
        (TRANSACTION_VERSION, 2),
    ]
    assert TRANSACTION_VERSION not in new_cluster_of(release_of("3.9"))


def test_zookeeper_mode_tells_of_none_and_has_a_metadata_log_all_the_same() -> None:
    release = release_of("2.8")
    assert supported_by(release) == {}
    assert list(new_cluster_of(release)) == [METADATA_VERSION]
