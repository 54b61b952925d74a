"""The configuration of a share group as far as the leaders of its share partitions are concerned."""

from __future__ import annotations

from odradek.broker.coordinator.group.settings import GroupConfigs
from odradek.broker.partitions.share.states import ShareSettings


def share_settings(configs: GroupConfigs, group_id: str) -> ShareSettings:
    """What is in force for the group now: its own configs, else the broker's."""
    return ShareSettings(
        lock_duration_ms=configs.group(group_id, "share.record.lock.duration.ms"),
        delivery_limit=configs.group(group_id, "share.delivery.count.limit"),
        max_locks=configs.group(group_id, "share.partition.max.record.locks"),
        renew_enabled=configs.group(group_id, "share.renew.acknowledge.enable"),
        isolation_level=configs.group(group_id, "share.isolation.level"),
        auto_offset_reset=configs.group(group_id, "share.auto.offset.reset"),
    )
