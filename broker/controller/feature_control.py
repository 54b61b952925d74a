"""Feature levels of the cluster (KIP-584): which updates each release of Kafka lets pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from odradek.broker.controller.feature_levels import (
    KRAFT_VERSION,
    LOWEST_TO_SET,
    MIN_INSYNC_REPLICAS,
    NEEDED_METADATA_VERSION,
)
from odradek.broker.controller.machine import Decision, MetadataState
from odradek.broker.metadata.image import ELR_VERSION, METADATA_VERSION, ResourceType
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.message import MetadataRecord

_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3
_NONE = (0, 0)
"""What is supported of an unknown feature."""
_METADATA_LEVELS_WITH_CHANGES = frozenset({5, 6, 7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33})
"""Levels of `metadata.version` that brought new records or fields: a downgrade past one could lose metadata."""


class FeatureUpdate(NamedTuple):
    """A feature and the level to finalize it at. `upgrade_type`: 1 upgrade, 2 safe and 3 unsafe downgrade."""

    name: str
    level: int
    upgrade_type: int = 1


def update_features(
    state: MetadataState, updates: Sequence[FeatureUpdate], *, validate_only: bool = False
) -> Decision[Mapping[str, KafkaError]]:
    """Finalize feature levels, all of them or none; INVALID_UPDATE_VERSION in Kafka's words (KIP-584).

    Up to Kafka 3.9 each of them that is valid is finalized; the reply has the errors of the others.
    """
    proposed = {**state.image.features, **{update.name: update.level for update in updates}}
    records: list[MetadataRecord] = []
    refused: dict[str, KafkaError] = {}
    for update in updates:
        try:
            _check(state, update, proposed)
        except KafkaError as error:
            if not state.release.updates_features_one_by_one:
                raise
            refused[update.name] = as_value(error)
        else:
            records += _records_of(state, update)
    if proposed.get(ELR_VERSION, 0) and not state.image.feature(ELR_VERSION) and ELR_VERSION not in refused:
        records[:0] = _elr_configs(state)
    return [] if validate_only else records, refused


def _records_of(state: MetadataState, update: FeatureUpdate) -> list[MetadataRecord]:
    if update.name != KRAFT_VERSION or state.release.updates_features_one_by_one:
        return [FeatureLevelRecord(update.name, update.level)]
    # An upgrade is told by an offset to wait for even where nothing changes.
    return [NoOpRecord()] if update.upgrade_type == _UPGRADE else []


def _check(state: MetadataState, update: FeatureUpdate, proposed: Mapping[str, int]) -> None:
    name, level, upgrade_type = update
    release, supported = state.release, state.supported(state.controller_id)
    if upgrade_type not in (_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE):
        raise _refused(update, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _refused(update, "A feature version cannot be less than 0.")
    _check_support(update, f"Local controller {state.controller_id}", supported)
    for number, broker in sorted(state.image.brokers.items()):
        _check_support(update, f"Broker {number}", broker.features)
        if name not in broker.features and release.refuses_unknown_level_0:
            raise _refused(update, f"Broker {number} {_LACKS}")
    for number, controller in sorted(state.image.controllers.items()):
        if number != state.controller_id:
            _check_support(update, f"Controller {number}", controller.features)
    of_quorum = name == KRAFT_VERSION and not release.updates_features_one_by_one
    current = state.kraft_version if of_quorum else state.image.feature(name)
    if level < current and upgrade_type == _UPGRADE:
        raise _refused(
            update,
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade.",
        )
    if level > current and upgrade_type != _UPGRADE:
        raise _refused(update, "Can't downgrade to a newer version.")
    if of_quorum and level < current:
        raise _refused(update, "Can't downgrade the version of this feature.")
    if of_quorum and level > current and release.upgrades_quorums and not state.quorum_is_in_memory:
        raise _refused(update, "odradek keeps the static quorum of several log directories at version 0.")
    if name not in supported and not release.updates_features_one_by_one:
        raise _refused(update, f"Feature {name} not found.")
    if name == METADATA_VERSION:
        _check_metadata_version(state, current, level, upgrade_type)
    _check_dependency(update, proposed)


def _check_metadata_version(state: MetadataState, current: int, level: int, upgrade_type: int) -> None:
    text = f"Invalid metadata.version {level}."
    if level < LOWEST_TO_SET:
        raise KafkaError(ErrorCode.INVALID_UPDATE_VERSION, f"{text} Unable to set a metadata.version less than 3.3-IV0")
    if level >= current or not any(level < breaking <= current for breaking in _METADATA_LEVELS_WITH_CHANGES):
        return
    if upgrade_type == _UNSAFE_DOWNGRADE:
        why = "Unsafe metadata downgrade is not supported in this version."
    else:
        why = state.release.text(
            "metadata downgrade",
            "Refusing to perform the requested downgrade because it might delete metadata information.",
        )
    if state.release.tells_both_metadata_versions:
        text = f"Unsupported metadata.version downgrade from {current} to {level}."
    raise KafkaError(ErrorCode.INVALID_UPDATE_VERSION, f"{text} {why}")


def _elr_configs(state: MetadataState) -> list[MetadataRecord]:
    """With ELR on, min.insync.replicas is set for the cluster and for no single broker (KIP-966)."""
    broker = ResourceType.BROKER
    records: list[MetadataRecord] = []
    if MIN_INSYNC_REPLICAS not in state.image.configs_of(broker, ""):
        records.append(ConfigRecord(broker, "", MIN_INSYNC_REPLICAS, state.default_min_isr()))
    records += (
        ConfigRecord(broker, name, MIN_INSYNC_REPLICAS, None)
        for name in state.image.names_with_configs(broker)
        if name and MIN_INSYNC_REPLICAS in state.image.configs_of(broker, name)
    )
    return records


_LACKS = "does not support this feature."


def _check_support(update: FeatureUpdate, who: str, supported: Mapping[str, tuple[int, int]]) -> None:
    low, high = supported.get(update.name, _NONE)
    if not low <= update.level <= high:
        what = f"only supports versions {low}-{high}" if high else _LACKS
        raise _refused(update, f"{who} {what}")


def _refused(update: FeatureUpdate, why: str) -> KafkaError:
    text = f"Invalid update version {update.level} for feature {update.name}. {why}"
    return KafkaError(ErrorCode.INVALID_UPDATE_VERSION, text)


def _check_dependency(update: FeatureUpdate, proposed: Mapping[str, int]) -> None:
    level, needed = NEEDED_METADATA_VERSION.get(update.name, (0, 0))
    if level and update.level >= level and proposed.get(METADATA_VERSION, 0) < needed:
        why = f"{update.name} could not be set to {update.level} because it depends on metadata.version level {needed}"
        raise _refused(update, why)
