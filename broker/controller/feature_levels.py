"""The features of Kafka 4.4.0 (KIP-584): which levels there are, and which a new cluster has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from odradek.broker.config.definition import ConfigError
from odradek.broker.metadata.image import ELR_VERSION, METADATA_VERSION, TRANSACTION_VERSION
from odradek.broker.releases.release import Release
from odradek.protocol.metadata_records import MIN_METADATA_VERSION

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig

GROUP_VERSION = "group.version"
SHARE_VERSION = "share.version"
STREAMS_VERSION = "streams.version"
KRAFT_VERSION = "kraft.version"
MIN_INSYNC_REPLICAS = "min.insync.replicas"

RELEASES: Sequence[str] = (
    *("3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2"),
    *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
    *("4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0"),
    *("4.4-IV0", "4.4-IV1", "4.4-IV2", "4.5-IV0"),
)
"""The levels of `metadata.version` from the lowest one that Kafka 4.x has on."""
_BEFORE = ("3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2")
"""The levels before, from 1 on."""
_RELEASE, _FEATURES = "odradek.release.version", "odradek.features"
_LATEST = MIN_METADATA_VERSION + RELEASES.index("4.4-IV2")
"""The newest level of the default release."""
_UNSTABLE = {"3.7": 20, "3.8": 21, "3.9": 23, "4.0": 26, "4.1": 29, "4.2": 30, "4.3": 31, "4.4": 34}
"""Release -> its highest level, with those that no release has finalized."""
_UNSTABLE_FEATURES = {"3.9": {TRANSACTION_VERSION: (0, 2)}, "4.1": {STREAMS_VERSION: (0, 1)}}
"""Release -> features that were not ready."""
LOWEST_TO_SET = 4
"""The level 3.3-IV0. Up to 3.9 Kafka runs clusters with lower ones, but sets none."""
SCRAM_SINCE, TRANSACTIONS_SINCE, TOKENS_SINCE, CONTROLLERS_SINCE = 11, 13, 14, 15
"""Levels of `metadata.version` that brought SCRAM users, metadata transactions, delegation tokens, and controllers that
are registered (KIP-919)."""

# What Kafka 4.4.0 supports: lowest and highest level of each feature.
SUPPORTED: Mapping[str, tuple[int, int]] = {
    GROUP_VERSION: (0, 1),
    KRAFT_VERSION: (0, 1),
    METADATA_VERSION: (MIN_METADATA_VERSION, _LATEST),
    SHARE_VERSION: (0, 2),
    STREAMS_VERSION: (0, 1),
    TRANSACTION_VERSION: (0, 2),
    ELR_VERSION: (0, 1),
}
NEEDED_METADATA_VERSION: Mapping[str, tuple[int, int]] = {ELR_VERSION: (1, 23)}
"""Feature -> (its level, the level of `metadata.version` that it depends on)."""
_SINCE: Sequence[tuple[str, int, int]] = (
    (ELR_VERSION, 1, 26),
    (GROUP_VERSION, 1, 22),
    (SHARE_VERSION, 1, 28),
    (SHARE_VERSION, 2, 31),
    (STREAMS_VERSION, 1, 29),
    (TRANSACTION_VERSION, 2, 24),
)
"""Feature, its level in a new cluster, and the level of `metadata.version` from which on it has it."""


_SINCE_3_9: Sequence[tuple[str, int, int]] = ((TRANSACTION_VERSION, 2, 22),)
"""The same where Kafka 3.9 had other plans."""


def _at(
    metadata_version: int,
    supported: Mapping[str, tuple[int, int]],
    levels: Sequence[tuple[str, int, int]] = _SINCE,
) -> dict[str, int]:
    """The features of a new cluster of a release, in the order in which Kafka writes them."""
    features = {
        name: level
        for name, level, since in levels
        if metadata_version >= since and name in supported and level <= supported[name][1]
    }
    return {METADATA_VERSION: metadata_version, **features}


# What a newly formatted Kafka 4.4.0 cluster has finalized, in the order in which it writes it.
NEW_CLUSTER: Mapping[str, int] = _at(_LATEST, SUPPORTED)

UNSTABLE_FEATURES_ENABLE = "unstable.feature.versions.enable"
UNSTABLE_APIS_ENABLE = "unstable.api.versions.enable"


def supported_features(
    config: BrokerConfig,
    release: Release | None = None,
    node_id: int | None = None,
    switch: str = UNSTABLE_FEATURES_ENABLE,
) -> Mapping[str, tuple[int, int]]:
    """Lowest and highest level of each feature that a node (the first broker) of a release (the cluster's) supports.

    `switch`: the config that adds the levels that are still in development.
    """
    release = release or config.release
    supported = supported_by(release)
    if METADATA_VERSION not in supported or not config.get_bool(switch, node_id):
        return supported
    low, high = supported[METADATA_VERSION]
    unstable = _UNSTABLE_FEATURES.get(release.name, {})
    return {**supported, METADATA_VERSION: (low, _UNSTABLE.get(release.name, high)), **unstable}


def supported_by(release: Release) -> Mapping[str, tuple[int, int]]:
    """Lowest and highest level of each feature that a release has. ZooKeeper mode has none."""
    return SUPPORTED if release.supported is None else release.supported


def new_cluster_of(release: Release) -> Mapping[str, int]:
    """The levels that a new cluster of a release has finalized.

    In ZooKeeper mode clients see no levels, but the metadata log has one.
    """
    if release.finalized is None:
        return NEW_CLUSTER
    if release.zookeeper:
        return {METADATA_VERSION: NEW_CLUSTER[METADATA_VERSION]}
    first = {METADATA_VERSION: release.finalized[METADATA_VERSION]}
    return first | {name: level for name, level in sorted(release.finalized.items()) if name != METADATA_VERSION}


def name_of(level: int) -> str:
    """The name of a level of `metadata.version`."""
    return (*_BEFORE, *RELEASES)[level - 1]


def features_at_start(config: BrokerConfig) -> Mapping[str, int]:
    """The finalized features of a new cluster, as `kafka-storage format --release-version --feature` chooses them.

    ConfigError, in Kafka's words, for releases and levels that there are not, or that do not go together.
    """
    release = config.get(_RELEASE)
    given = dict(_feature(text) for text in config.get_list(_FEATURES))
    supported = supported_features(config)
    if release is None and not given and supported is supported_by(config.release):
        return new_cluster_of(config.release)
    if config.release.zookeeper:
        raise ConfigError(f"{_RELEASE} and {_FEATURES} are for KRaft: Kafka {config.release} has no features")
    level = _metadata_level(config.release, supported[METADATA_VERSION], release, given.get(METADATA_VERSION))
    if release is not None and METADATA_VERSION in given:
        raise ConfigError("Use --release-version instead of --feature metadata.version=X to avoid ambiguity.")
    given.pop(METADATA_VERSION, None)
    if level < LOWEST_TO_SET:
        text = "Bootstrap metadata.version before 3.3-IV0 are not supported. Can't load metadata from format command"
        raise ConfigError(config.release.text("bootstrap version", text))
    features = _at(level, supported, _SINCE_3_9 if config.release.name == "3.9" else _SINCE)
    if KRAFT_VERSION in given:
        raise ConfigError(
            f"{_FEATURES}: {KRAFT_VERSION} is up to the quorum: 1 where controller.quorum.bootstrap.servers is set "
            "without controller.quorum.voters"
        )
    known_features = {**dict.fromkeys(_UNSTABLE_FEATURES.get(config.release.name, ()), (0, 0)), **supported}
    finalizable = {name: levels for name, levels in known_features.items() if name != METADATA_VERSION}
    for name, chosen in given.items():
        _check_level(name, chosen, finalizable)
        features[name] = chosen
        since, needed = NEEDED_METADATA_VERSION.get(name, (0, 0))
        if since and chosen >= since and level < needed:
            raise ConfigError(
                f"{name} could not be set to {chosen} because it depends on metadata.version level {needed}"
            )
    names = [METADATA_VERSION, *sorted(set(features) - {METADATA_VERSION})]
    return {name: features[name] for name in names if features[name]}


def _feature(text: str) -> tuple[str, int]:
    name, equals, level = (part.strip() for part in text.partition("="))
    if not equals:
        raise ConfigError(f"Can't parse feature=level string {text}: equals sign not found.")
    if re.fullmatch(r"[+-]?\d{1,5}", level) is None:
        raise ConfigError(f"Can't parse feature=level string {text}: unable to parse {level} as a short.")
    return name, int(level)


def _metadata_level(release: Release, levels: tuple[int, int], named: object, level: int | None) -> int:
    """The level that was asked for by a release's name or by number; the newest of `levels` by default."""
    lowest, newest = levels
    if named is not None:
        return _level_of(str(named), release, lowest, newest)
    if level is None:
        return newest
    known = _UNSTABLE.get(release.name, newest)
    if not lowest <= level <= known:
        text = f"No MetadataVersion with feature level {level}. Valid feature levels are from {lowest} to {known}."
        raise ConfigError(release.text("level", text, level=level))
    if level > newest:
        raise ConfigError(f"metadata.version {name_of(level)} is not yet stable.")
    return level


def _level_of(text: str, release: Release, lowest: int, newest: int) -> int:
    """The level of `3.9-IV0`; of `3.9` the newest of that release. `lowest`, `newest`: those that there are."""
    found = [level for level in range(lowest, newest + 1) if text in (name_of(level), name_of(level).split("-")[0])]
    if not found:
        names = ", ".join(map(name_of, range(lowest, newest + 1)))
        first, last = name_of(lowest), name_of(_UNSTABLE.get(release.name, newest))
        refusal = f"Unknown metadata.version '{text}'. Supported metadata.version are: {names}"
        raise ConfigError(release.text("release version", refusal, text=text, first=first, last=last))
    return found[-1]


def _check_level(name: str, level: int, supported: Mapping[str, tuple[int, int]]) -> None:
    if name not in supported:
        raise ConfigError(f"Unsupported feature: {name}. Supported features are: {', '.join(sorted(supported))}")
    low, high = supported[name]
    if not low <= level <= high:
        raise ConfigError(f"No feature:{name} with feature level {level}")
