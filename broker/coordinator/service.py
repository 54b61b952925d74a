"""The shards of one kind of coordinator (groups, transactions, share state), and the internal topic with their logs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from odradek.broker.clock import BrokerClock
from odradek.broker.partitions.partition import Partition
from odradek.broker.runtime.journal import PartitionJournal
from odradek.broker.runtime.machine import Command, Effect, Machine, R
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import concurrent_order, hash_of_partition, signed_hash_of_text
from odradek.protocol.text_cache import text_cache

if TYPE_CHECKING:
    from odradek.broker.metadata.node import Node
    from odradek.broker.partitions.partition_registry import PartitionRegistry

_INT_MIN = -(1 << 31)


@text_cache(1 << 16)
def partition_for(key: str, partitions: int) -> int:
    """The partition of `key` among `partitions`: `abs(hashCode) % n`, where the smallest int counts as 0."""
    value = signed_hash_of_text(key)
    return 0 if value == _INT_MIN else abs(value) % partitions


class InternalTopic:
    """One internal topic. `partitions[i]` has index i.

    `create(name)` makes it, unless it is there, with the configuration that Kafka gives it. `codec`: the number of the
    codec that its coordinators compress records with.
    """

    def __init__(self, topics: PartitionRegistry, name: str, create: Callable[[str], None], codec: int = 0) -> None:
        self._topics = topics
        self._create = create
        self.codec = codec
        self.name = name

    @property
    def partitions(self) -> Sequence[Partition] | None:
        """Its partitions; None while it does not exist."""
        topic = self._topics.get(self.name)
        return None if topic is None else topic.partitions

    def ensure(self) -> Sequence[Partition]:
        """Its partitions; it is created on first use."""
        partitions = self.partitions
        if partitions is None:
            self._create(self.name)
            partitions = self.partitions
            assert partitions is not None
        return partitions


M = TypeVar("M", bound=Machine)


class Surroundings(NamedTuple):
    """The parts of the broker that every coordinator uses.

    `start` runs the task of a shard until the broker stops. `report(where, error)` is called with bugs. `new_journal`:
    see `Lane`.
    """

    clock: BrokerClock
    start: Callable[[Callable[[], Awaitable[None]]], None]
    report: Callable[[str, BaseException], None]
    new_journal: Callable[..., PartitionJournal] = PartitionJournal


class CoordinatorService(Generic[M]):
    """Finds the shard of a key, and starts it when it is first needed: unused partitions cost nothing.

    Owner: the cluster, which reports deleted topics and changed leaders. A shard belongs to the leader node of its
    partition. When the leader changes, it reloads from the log, as a coordinator on another machine would.
    `machine_factory(partition)` makes the machine of a partition, anew for each reload. `handle_effect(shard, effect)`
    executes the machine's own effects (see `Shard`). `base_sequence` is written into the
    batches: Kafka's group coordinator writes 0, its transaction coordinator -1. `keyed`: see `PartitionJournal`.
    """

    def __init__(
        self,
        topic: InternalTopic,
        surroundings: Surroundings,
        machine_factory: Callable[[int], M],
        *,
        handle_effect: Callable[[Shard[M], Effect], None] | None = None,
        base_sequence: int = -1,
        keyed: bool = True,
    ) -> None:
        self.topic = topic
        self._surroundings = surroundings
        self._machine_factory = machine_factory
        self._handle_effect = handle_effect
        self._base_sequence = base_sequence
        self._keyed = keyed
        self._shards: dict[int, Shard[M]] = {}
        self._held: dict[int, int] = {}

    # -- finding

    def partition_for(self, key: str) -> int:
        """The partition of the internal topic that owns `key`.

        Raises NOT_COORDINATOR while the topic does not exist.
        """
        return partition_for(key, len(self._partitions()))

    def leader_for(self, key: str) -> int:
        """The id of the node that coordinates `key`, -1 for none; the topic is created if need be."""
        partitions = self.topic.ensure()
        return partitions[partition_for(key, len(partitions))].leader_id

    def shard_for(self, key: str, node: Node | None = None) -> Shard[M]:
        """The shard of `key`, started if need be; NOT_COORDINATOR when `node` does not lead its partition."""
        partitions = self._partitions()
        return self._shard(partitions[partition_for(key, len(partitions))], node)

    def shard(self, partition: int, node: Node | None = None) -> Shard[M]:
        """The shard of a partition; see `shard_for`."""
        return self._shard(self._partitions()[partition], node)

    def shards(self, node: Node | None = None) -> Iterator[Shard[M]]:
        """Every shard (of those that `node` leads), as Kafka walks its coordinators; starts those with data."""
        led = {
            (self.topic.name, partition.index): partition
            for partition in self.topic.partitions or ()
            if partition.leader_id >= 0 and (node is None or partition.leader_id == node.id)
        }
        for key in concurrent_order(led, hash_of_partition):
            partition = led[key]
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

    def _shard(self, partition: Partition, node: Node | None) -> Shard[M]:
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

    def begin(self, key: str, command: Command[R], node: Node | None = None) -> R | ReplySlot[R]:
        """Give `command` to the shard of `key`; returns the reply or the `ReplySlot` to wait at.

        Raises the coordinator's `KafkaError`, as the slot may.
        """
        return self.shard_for(key, node).begin(command)

    def ask_now(self, key: str, command: Command[R], node: Node | None = None) -> R:
        """The same for a command that is never parked, from within the broker: returns its reply, which may not be
        committed yet. COORDINATOR_NOT_AVAILABLE if the coordinator decides on committed state only.
        """
        return self.shard_for(key, node).ask_now(command)

    def machine_for(self, key: str, node: Node | None = None) -> M:
        """The machine of `key`, to read committed state; raises like `begin`."""
        return self.shard_for(key, node).open_machine()

    # -- life

    def start_stored(self) -> None:
        """Start every shard whose partition has data: their timers have to run even without requests."""
        for partition in self.topic.partitions or ():
            if partition.leader_id >= 0 and partition.opened and partition.log.log_end_offset:
                self._shard(partition, None)

    def reload(self, partition: int) -> Shard[M]:
        """Make a shard drop its state and load the log again."""
        shard = self.shard(partition)
        shard.reload()
        return shard

    def leader_changed(self, partition: int) -> None:
        """Reload a partition that has another leader, or none: commands parked at the old one are answered at once."""
        shard = self._shards.get(partition)
        if shard is None:
            return
        if self._partitions()[partition].leader_id < 0:
            shard.resign()
        else:
            shard.reload_if_moved()

    def hold_load(self, partition: int, *, now: bool) -> None:
        """Keep the coordinator of a partition from loading, until `release_load` is called as often.

        `now`: it forgets what it has loaded.
        """
        self._held[partition] = self._held.get(partition, 0) + 1
        shard = self._shards.get(partition)
        if shard is not None:
            shard.hold_load(True)
            if now and shard.is_active:
                shard.reload()
        elif now:
            self.shard(partition)

    def release_load(self, partition: int) -> None:
        """Undo `hold_load`, unless `release_loads` has."""
        if partition not in self._held:
            return
        self._held[partition] -= 1
        if self._held[partition]:
            return
        del self._held[partition]
        shard = self._shards.get(partition)
        if shard is not None:
            shard.hold_load(False)

    def release_loads(self) -> None:
        """Undo every `hold_load`."""
        held, self._held = self._held, {}
        for partition in held:
            shard = self._shards.get(partition)
            if shard is not None:
                shard.hold_load(False)

    def topic_deleted(self, name: str, partitions: int) -> None:
        """A topic with this many partitions was deleted."""
        if name == self.topic.name:
            self.close()

    def close(self) -> None:
        """End all shards."""
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()

    def copied(self) -> dict[int, bytes | None]:
        """The state of each running shard by partition, for `go_on_with`; None for one that has to load the log."""
        return {index: shard.copied() for index, shard in self._shards.items()}

    def go_on_with(self, copies: Mapping[int, bytes | None]) -> None:
        """Replace all shards by the copied ones, or by new ones for those that were running."""
        self.close()
        partitions = self.topic.partitions or ()
        for index, copy in copies.items():
            self._start(partitions[index], copy)

    def _start(self, partition: Partition, copy: bytes | None = None) -> Shard[M]:
        index = partition.index
        shard: Shard[M] = Shard(
            f"{self.topic.name}-{index}",
            index,
            lambda: self._machine_factory(index),
            self._journal(partition),
            self._surroundings.clock,
            handle_effect=self._handle_effect,
            report=self._surroundings.report,
        )
        self._shards[index] = shard
        shard.hold_load(index in self._held)
        if copy is None:
            shard.start()
        else:
            shard.start_copied(copy)
        self._surroundings.start(shard.run)
        return shard

    def _journal(self, partition: Partition) -> PartitionJournal:
        journal = self._surroundings.new_journal(partition, base_sequence=self._base_sequence, keyed=self._keyed)
        journal.codec = self.topic.codec
        return journal
