"""Matching a group's patterns against the topics that there are."""

from __future__ import annotations

import logging

from odradek.broker.coordinator.group.consumer.commands import ResolveRegexes
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.progress import Progress
from odradek.broker.coordinator.group.consumer.records import epoch_record, regex_record
from odradek.broker.coordinator.group.consumer.regexes import NO_TOPICS, ResolvedRegex, matching
from odradek.broker.coordinator.group.consumer.step import Step
from odradek.broker.coordinator.group.registry import Groups
from odradek.broker.coordinator.group.subscriptions import count_down, count_up
from odradek.broker.runtime.machine import Outcome, make_outcome
from odradek.protocol.errors import KafkaError

logger = logging.getLogger(__name__)

_LOOK_AGAIN_MS = (1 << 31) - 1


class Resolution:
    """Decides on `ResolveRegexes`, which the coordinator gives itself behind a heartbeat. Owner: the consumer kind."""

    def __init__(self, groups: Groups, progress: Progress) -> None:
        self._groups = groups
        self._progress = progress

    def resolve(self, command: ResolveRegexes, now_ms: int) -> Outcome[None]:
        """Store what each pattern matches now; the group rebalances if that, or a topic, has changed."""
        group = self._groups.find(command.group_id, ConsumerGroup)
        if group is None:
            return make_outcome()
        group.resolving = False
        group.checked_topics_version = self._progress.topics_version
        step = Step(group, now_ms)
        subscriptions = group.subscriptions.copy()
        bump = False
        for regex in command.regexes:
            if regex not in group.members_by_regex:
                continue
            before = group.regexes.get(regex, NO_TOPICS)
            topics = self._matching(regex)
            if command.visible is not None:
                topics &= command.visible(topics)
            resolved = ResolvedRegex(topics, self._progress.topics_version, now_ms)
            if resolved.topics != before.topics:
                bump = True
                count_down(subscriptions.by_regex, before.topics)
                count_up(subscriptions.by_regex, resolved.topics)
            step.records.append(regex_record(group.group_id, regex, resolved))
        metadata_hash = self._progress.topics.hash_of(subscriptions)
        if bump or metadata_hash != group.metadata_hash:
            epoch = group.epoch + 1
            step.records.append(epoch_record(group.group_id, epoch, metadata_hash))
            step.later.append(lambda live: live.topics_checked(now_ms + _LOOK_AGAIN_MS, epoch))
        return step.outcome(None, lambda: group)

    def _matching(self, regex: str) -> frozenset[str]:
        try:
            return matching(regex, self._progress.topics.names())
        except KafkaError as error:  # it was stored by a broker that could read it
            logger.warning("%s", error)
            return frozenset()
