"""All shards of one kind of coordinator: groups, transactions, share state; each kind has an internal topic."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from odradek.broker.clock import BrokerClock
from odradek.broker.coordinator.internal_topic import InternalTopic
from odradek.broker.coordinator.routing import partition_for
from odradek.broker.partitions.partition import Partition
from odradek.broker.runtime.inbox import ReplySlot
from odradek.broker.runtime.loader import PartitionJournal
from odradek.broker.runtime.machine import Command, Effect, Machine, Producer, R
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError

M = TypeVar("M", bound=Machine)
M_co = TypeVar("M_co", bound=Machine, covariant=True)


class MachineFactory(Protocol[M_co]):
    """Makes the machine of one partition; called again for each reload."""

    def __call__(self, partition: int) -> M_co: ...


class HasId(Protocol):
    """A node, as far as a coordinator cares: the one that a request has come to."""

    @property
    def id(self) -> int: ...


class Surroundings(NamedTuple):
    """What every coordinator needs of its broker.

    `start` runs a shard's task until the broker stops. `report(where, error)` is told of bugs.
    """

    clock: BrokerClock
    start: Callable[[Callable[[], Awaitable[None]]], None]
    report: Callable[[str, BaseException], None]


class CoordinatorService(Generic[M]):
    """Finds the shard for a key, starting it when it is first needed: 50 partitions cost nothing until used.

    Owner: the cluster, which tells it of deleted topics and changed leaders. A shard belongs to the leader node of its
    partition; when the leader changes, it reloads from the log, as a coordinator on another machine would.

    `perform(shard, effect)` carries out the machine's own effects (see `Shard`). `base_sequence` is in the
    batches: Kafka's group coordinator writes 0, its transaction coordinator -1. `keyed`: see `PartitionJournal`.
    """

    def __init__(
        self,
        topic: InternalTopic,
        surroundings: Surroundings,
        machine_factory: MachineFactory[M],
        *,
        perform: Callable[[Shard[M], Effect], None] | None = None,
        base_sequence: int = -1,
        keyed: bool = True,
    ) -> None:
        self.topic = topic
        self._surroundings = surroundings
        self._machine_factory = machine_factory
        self._perform = perform
        self._base_sequence = base_sequence
        self._keyed = keyed
        self._shards: dict[int, Shard[M]] = {}

    # -- finding

    def partition_for(self, key: str) -> int:
        """The partition of the internal topic that `key` belongs to. NOT_COORDINATOR while there is no topic."""
        return partition_for(key, len(self._partitions()))

    def leader_for(self, key: str) -> int:
        """The id of the node that coordinates `key`, -1 for none; the topic is created if need be."""
        partitions = self.topic.ensure()
        return partitions[partition_for(key, len(partitions))].leader_id

    def shard_for(self, key: str, node: HasId | None = None) -> Shard[M]:
        """The shard of `key`, started if need be; NOT_COORDINATOR when `node` does not lead its partition."""
        partitions = self._partitions()
        return self._shard(partitions[partition_for(key, len(partitions))], node)

    def shard(self, partition: int, node: HasId | None = None) -> Shard[M]:
        """The shard of a partition; see `shard_for`."""
        return self._shard(self._partitions()[partition], node)

    def shards(self, node: HasId | None = None) -> Iterator[Shard[M]]:
        """Every shard (of those that `node` leads), in partition order; starts the ones whose partition has data."""
        for partition in self.topic.partitions or ():
            if partition.leader_id < 0 or (node is not None and partition.leader_id != node.id):
                continue
            if partition.index in self._shards or (partition.opened and partition.log.log_end_offset):
                yield self._shard(partition, node)

    def running(self) -> list[Shard[M]]:
        """The shards that have been started, whatever state they are in."""
        return list(self._shards.values())

    def _partitions(self) -> Sequence[Partition]:
        partitions = self.topic.partitions
        if partitions is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        return partitions

    def _shard(self, partition: Partition, node: HasId | None) -> Shard[M]:
        leader_id = partition.leader_id
        if leader_id < 0 or (node is not None and leader_id != node.id):
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        shard = self._shards.get(partition.index)
        if shard is None:
            return self._start(partition)
        if partition.leader_epoch != shard.loaded_epoch:
            shard.reload_if_moved()
        return shard

    # -- asking

    def begin(self, key: str, command: Command[R], node: HasId | None = None) -> R | ReplySlot[R]:
        """Give `command` to the shard of `key`; returns the reply or the `ReplySlot` to wait at.

        Raises the coordinator's `KafkaError`, as the slot may.
        """
        return self.shard_for(key, node).begin(command)

    def ask_now(self, key: str, command: Command[R], node: HasId | None = None) -> R:
        """The same for a command that is never parked: returns its reply."""
        return self.shard_for(key, node).ask_now(command)

    def machine_for(self, key: str, node: HasId | None = None) -> M:
        """The machine of `key`, to read from; raises like `begin`."""
        return self.shard_for(key, node).open_machine()

    def complete_transaction(
        self, partition: int, producer: Producer, commit: bool, coordinator_epoch: int, node: HasId | None = None
    ) -> None:
        """Write a transaction marker to a partition of this topic and settle the producer's pending records in it."""
        self.shard(partition, node).complete_transaction(producer, commit, coordinator_epoch)

    # -- life

    def start_stored(self) -> None:
        """Start every shard whose partition has data: nobody may ever ask for one, and yet its timers have to run."""
        for partition in self.topic.partitions or ():
            if partition.leader_id >= 0 and partition.opened and partition.log.log_end_offset:
                self._shard(partition, None)

    def reload(self, partition: int) -> Shard[M]:
        """Make a shard forget its state and load it again from the log."""
        shard = self.shard(partition)
        shard.reload()
        return shard

    def leader_changed(self, partition: int) -> None:
        """The partition has got another leader: commands parked at the old one are let go at once."""
        shard = self._shards.get(partition)
        if shard is not None:
            shard.reload_if_moved()

    def topic_deleted(self, name: str, partitions: int) -> None:
        """A topic that had so many partitions exists no more."""
        if name == self.topic.name:
            self.close()

    def close(self) -> None:
        """End all shards."""
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()

    def _start(self, partition: Partition) -> Shard[M]:
        index = partition.index
        shard: Shard[M] = Shard(
            f"{self.topic.name}-{index}",
            index,
            lambda: self._machine_factory(index),
            PartitionJournal(partition, base_sequence=self._base_sequence, keyed=self._keyed),
            self._surroundings.clock,
            perform=self._perform,
            report=self._surroundings.report,
        )
        self._shards[index] = shard
        shard.start()
        self._surroundings.start(shard.run)
        return shard
