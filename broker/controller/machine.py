"""The controller's machine: decides on commands, and builds the image from the metadata log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.feature_levels import (
    MIN_INSYNC_REPLICAS,
    TRANSACTIONS_SINCE,
    features_at_start,
)
from odradek.broker.controller.state import Decision, FollowRule, MetadataState
from odradek.broker.metadata.image import ELR_VERSION, METADATA_VERSION, MetadataDelta, MetadataImage, ResourceType
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.runtime.machine import Command, Effect, Outcome, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.message import MetadataRecord

# -- Producer ids: unique in the cluster, never given twice (KIP-98, blocks per broker as in KIP-730).

BLOCK_SIZE = 1000
MAX_PRODUCER_ID = (1 << 63) - 1


def allocate_producer_ids(state: MetadataState, node_id: int) -> Decision[int]:
    """A block of producer ids for a broker (KIP-730); replies the first of `BLOCK_SIZE` ids."""
    first = state.image.next_producer_id
    if first > MAX_PRODUCER_ID - BLOCK_SIZE:
        text = f"Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit {first}"
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    broker = state.image.brokers.get(node_id)
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
    """Follows the rules of the cluster's metadata; see `odradek.broker.runtime.machine.Machine`.

    All records of a decision are one batch, so that a log holds an operation wholly or not at all. Only what many
    partitions have to follow (brokers that come or go, what is taken over) may be split, with what completes it last.
    """

    def __init__(self, config: BrokerConfig, controller_id: int) -> None:
        self._writer = ImageWriter()
        self.image: MetadataImage = self._writer.image
        self.state = MetadataState(self.image, config, controller_id)

    # -- the contract of a machine

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        assert isinstance(command, FollowRule)
        self.state.now_ms = now_ms
        records, reply = command.decide(self.state)
        return make_outcome(records, reply=reply, then=self._changed, atomic=len(records) <= MAX_BATCH_RECORDS)

    def replay(self, stored: StoredRecord) -> None:
        self._writer.replay(*stored)
        if stored.record.RECORD_TYPE == _PARTITION:
            self.state.placed += 1

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
        self.state.placed = 0

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


# -- The rules of the log's own life.


def bootstrap(state: MetadataState, adopted: Sequence[MetadataRecord] = ()) -> Decision[None]:
    """Give a new cluster its first records: feature levels, what goes with them, and what is known of it already."""
    from odradek.protocol.generated.metadata_records.begin_transaction_record import BeginTransactionRecord
    from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
    from odradek.protocol.generated.metadata_records.end_transaction_record import EndTransactionRecord
    from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord

    levels = features_at_start(state.config)
    records: list[MetadataRecord] = [FeatureLevelRecord(name, level) for name, level in levels.items()]
    if levels.get(ELR_VERSION):  # with eligible leader replicas on (KIP-966) this config is always cluster-wide
        records.append(ConfigRecord(ResourceType.BROKER, "", MIN_INSYNC_REPLICAS, state.default_min_isr()))
    records += adopted
    if levels[METADATA_VERSION] >= TRANSACTIONS_SINCE:
        records = [BeginTransactionRecord("Bootstrap records"), *records, EndTransactionRecord()]
    return records, None


def adopt(state: MetadataState, records: Sequence[MetadataRecord]) -> Decision[None]:
    """Take over records that were made elsewhere: from a directory of an older format, from another cluster."""
    return records, None


def abandon_transaction(state: MetadataState) -> Decision[None]:
    """End the metadata transaction that a controller which died has left open, without its records."""
    from odradek.protocol.generated.metadata_records.abort_transaction_record import AbortTransactionRecord

    return [AbortTransactionRecord("Controller failover")], None
