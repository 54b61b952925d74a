"""The controller's machine: decides on commands, and builds the image from the metadata log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller import commands
from odradek.broker.controller.feature_levels import (
    MIN_INSYNC_REPLICAS,
    TRANSACTIONS_SINCE,
    features_at_start,
    supported_features,
)
from odradek.broker.metadata.delta import MetadataDelta
from odradek.broker.metadata.image import ELR_VERSION, METADATA_VERSION, MetadataImage, ResourceType
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.runtime.machine import Command, Effect, Outcome, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.message import MetadataRecord

if TYPE_CHECKING:
    from odradek.broker.controller.acl_control import AclControl
    from odradek.broker.controller.broker_control import BrokerControl
    from odradek.broker.controller.config_control import ConfigControl
    from odradek.broker.controller.feature_control import FeatureControl
    from odradek.broker.controller.partition_control import PartitionControl
    from odradek.broker.controller.quota_control import QuotaControl
    from odradek.broker.controller.scram_control import ScramControl
    from odradek.broker.controller.token_control import TokenControl
    from odradek.broker.controller.topic_control import TopicControl


# -- Producer ids: unique in the cluster, never given twice (KIP-98, blocks per broker as in KIP-730).

BLOCK_SIZE = 1000
MAX_PRODUCER_ID = (1 << 63) - 1


def next_block(image: MetadataImage, node_id: int) -> tuple[list[MetadataRecord], int]:
    """The record that gives a block to a broker, and the first id of the block."""
    first = image.next_producer_id
    if first > MAX_PRODUCER_ID - BLOCK_SIZE:
        text = f"Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit {first}"
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    broker = image.brokers.get(node_id)
    epoch = -1 if broker is None else broker.epoch
    return [ProducerIdsRecord(node_id, epoch, first + BLOCK_SIZE)], first


class ProducerIdBlocks:
    """The blocks that the brokers of this process hand out from, one for each. The rest of the block ends with it.

    `allocate_block(node_id)` asks the controller for the first id of a new block.
    """

    __slots__ = ("_allocate_block", "_blocks")

    def __init__(self, allocate_block: Callable[[int], int]) -> None:
        self._allocate_block = allocate_block
        self._blocks: dict[int, tuple[int, int]] = {}

    def allocate(self, node_id: int) -> int:
        """A new producer id for a client of this node. Ids of one node grow; raises when all 2^63 are used up."""
        following, end = self._blocks.get(node_id, (0, 0))
        if following >= end:
            following = self._allocate_block(node_id)
            end = following + BLOCK_SIZE
        self._blocks[node_id] = (following + 1, end)
        return following


# -- The machine.


MAX_BATCH_RECORDS = 10_000
"""Records of one operation that go into one batch at most."""
_PARTITION = 3
_Decision = tuple[Sequence[MetadataRecord], Any]


def _never(topic_id: bytes, index: int) -> bool:
    """All replicas have the same log."""
    return False


class StoredRecord(NamedTuple):
    """A record of the metadata log with its place and the epoch of the controller that wrote it."""

    record: MetadataRecord
    offset: int
    epoch: int


class ImageChanged(Effect):
    """The image is another now: `delta` is for who must know."""

    __slots__ = ("delta",)

    def __init__(self, delta: MetadataDelta) -> None:
        self.delta = delta


class ControllerMachine:
    """The rules of the cluster's metadata; see `odradek.broker.runtime.machine.Machine`.

    Each kind of command belongs to one control, which reads the image and returns records and reply. All records of a
    decision are one batch, so that a log holds an operation wholly or not at all; only what many partitions have to
    follow (brokers that come or go, what is taken over) may be split, with what completes it last.
    """

    def __init__(self, config: BrokerConfig, controller_id: int) -> None:
        self._config = config
        self._writer = ImageWriter()
        self.image: MetadataImage = self._writer.image
        self.controller_id = controller_id
        self.kraft_version = 1
        self.quorum_is_in_memory = True
        self.replicas_differ: Callable[[bytes, int], bool] = _never
        self.placed = 0
        """Partitions that were placed so far: leaders of new ones go round the brokers."""
        self._rules: Mapping[type[Command[Any]], Callable[[Any], _Decision]] = {
            commands.CreateTopics: lambda command: self._topics().create(command, self.placed),
            commands.CreatePartitions: lambda command: self._topics().grow(command, self.placed),
            commands.DeleteTopics: lambda command: self._topics().delete(command),
            commands.AlterConfigs: lambda command: self._configs().alter(command),
            commands.AlterQuotas: lambda command: self._quotas().alter(command),
            commands.CreateAcls: lambda command: self._acls().create(command),
            commands.DeleteAcls: lambda command: self._acls().delete(command),
            commands.UpdateFeatures: lambda command: self._features().update(command, self._default_min_isr()),
            commands.AlterScramUsers: lambda command: self._scram().alter(command),
            commands.AllocateProducerIds: lambda command: next_block(self.image, command.node_id),
            commands.ElectLeaders: lambda command: self._partitions().elect(command),
            commands.MoveLeader: lambda command: self._partitions().move_leader(command),
            commands.BalanceLeaders: lambda _: self._partitions().balance(),
            commands.ElectUncleanly: lambda _: self._partitions().elect_uncleanly(),
            commands.ChangeIsr: lambda command: self._partitions().change_isr(command),
            commands.AssignReplicas: lambda command: self._partitions().assign(command),
            commands.ReassignPartitions: lambda command: self._partitions().reassign(command),
            commands.RegisterBroker: lambda command: self._brokers().register(command),
            commands.RegisterController: lambda command: self._brokers().register_controller(command),
            commands.UnfenceBrokers: lambda command: self._brokers().unfence(command),
            commands.FenceBroker: lambda command: self._brokers().fence(command),
            commands.UnregisterBroker: lambda command: self._brokers().unregister(command),
            commands.UnregisterController: lambda command: self._brokers().unregister_controller(
                command, self.controller_id
            ),
            commands.ShutDownBrokers: lambda command: self._brokers().shut_down(command),
            commands.Adopt: lambda command: (command.records, None),
            commands.AbandonTransaction: self._abandon_transaction,
            commands.Bootstrap: self._bootstrap,
        }
        self._timed_rules: Mapping[type[Command[Any]], Callable[[Any, int], _Decision]] = {
            commands.CreateToken: lambda command, now_ms: self._tokens(now_ms).create(command),
            commands.RenewToken: lambda command, now_ms: self._tokens(now_ms).renew(command),
            commands.ExpireToken: lambda command, now_ms: self._tokens(now_ms).expire(command),
            commands.SweepTokens: lambda _, now_ms: self._tokens(now_ms).sweep(),
        }

    # -- the controls, each imported with the first command that needs it: a start would pay for all of them

    def _topics(self) -> TopicControl:
        from odradek.broker.controller.topic_control import TopicControl

        return TopicControl(self.image, self._config, self.controller_id)

    def _partitions(self) -> PartitionControl:
        from odradek.broker.controller.partition_control import PartitionControl

        return PartitionControl(self.image, self._config, self.replicas_differ)

    def _brokers(self) -> BrokerControl:
        from odradek.broker.controller.broker_control import BrokerControl

        return BrokerControl(self.image, self._partitions, self._supported)

    def _configs(self) -> ConfigControl:
        from odradek.broker.controller.config_control import ConfigControl

        return ConfigControl(self.image, self._config)

    def _acls(self) -> AclControl:
        from odradek.broker.controller.acl_control import AclControl

        return AclControl(self.image, knows_networks=self._config.release.knows_networks)

    def _quotas(self) -> QuotaControl:
        from odradek.broker.controller.quota_control import QuotaControl

        return QuotaControl(self.image, self._config.release)

    def _features(self) -> FeatureControl:
        from odradek.broker.controller.feature_control import FeatureControl

        release = self._config.release_of(self.controller_id)
        return FeatureControl(
            self.image,
            self.controller_id,
            self.kraft_version,
            self._supported(self.controller_id),
            release,
            quorum_is_in_memory=self.quorum_is_in_memory,
        )

    def _supported(self, node_id: int) -> Mapping[str, tuple[int, int]]:
        """Lowest and highest level of each feature that a node supports."""
        return supported_features(self._config, self._config.release_of(node_id), node_id)

    def _scram(self) -> ScramControl:
        from odradek.broker.controller.scram_control import ScramControl

        return ScramControl(self.image)

    def _tokens(self, now_ms: int) -> TokenControl:
        from odradek.broker.controller.token_control import TokenControl

        return TokenControl(self.image, self._config, now_ms)

    # -- the contract of a machine

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        timed = self._timed_rules.get(command.__class__)
        records, reply = self._rules[command.__class__](command) if timed is None else timed(command, now_ms)
        return make_outcome(records, reply=reply, then=self._changed, atomic=len(records) <= MAX_BATCH_RECORDS)

    def replay(self, stored: StoredRecord) -> None:
        self._writer.replay(*stored)
        if stored.record.RECORD_TYPE == _PARTITION:
            self.placed += 1

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        """Never called: no producer writes to the metadata log."""
        raise RuntimeError("a transaction marker in the metadata log")

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """See `Machine`: the asker gets the error."""
        return None

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `Machine`: everybody gets to know everything."""
        self._writer.take_delta()
        return (ImageChanged(MetadataDelta.of_everything(self.image)),)

    def image_copied(self) -> MetadataImage:
        """A copy of the present image, which does not change."""
        return self._writer.fork().image

    # -- the life of the log

    def reset(self) -> None:
        """Forget everything, in place: the image that others hold is empty then."""
        self._writer.clear()
        self.placed = 0

    @property
    def is_new(self) -> bool:
        """Whether the log says nothing of a cluster yet."""
        return not self.image.features

    @property
    def in_transaction(self) -> bool:
        """Whether a controller that died has left a metadata transaction open."""
        return self._writer.in_transaction

    def _changed(self) -> Sequence[Effect]:
        delta = self._writer.take_delta()
        return () if delta.is_empty else (ImageChanged(delta),)

    def _bootstrap(self, command: commands.Bootstrap) -> _Decision:
        from odradek.protocol.generated.metadata_records.begin_transaction_record import BeginTransactionRecord
        from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
        from odradek.protocol.generated.metadata_records.end_transaction_record import EndTransactionRecord
        from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord

        levels = features_at_start(self._config)
        records: list[MetadataRecord] = [FeatureLevelRecord(name, level) for name, level in levels.items()]
        if levels.get(ELR_VERSION):  # with eligible leader replicas on (KIP-966) this config is always cluster-wide
            records.append(ConfigRecord(ResourceType.BROKER, "", MIN_INSYNC_REPLICAS, str(self._default_min_isr())))
        records += command.adopted
        if levels[METADATA_VERSION] >= TRANSACTIONS_SINCE:
            records = [BeginTransactionRecord("Bootstrap records"), *records, EndTransactionRecord()]
        return records, None

    def _abandon_transaction(self, _: commands.AbandonTransaction) -> _Decision:
        from odradek.protocol.generated.metadata_records.abort_transaction_record import AbortTransactionRecord

        return [AbortTransactionRecord("Controller failover")], None

    def _default_min_isr(self) -> int:
        return int(self._config.static_of().get(MIN_INSYNC_REPLICAS, "1"))
