"""The group coordinator of a cluster: the shards of `__consumer_offsets`, and who is told of changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from odradek.broker.controller.topics import CONSUMER_OFFSETS
from odradek.broker.coordinator.group.commands import ForgetPartitions, MetadataChanged
from odradek.broker.coordinator.group.kinds import GroupChanged
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.settings import GroupSettings, LiveConfigs
from odradek.broker.coordinator.group.topic_source import RegistryTopics
from odradek.broker.coordinator.service import CoordinatorService
from odradek.broker.runtime.machine import Effect
from odradek.broker.runtime.shard import Shard

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.topics import Topic

_MINUTE_MS = 60_000


class GroupService(CoordinatorService[GroupMachine]):
    """All consumer groups of a cluster. Owner: the cluster.

    ``watchers`` are called when any group has entered another state (by whatever key they were put there), so that
    nobody who waits for a group has to look again and again. ``performers`` carry out the effects of the kinds of
    groups (see `kinds`) that reach beyond the coordinator, by the class of the effect.
    """

    def __init__(self, cluster: Cluster) -> None:
        settings = read_settings(cluster.config)
        configs = LiveConfigs(cluster.config, lambda group_id: cluster.dynamic_configs.groups.get(group_id, {}))
        topics = RegistryTopics(cluster.topics, cluster.nodes)
        super().__init__(
            cluster,
            CONSUMER_OFFSETS,
            lambda partition: GroupMachine(settings, configs=configs, topics=topics),
            perform=self._perform_effect,
            base_sequence=0,
        )
        self.watchers: dict[object, Callable[[], None]] = {}
        self.performers: dict[type[Effect], Callable[[Shard, Any], None]] = {GroupChanged: self._group_changed}
        cluster.topics.on_created(lambda topic: self._topics_changed(topic.name))
        cluster.topics.on_partitions_added(lambda topic, first: self._topics_changed(topic.name))
        cluster.topics.on_deleted(self._topic_deleted)

    def _perform_effect(self, shard: Shard, effect: Effect) -> None:
        self.performers[effect.__class__](shard, effect)

    def _group_changed(self, shard: Shard, effect: GroupChanged) -> None:
        for watcher in list(self.watchers.values()):
            watcher()

    def _topics_changed(self, name: str) -> None:
        """Groups that are assigned their partitions by the coordinator have to know."""
        for shard in self.running():
            if shard.is_active and shard.machine.follows_topics:
                shard.submit(MetadataChanged([name]))

    def _topic_deleted(self, topic: Topic) -> None:
        """Offsets of partitions that exist no more are dropped, in every group."""
        if topic.name == CONSUMER_OFFSETS:
            self.close()
            return
        places = [(topic.name, partition.index) for partition in topic.partitions]
        for shard in list(self.shards()):
            shard.submit(ForgetPartitions(places))
        self._topics_changed(topic.name)


def read_settings(config: BrokerConfig) -> GroupSettings:
    """What the broker's configuration says of groups."""
    return GroupSettings(
        min_session_timeout_ms=config.get_int("group.min.session.timeout.ms"),
        max_session_timeout_ms=config.get_int("group.max.session.timeout.ms"),
        initial_rebalance_delay_ms=config.get_int("group.initial.rebalance.delay.ms"),
        max_size=config.get_int("group.max.size"),
        offset_metadata_max_bytes=config.get_int("offset.metadata.max.bytes"),
        offsets_retention_ms=config.get_int("offsets.retention.minutes") * _MINUTE_MS,
        offsets_check_interval_ms=config.get_int("offsets.retention.check.interval.ms"),
    )
