"""Feature levels of the cluster (KIP-584): which updates each release of Kafka lets pass."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.controller.commands import FeatureUpdate, UpdateFeatures
from odradek.broker.controller.feature_levels import (
    KRAFT_VERSION,
    LOWEST_TO_SET,
    MIN_INSYNC_REPLICAS,
    NEEDED_METADATA_VERSION,
)
from odradek.broker.metadata.image import (
    ELR_VERSION,
    METADATA_VERSION,
    MetadataImage,
    ResourceType,
)
from odradek.broker.releases.release import Release
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.message import MetadataRecord

_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3
_NONE = (0, 0)
"""What is supported of an unknown feature."""
_METADATA_LEVELS_WITH_CHANGES = frozenset({3, 5, 6, 7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33})
"""Levels of `metadata.version` that brought new records or fields: a downgrade past one could lose metadata."""


class FeatureControl:
    """Decides about feature levels. Reads the image; changes nothing.

    `kraft_version` is no record of the metadata log but one of the quorum's own (KIP-853). `supported`: the lowest and
    highest level of each feature. `release`: by whose rules. `quorum_is_in_memory`: what the metadata log has of its
    voters may change.
    """

    def __init__(
        self,
        image: MetadataImage,
        controller_id: int,
        kraft_version: int,
        supported: Mapping[str, tuple[int, int]],
        release: Release,
        *,
        quorum_is_in_memory: bool = True,
    ) -> None:
        self._release = release
        self._quorum_is_in_memory = quorum_is_in_memory
        self._image = image
        self._controller_id = controller_id
        self._kraft_version = kraft_version
        self._supported = supported

    def update(
        self, command: UpdateFeatures, default_min_isr: int
    ) -> tuple[list[MetadataRecord], Mapping[str, KafkaError]]:
        """Records and reply of `UpdateFeatures`; INVALID_UPDATE_VERSION in Kafka's words."""
        proposed = {**self._image.features, **{update.name: update.level for update in command.updates}}
        records: list[MetadataRecord] = []
        refused: dict[str, KafkaError] = {}
        for update in command.updates:
            try:
                self._check(update, proposed)
            except KafkaError as error:
                if not self._release.updates_features_one_by_one:
                    raise
                refused[update.name] = as_value(error)
            else:
                records += self._records_of(update)
        if proposed.get(ELR_VERSION, 0) and not self._image.feature(ELR_VERSION) and ELR_VERSION not in refused:
            records[:0] = self._elr_configs(default_min_isr)
        return [] if command.validate_only else records, refused

    def _records_of(self, update: FeatureUpdate) -> list[MetadataRecord]:
        if update.name != KRAFT_VERSION or self._release.updates_features_one_by_one:
            return [FeatureLevelRecord(update.name, update.level)]
        # An upgrade is told by an offset to wait for even where nothing changes.
        return [NoOpRecord()] if update.upgrade_type == _UPGRADE else []

    def _check(self, update: FeatureUpdate, proposed: Mapping[str, int]) -> None:
        name, level, upgrade_type = update
        if upgrade_type not in (_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE):
            raise _refused(update, "The controller does not support the given upgrade type.")
        if level < 0:
            raise _refused(update, "A feature version cannot be less than 0.")
        _check_support(update, f"Local controller {self._controller_id}", self._supported)
        for number, broker in sorted(self._image.brokers.items()):
            _check_support(update, f"Broker {number}", broker.features)
            if name not in broker.features and self._release.refuses_unknown_level_0:
                raise _refused(update, f"Broker {number} {_LACKS}")
        for number, controller in sorted(self._image.controllers.items()):
            if number != self._controller_id:
                _check_support(update, f"Controller {number}", controller.features)
        of_quorum = name == KRAFT_VERSION and not self._release.updates_features_one_by_one
        current = self._kraft_version if of_quorum else self._image.feature(name)
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
        if of_quorum and level > current and self._release.upgrades_quorums and not self._quorum_is_in_memory:
            raise _refused(update, "odradek keeps the static quorum of several log directories at version 0.")
        if name not in self._supported and not self._release.updates_features_one_by_one:
            raise _refused(update, f"Feature {name} not found.")
        if name == METADATA_VERSION:
            self._check_metadata_version(current, level, upgrade_type)
        _check_dependency(update, proposed)

    def _check_metadata_version(self, current: int, level: int, upgrade_type: int) -> None:
        text = f"Invalid metadata.version {level}."
        if level < LOWEST_TO_SET:
            raise KafkaError(
                ErrorCode.INVALID_UPDATE_VERSION, f"{text} Unable to set a metadata.version less than 3.3-IV0"
            )
        if level >= current or not any(level < breaking <= current for breaking in _METADATA_LEVELS_WITH_CHANGES):
            return
        if upgrade_type == _UNSAFE_DOWNGRADE:
            why = "Unsafe metadata downgrade is not supported in this version."
        else:
            why = self._release.text(
                "metadata downgrade",
                "Refusing to perform the requested downgrade because it might delete metadata information.",
            )
        if self._release.tells_both_metadata_versions:
            text = f"Unsupported metadata.version downgrade from {current} to {level}."
        raise KafkaError(ErrorCode.INVALID_UPDATE_VERSION, f"{text} {why}")

    def _elr_configs(self, default_min_isr: int) -> list[MetadataRecord]:
        """With ELR on, min.insync.replicas is set for the cluster and for no single broker (KIP-966)."""
        broker = ResourceType.BROKER
        records: list[MetadataRecord] = []
        if MIN_INSYNC_REPLICAS not in self._image.configs_of(broker, ""):
            records.append(ConfigRecord(broker, "", MIN_INSYNC_REPLICAS, str(default_min_isr)))
        records += (
            ConfigRecord(broker, name, MIN_INSYNC_REPLICAS, None)
            for name in self._image.names_with_configs(broker)
            if name and MIN_INSYNC_REPLICAS in self._image.configs_of(broker, name)
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
