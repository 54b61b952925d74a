"""The coordinators of a cluster: made with their first use, and told of changes of the metadata."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from odradek.broker.config.broker_config import DEFAULT_PERSISTER, BrokerConfig
from odradek.broker.controller.controller import Controller
from odradek.broker.controller.feature_levels import SHARE_VERSION
from odradek.broker.controller.topic_control import NewTopic, create_topics
from odradek.broker.coordinator.service import InternalTopic, Surroundings
from odradek.broker.metadata.image import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE, TRANSACTION_VERSION
from odradek.broker.partitions.partition_registry import PartitionRegistry
from odradek.broker.requests.services import Deferred
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.broker.coordinator.group.service import EffectHandlers, GroupService
    from odradek.broker.coordinator.share_state.service import Persister, ShareStateService
    from odradek.broker.coordinator.transaction.service import TransactionService
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage
    from odradek.broker.metadata.node import Node
    from odradek.broker.partitions.share.manager import SharePartitions
    from odradek.broker.partitions.share.states import ShareSettings
    from odradek.protocol.generated.stored.streams_group_topology import TopicInfo


class CoordinatorSet:
    """Makes the services of groups, transactions and share groups. Owner: the cluster.

    A start makes none of them and imports none of their modules. `resting`: whether the coordinators ignore changes of
    the metadata, because they are about to get another state. `surroundings`: each coordinator gets them when it is
    made.
    """

    def __init__(
        self,
        config: BrokerConfig,
        controller: Controller,
        topics: PartitionRegistry,
        nodes: Mapping[int, Node],
        cuts: Collection[frozenset[int]],
        frozen: Container[int],
        surroundings: Surroundings,
    ) -> None:
        """`cuts`: pairs of nodes whose link a test has cut; `frozen`: nodes that a test has frozen."""
        self._config = config
        self._controller = controller
        self._topics = topics
        self._nodes = nodes
        self._cuts = cuts
        self._frozen = frozen
        self.surroundings = surroundings
        self.resting = False
        self.groups = Deferred(self._make_groups)
        self.transactions = Deferred(self._make_transactions)
        self.share_partitions = Deferred(self._make_share_partitions)
        self.share_persister = Deferred(self._make_share_persister)
        self.share_states = Deferred(self._make_share_states)

    def _internal_topic(self, name: str, codec: str) -> InternalTopic:
        return InternalTopic(self._topics, name, self._controller.ensure_topic, self._config.get_int(codec))

    def _make_groups(self) -> GroupService:
        from odradek.broker.coordinator.group.service import GroupService
        from odradek.broker.coordinator.group.settings import GroupConfigs, read_settings
        from odradek.broker.coordinator.group.topics import ImageTopics

        return GroupService(
            self._internal_topic(CONSUMER_OFFSETS, "offsets.topic.compression.codec"),
            self.surroundings,
            read_settings(self._config),
            GroupConfigs(self._config, self._controller.image.configs),
            ImageTopics(self._controller.image),
            self._effect_handlers_of_groups,
        )

    def _effect_handlers_of_groups(self) -> EffectHandlers:
        from odradek.broker.coordinator.group.share.kind import effect_handlers
        from odradek.broker.coordinator.group.streams.progress import effect_handlers as streams_effect_handlers

        states = effect_handlers(self.share_persister, lambda: self._config.release.share_start_of_added_partitions)
        return {**states, **streams_effect_handlers(self._create_internal_topics)}

    def _create_internal_topics(self, topics: Sequence[TopicInfo]) -> list[KafkaError | None]:
        """Create internal topics of Streams applications; 0 stands for the broker's own replication factor."""
        new = [
            NewTopic(
                topic.name,
                topic.partitions,
                topic.replication_factor or -1,
                configs={row.key: row.value for row in topic.topic_configs},
            )
            for topic in topics
        ]
        outcomes = self._controller.ask(create_topics, new)
        return [outcome if isinstance(outcome, KafkaError) else None for outcome in outcomes]

    def _make_share_partitions(self) -> SharePartitions:
        from odradek.broker.coordinator.group.settings import share_settings
        from odradek.broker.coordinator.share_state.service import ShareStateClient
        from odradek.broker.partitions.share.dead_letters import SHARE_VERSION_WITH_QUEUES, DeadLetterQueues
        from odradek.broker.partitions.share.manager import SharePartitions

        configs = self.groups().configs

        def settings_of(group_id: str) -> ShareSettings:
            level = self._controller.image.feature(SHARE_VERSION)
            return share_settings(configs, group_id, queues=level >= SHARE_VERSION_WITH_QUEUES)

        shares = SharePartitions(
            self.surroundings.clock,
            ShareStateClient(self.share_persister),
            settings_of,
            self.surroundings.start,
            self.surroundings.report,
            DeadLetterQueues(
                self.surroundings.clock, self._config, self._topics, self._create_topic, self.surroundings.start
            ),
        )
        self._config.watchers.append(shares.settings_changed)
        return shares

    def _create_topic(self, name: str, configs: Mapping[str, str]) -> None:
        self._controller.create_topic(NewTopic(name, configs=dict(configs)))

    def _make_share_persister(self) -> Persister:
        from odradek.broker.coordinator.share_state.service import NoOpPersister

        stored = self._config.get_str("group.share.persister.class.name") == DEFAULT_PERSISTER
        return self.share_states() if stored else NoOpPersister()

    def _make_share_states(self) -> ShareStateService:
        from odradek.broker.coordinator.share_state.service import ShareStateService

        return ShareStateService(
            self._internal_topic(SHARE_GROUP_STATE, "share.coordinator.state.topic.compression.codec"),
            self.surroundings,
            self._config,
            self._partition_count,
        )

    def _partition_count(self, topic_id: bytes) -> int:
        topic = self._controller.image.topics_by_id.get(topic_id)
        return 0 if topic is None else len(topic.partitions)

    def _make_transactions(self) -> TransactionService:
        from odradek.broker.coordinator.transaction.service import MarkerWriter, TransactionService

        return TransactionService(
            InternalTopic(self._topics, TRANSACTION_STATE, self._controller.ensure_topic),
            self.surroundings,
            topics=self._topics,
            config=self._config,
            markers=MarkerWriter(
                self._topics, self._nodes, self.groups, self.surroundings.clock, self._cuts, self._frozen
            ),
            transaction_version=partial(self._controller.image.feature, TRANSACTION_VERSION),
            allocate=self._controller.producer_ids.allocate,
            cuts=self._cuts,
        )

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Follow a change of the image."""
        if self.resting:
            return
        shared = self.share_partitions.made
        if shared is not None and (delta.features or delta.configs):
            shared.settings_changed()
            if not image.feature(SHARE_VERSION):
                shared.forget_all()
        made = (self.groups.made, self.transactions.made, self.share_states.made)
        for service in [service for service in made if service is not None]:
            for gone in delta.deleted.values():
                service.topic_deleted(gone.name, len(gone.partitions))
            own = image.topics.get(service.topic.name)
            if own is None:
                continue
            for (topic_id, index), before in delta.moved.items():
                if topic_id == own.topic_id and before.leader_epoch != own.partitions[index].leader_epoch:
                    service.leader_changed(index)
        groups = self.groups.made
        if groups is not None:
            changed = {*delta.created, *delta.grown, *_moved_elsewhere(delta, image)}
            for topic_id in changed:
                topic = image.topics_by_id.get(topic_id)
                if topic is not None:
                    groups.topic_changed(topic.name)


def _moved_elsewhere(delta: MetadataDelta, image: MetadataImage) -> Iterator[bytes]:
    """The ids of topics that have partitions on other nodes than before, and so maybe in other racks."""
    for (topic_id, index), before in delta.moved.items():
        topic = image.topics_by_id.get(topic_id)
        if topic is not None and topic.partitions[index].replicas != before.replicas:
            yield topic_id
