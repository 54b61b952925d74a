"""The controller of a cluster: who changes metadata asks it, who reads metadata has its image."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Concatenate, TypeAlias

from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.controller.feature_levels import KRAFT_VERSION, supported_features
from odradek.broker.controller.machine import (
    ControllerMachine,
    Decision,
    FollowRule,
    ImageChanged,
    MemoryMetadataLog,
    MetadataLog,
    MetadataState,
    P,
    ProducerIdBlocks,
    abandon_transaction,
    allocate_producer_ids,
    bootstrap,
)
from odradek.broker.controller.topic_control import (
    CreatedTopic,
    NewPartitions,
    NewTopic,
    Quota,
    create_partitions,
    create_topics,
    delete_topics,
    internal_topic,
    unlimited,
)
from odradek.broker.metadata.image import (
    METADATA_VERSION,
    NO_LEADER,
    MetadataDelta,
    MetadataImage,
    PartitionRegistration,
    ResourceType,
)
from odradek.broker.runtime.machine import Effect, R
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.backend import StorageError

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.controller.feature_control import FeatureUpdate
    from odradek.protocol.message import MetadataRecord


LOG_NAME = "__cluster_metadata-0"
_log = logging.getLogger("odradek.broker.controller")


class OtherReleaseError(StorageError):
    """The metadata log has a `metadata.version` that is not supported; nothing was written."""


Publisher: TypeAlias = "Callable[[MetadataDelta, MetadataImage], None]"
"""A follower of the image, called in the step of a change, before its reply."""


class Controller:
    """Carries out commands on the cluster's metadata, each in one sync step: decide, append, replay, publish, reply.

    Owner: the cluster. `image` is one object for the controller's whole life, empty until `open`. `publishers` are
    called in their order after each change that concerns them (`follow`); `open` publishes everything there is. They
    may read what they like, and ask for further changes only through `post`. `active_since_ms`: when `controller_id`
    became the controller.
    """

    def __init__(
        self,
        config: BrokerConfig,
        clock: BrokerClock,
        controller_id: int,
        report: Callable[[str, BaseException], None],
    ) -> None:
        self._config = config
        self._clock = clock
        self._report = report
        self._opening = False
        self._machine = ControllerMachine(config, controller_id)
        self.state = self._machine.state
        self.image: MetadataImage = self._machine.image
        self.publishers: list[tuple[Publisher, Sequence[str]]] = []
        self.active_since_ms = clock.now_ms()
        self.producer_ids = ProducerIdBlocks(self._producer_id_block)
        self._shard: Shard[ControllerMachine] | None = None
        self.log: MetadataLog | None = None

    # -- life

    def open(self, log: MetadataLog, adopted: Callable[[], Sequence[MetadataRecord]] = tuple) -> None:
        """Replay `log`, begin an epoch in it, and publish its content.

        A new log gets a cluster's first records, and with them what `adopted` returns: what is known of the cluster
        from elsewhere. Either all of it is in the log then, or the next start finds a new log again.
        """
        self.log = log
        self._shard = Shard(
            LOG_NAME,
            0,
            self._fresh_machine,
            log,
            self._clock,
            handle_effect=self._handle_effect,
            report=self._report_or_raise,
        )
        self._opening = True
        try:
            self._shard.start()
            self._shard.finish_loading()
        finally:
            self._check_levels()  # first: of another release nothing else can be said
        self._opening = False
        log.take_snapshot_if_due(self.image, self.image_copied, self._clock.now_ms())
        self.active_since_ms = self._clock.now_ms()
        log.begin_epoch(self.controller_id, self.active_since_ms)
        self.state.kraft_version = log.kraft_version
        self.state.quorum_is_in_memory = isinstance(log, MemoryMetadataLog)
        if self._machine.in_transaction:
            self.ask(abandon_transaction)
        if self._machine.is_new:
            self.ask(bootstrap, adopted())

    def _check_levels(self) -> None:
        """OtherReleaseError before anything is written behind what another release wrote."""
        supported = supported_features(self._config, node_id=self.controller_id)
        if METADATA_VERSION not in supported:
            return
        for name, level in self.image.features.items():
            low, high = supported.get(name, (0, 0))
            if not low <= level <= high:
                raise OtherReleaseError(
                    f"{LOG_NAME}: the metadata has {name} {level}, and this release supports {low} to {high}; nothing "
                    "was changed"
                )

    @property
    def controller_id(self) -> int:
        """The node that is the controller."""
        return self.state.controller_id

    @property
    def kraft_version(self) -> int:
        """The level of the feature `kraft.version`, which the metadata log itself has."""
        return self.state.kraft_version

    def set_kraft_version(self, level: int) -> None:
        """The metadata log has this `kraft.version` from now on. One on disk keeps what it has."""
        if isinstance(self.log, MemoryMetadataLog):
            self.log.kraft_version = self.state.kraft_version = level

    def name_voters(self) -> None:
        """The log names the voters anew, in a record of the quorum's own. One on disk has one voter."""
        if isinstance(self.log, MemoryMetadataLog):
            self.log.end_offset += 1

    def update_features(
        self, updates: Sequence[FeatureUpdate], *, validate_only: bool = False
    ) -> Mapping[str, KafkaError]:
        """Follow the rule of that name, and do what it asks of the quorum."""
        from odradek.broker.controller.feature_control import update_features

        refused = self.ask(update_features, updates, validate_only=validate_only)
        level = next((update.level for update in updates if update.name == KRAFT_VERSION), 0)
        if level and not validate_only and self.state.release.upgrades_quorums:
            self.set_kraft_version(level)
        return refused

    @property
    def next_offset(self) -> int:
        """The offset that the next record of the metadata log will get."""
        return 0 if self.log is None else self.log.end_offset

    def take_over(self, node_id: int) -> None:
        """Another node is the controller from now on."""
        if node_id != self.controller_id and self.log is not None:
            self.state.controller_id = node_id
            self.active_since_ms = self._clock.now_ms()
            self.log.begin_epoch(node_id, self._clock.now_ms())
            _log.info("node %d is the controller, epoch %d", node_id, self.log.leader_epoch)

    def _report_or_raise(self, where: str, error: BaseException) -> None:
        """A log that cannot be read at the start is for who starts, not a bug."""
        if self._opening:
            raise error
        self._report(where, error)

    def _fresh_machine(self) -> ControllerMachine:
        """The machine that the log is replayed into: emptied when it was used before, so that all keep their image."""
        self._machine.reset()
        return self._machine

    def image_copied(self) -> MetadataImage:
        """A copy of the present image, which does not change."""
        return self._machine.image_copied()

    # -- asking

    def ask(
        self, rule: Callable[Concatenate[MetadataState, P], Decision[R]], *arguments: P.args, **named: P.kwargs
    ) -> R:
        """Follow a rule and return its reply; KafkaError where it refuses as a whole."""
        if self._shard is None:
            raise RuntimeError("the controller is not open")
        if not self._shard.is_active:
            raise KafkaError(ErrorCode.NOT_CONTROLLER, "The metadata log cannot be replayed.")
        reply: R = self._shard.ask_now(FollowRule(rule, arguments, named))
        assert self.log is not None
        self.log.take_snapshot_if_due(self.image, self.image_copied, self._clock.now_ms())
        return reply

    def post(
        self, rule: Callable[Concatenate[MetadataState, P], Decision[R]], *arguments: P.args, **named: P.kwargs
    ) -> None:
        """Follow a rule whose outcome nobody waits for, after the present one."""
        if self._shard is not None and self._shard.is_active:
            self._shard.post(FollowRule(rule, arguments, named))

    def create_topic(self, topic: NewTopic, quota: Quota = unlimited) -> CreatedTopic:
        """Create one topic; KafkaError if Kafka would refuse it. `quota`: of the client that wants it."""
        (result,) = self.ask(create_topics, [topic], quota=quota)
        return _single(result)

    def create_partitions(self, name: str, total: int, assignments: Sequence[Sequence[int]] | None = None) -> None:
        """Let one topic grow to `total` partitions; KafkaError if Kafka would refuse it."""
        (result,) = self.ask(create_partitions, [NewPartitions(name, total, assignments)])
        _single(result)

    def delete_topic(self, topic_id: bytes) -> None:
        """Delete one topic; UNKNOWN_TOPIC_ID if there is none."""
        (result,) = self.ask(delete_topics, [topic_id])
        _single(result)

    def ensure_topic(self, name: str) -> None:
        """Create one of Kafka's own topics, with its settings for it, unless it is there."""
        if name not in self.image.topics:
            self.create_topic(internal_topic(name, self._config, len(self.image.brokers)))

    def _producer_id_block(self, node_id: int) -> int:
        """The first id of a new block; COORDINATOR_LOAD_IN_PROGRESS, as on Kafka, where it has to be waited for."""
        if self._shard is not None and self._shard.is_busy:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return self.ask(allocate_producer_ids, node_id)

    # -- publishing

    def follow(self, publish: Publisher, *concerns: str) -> None:
        """Tell a publisher of changes from now on, after those that follow the image already.

        `concerns`: the fields of a delta that it looks at. With none it is told of every change.
        """
        self.publishers.append((publish, concerns))

    def _handle_effect(self, shard: Shard[ControllerMachine], effect: Effect) -> None:
        if not isinstance(effect, ImageChanged):
            raise TypeError(f"{effect!r} is not an effect of the controller")
        for publish, concerns in self.publishers:
            if concerns and not any(getattr(effect.delta, field) for field in concerns):
                continue
            try:
                publish(effect.delta, self.image)
            except Exception as error:
                # The change is in the log, so all others have to follow it, and whoever asked gets the answer.
                self._report(f"{LOG_NAME}: publishing to {publish!r}", error)


def _single(result: R | KafkaError) -> R:
    if isinstance(result, KafkaError):
        raise result.again()
    return result


# -- followers of the image: the log of changes, and the configuration in force


_AT_ONCE = 20
"""Lines about one change. A change of more (a start with many topics) is summed up."""


def announce(delta: MetadataDelta, image: MetadataImage) -> None:
    """Log a change at INFO; see `Publisher`."""
    if not _log.isEnabledFor(logging.INFO):
        return
    lines = list(_lines(delta, image))
    for line in lines[:_AT_ONCE]:
        _log.info("%s", line)
    if len(lines) > _AT_ONCE:
        _log.info("and %d more changes; the cluster has %d topics", len(lines) - _AT_ONCE, len(image.topics))


def _lines(delta: MetadataDelta, image: MetadataImage) -> Iterator[str]:
    for topic in delta.created.values():
        count = len(topic.partitions)
        yield f"topic {topic.name} is created: {count} partition{'s' if count > 1 else ''}"
    for topic in delta.deleted.values():
        yield f"topic {topic.name} is deleted"
    for topic_id in delta.grown:
        grown = image.topics_by_id[topic_id]
        yield f"topic {grown.name} has {len(grown.partitions)} partitions now"
    for (topic_id, index), before in delta.moved.items():
        moved = image.topics_by_id.get(topic_id)
        if moved is not None:
            yield from _moved(f"{moved.name}-{index}", before, moved.partitions[index])
    yield from _configs(delta, image)
    for number, registered in delta.brokers.items():
        broker = image.brokers.get(number)
        if broker is not None and broker.fenced != (registered is None or registered.fenced):
            yield f"broker {number} is {'fenced' if broker.fenced else 'up'}"


def _moved(name: str, before: PartitionRegistration, now: PartitionRegistration) -> Iterator[str]:
    if before.leader != now.leader:
        led = "has no leader" if now.leader == NO_LEADER else f"is led by broker {now.leader}"
        yield f"{name} {led}, epoch {now.leader_epoch}, in sync {list(now.isr)}"
    elif before.replicas != now.replicas:
        yield f"{name} has the replicas {list(now.replicas)}"


def _configs(delta: MetadataDelta, image: MetadataImage) -> Iterator[str]:
    created = {topic.name for topic in delta.created.values()}
    for (kind, name), before in delta.configs.items():
        now = image.configs_of(kind, name)
        changed = {key: now.get(key) for key in {*before, *now} if before.get(key) != now.get(key)}
        if changed:
            whose = f"{ResourceType(kind).name.lower()} {name or 'default'}{' at first' if name in created else ''}"
            yield f"configs of {whose}: {', '.join(_config(kind, *pair) for pair in sorted(changed.items()))}"


def _config(kind: int, name: str, value: str | None) -> str:
    """A config and its value; the value of a broker's config may be a secret."""
    if value is None:
        return f"{name} back to its default"
    return f"{name} changed" if kind == ResourceType.BROKER else f"{name}={value}"


class BrokerConfigPublisher:
    """Keeps the dynamic layers of a `BrokerConfig` as the image has them. Owner: the cluster.

    It may have unknown names, for example of plugins: they are kept as they are.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        for kind, name in delta.configs:
            if kind == ResourceType.BROKER:
                values = self._known(image, name)
                self._config.set_dynamic(int(name) if name else None, values)
                if name:
                    for each in self._config.reconfigurables:
                        each.apply(int(name))

    def _known(self, image: MetadataImage, resource: str) -> dict[str, str]:
        known: dict[str, str] = {}
        for name, text in image.configs_of(ResourceType.BROKER, resource).items():
            key = self._config.keys.find(name)
            try:
                known[name] = text if key is None else key.normal(text)
            except ConfigError as error:
                _log.warning("broker config %s in the metadata log is passed over: %s", name, error)
        return known
