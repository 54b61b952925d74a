"""The controller's machine: decides on commands, and builds the image from the metadata log.

A decision follows a rule: a function of a module `*_control`, or of this one. It reads `MetadataState` and its
arguments, changes nothing, and returns the records of its decision with the reply, or raises the error that Kafka would
answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeAlias, TypeVar

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.feature_levels import (
    MIN_INSYNC_REPLICAS,
    TRANSACTIONS_SINCE,
    features_at_start,
    supported_features,
)
from odradek.broker.metadata.image import ELR_VERSION, METADATA_VERSION, MetadataDelta, MetadataImage, ResourceType
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.releases.release import Release
from odradek.broker.runtime.machine import Command, Effect, Journal, Machine, Outcome, Producer, R, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.message import MetadataRecord

# -- What the rules read, and how the controller is asked to follow one.

P = ParamSpec("P")
T = TypeVar("T")
Decision: TypeAlias = tuple[Sequence[MetadataRecord], R]
PartitionKey = tuple[str, int]
"""Topic name and index."""


class MetadataState:
    """The image, the configuration and what else decisions depend on. Owner: the controller's machine.

    `controller_id`: the controller that decides, by its own defaults. `placed`: partitions that were placed so far;
    leaders of new ones go round the brokers. `replicas_differ(topic_id, index)`: where replicas of a partition have not
    all the same log, leaders tell who is in sync (`change_isr`). `kraft_version` is no record of the metadata log but
    one of the quorum's own (KIP-853). `quorum_is_in_memory`: what the metadata log has of its voters may change.
    """

    def __init__(self, image: MetadataImage, config: BrokerConfig, controller_id: int) -> None:
        self.image = image
        self.config = config
        self.controller_id = controller_id
        self.now_ms = 0
        self.kraft_version = 1
        self.quorum_is_in_memory = True
        self.replicas_differ: Callable[[bytes, int], bool] = lambda topic_id, index: False
        self.placed = 0

    @property
    def release(self) -> Release:
        """The release of the controller that decides."""
        return self.config.release_of(self.controller_id)

    def supported(self, node_id: int) -> Mapping[str, tuple[int, int]]:
        """Lowest and highest level of each feature that a node supports."""
        return supported_features(self.config, self.config.release_of(node_id), node_id)

    def default_min_isr(self) -> str:
        """The value of min.insync.replicas that the nodes are started with."""
        return str(int(self.config.static_of().get(MIN_INSYNC_REPLICAS, "1")))


class FollowRule:
    """The controller's command: to follow a rule with these arguments. `Controller.ask` makes it."""

    __slots__ = ("arguments", "named", "rule")
    reply: Any

    def __init__(self, rule: Callable[..., Decision[Any]], arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        self.rule = rule
        self.arguments = arguments
        self.named = named

    def decide(self, state: MetadataState) -> Decision[Any]:
        """The records and the reply."""
        return self.rule(state, *self.arguments, **self.named)

    def __repr__(self) -> str:
        return f"FollowRule({self.rule.__name__})"  # arguments may be secrets


def each_by_itself(
    items: Iterable[T], decide: Callable[[T], Sequence[MetadataRecord]]
) -> tuple[list[MetadataRecord], list[KafkaError | None]]:
    """The records of the items that are not refused, and for each item in order its error or None."""
    records: list[MetadataRecord] = []
    results: list[KafkaError | None] = []
    for item in items:
        try:
            records += decide(item)
        except KafkaError as error:
            results.append(as_value(error))
        else:
            results.append(None)
    return records, results


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


# -- the metadata log in memory, and what a log must offer


class MetadataLog(Journal, Protocol):
    """The log behind the controller's shard. Offsets count records; each controller's time is an epoch.

    A snapshot stands for everything before its end offset, so the log may begin there.
    """

    @property
    def start_offset(self) -> int:
        """The first offset that is still in the log."""

    @property
    def kraft_version(self) -> int:
        """The level of `kraft.version`: 1 where the log itself names the voters (KIP-853)."""

    def begin_epoch(self, leader_id: int, now_ms: int) -> None:
        """A controller takes over: a higher epoch begins with a LeaderChangeMessage."""

    def take_snapshot_if_due(self, image: MetadataImage, copied: Callable[[], MetadataImage], now_ms: int) -> None:
        """Take a snapshot of `image` if the log has grown enough since the last one, and drop older snapshots and
        records. `copied` makes a copy that stays as it is.
        """


class Batch(NamedTuple):
    """Records that were written together."""

    base_offset: int
    epoch: int
    records: Sequence[MetadataRecord]


class MemoryMetadataLog:
    """See `MetadataLog`. Keeps the records themselves: nothing is encoded that nobody reads.

    `max_records`: so many behind the last snapshot make the next one due. One snapshot replaces the other.
    """

    apart = False

    def __init__(self, max_records: int = 200_000, kraft_version: int = 1) -> None:
        self.batches: list[Batch] = []
        self.snapshot: MetadataImage | None = None
        self.start_offset = 0
        self.end_offset = 0
        self.leader_epoch = 0
        self.kraft_version = kraft_version
        self._max_records = max_records

    def append(
        self, records: Sequence[MetadataRecord], now_ms: int, producer: Producer | None = None
    ) -> list[StoredRecord]:
        first, epoch = self.end_offset, self.leader_epoch
        self.batches.append(Batch(first, epoch, records))
        self.end_offset = first + len(records)
        return [StoredRecord(record, offset, epoch) for offset, record in enumerate(records, first)]

    def split(self, records: Sequence[MetadataRecord]) -> Iterator[Sequence[MetadataRecord]]:
        return runs(records)

    def load(self, machine: Machine) -> Iterator[int]:
        if self.snapshot is not None:
            # The records of a snapshot have no offsets in the log: all stand for the last one that it covers.
            from odradek.broker.metadata.snapshot import records_of

            for record in records_of(self.snapshot):
                machine.replay(StoredRecord(record, self.start_offset - 1, self.snapshot.epoch))
        for batch in self.batches:
            for offset, record in enumerate(batch.records, batch.base_offset):
                machine.replay(StoredRecord(record, offset, batch.epoch))
        yield self.end_offset

    def begin_epoch(self, leader_id: int, now_ms: int) -> None:
        self.leader_epoch += 1
        self.end_offset += 1

    def take_snapshot_if_due(self, image: MetadataImage, copied: Callable[[], MetadataImage], now_ms: int) -> None:
        if self.end_offset - self.start_offset > self._max_records:
            self.snapshot = copied()
            self.batches.clear()
            self.start_offset = self.end_offset

    def close(self, *, clean: bool = True) -> None:
        """Nothing outlives the process."""


def runs(records: Sequence[MetadataRecord]) -> Iterator[Sequence[MetadataRecord]]:
    """Records in runs of what one batch holds."""
    for first in range(0, len(records), MAX_BATCH_RECORDS):
        yield records[first : first + MAX_BATCH_RECORDS]
