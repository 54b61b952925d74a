"""The group coordinator of a cluster: the shards of `__consumer_offsets`, and watchers of state changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.broker.coordinator.group.groups import FollowUp, ForgetPartitions, GroupChanged, MetadataChanged
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.settings import GroupConfigs, GroupSettings
from odradek.broker.coordinator.group.topics import TopicSource
from odradek.broker.coordinator.service import CoordinatorService, InternalTopic, Surroundings
from odradek.broker.runtime.machine import Effect
from odradek.broker.runtime.shard import Shard

EffectHandlers = dict[type[Effect], Callable[[Shard[GroupMachine], Any], None]]
"""The functions that execute the effects of group kinds, by class."""


class GroupService(CoordinatorService[GroupMachine]):
    """All groups of a cluster. Owner: the cluster.

    `watchers` (under keys of the caller's choice) are called when a group has entered another state, so that nobody
    polls. `effect_handlers` execute the effects of group kinds (see `groups`) that reach beyond the coordinator.
    `more_effect_handlers` makes the rarely needed ones.
    """

    def __init__(
        self,
        topic: InternalTopic,
        surroundings: Surroundings,
        settings: GroupSettings,
        configs: GroupConfigs,
        topics: TopicSource,
        more_effect_handlers: Callable[[], EffectHandlers] = dict,
    ) -> None:
        self.configs = configs
        self._more_effect_handlers = more_effect_handlers
        super().__init__(
            topic,
            surroundings,
            lambda partition: GroupMachine(settings, configs=configs, topics=topics),
            handle_effect=self._execute_effect,
            base_sequence=0,
        )
        self.watchers: dict[object, Callable[[], None]] = {}
        self.effect_handlers: EffectHandlers = {GroupChanged: self._group_changed, FollowUp: _follow_up}

    def _execute_effect(self, shard: Shard[GroupMachine], effect: Effect) -> None:
        if effect.__class__ not in self.effect_handlers:
            self.effect_handlers |= self._more_effect_handlers()
        self.effect_handlers[effect.__class__](shard, effect)

    def _group_changed(self, shard: Shard[GroupMachine], effect: GroupChanged) -> None:
        for watcher in list(self.watchers.values()):
            watcher()

    def topic_changed(self, name: str) -> None:
        """A topic was created, grown or deleted: notify the groups whose partitions the coordinator assigns."""
        for shard in self.running():
            if shard.is_active and shard.machine.follows_topics:
                shard.post(MetadataChanged([name]))

    def topic_deleted(self, name: str, partitions: int) -> None:
        """Drop the offsets of the deleted partitions in every group."""
        super().topic_deleted(name, partitions)
        places = [(name, index) for index in range(partitions)]
        for shard in list(self.shards()):
            shard.post(ForgetPartitions(places))
        self.topic_changed(name)


def _follow_up(shard: Shard[GroupMachine], effect: FollowUp) -> None:
    shard.post(effect.command)
