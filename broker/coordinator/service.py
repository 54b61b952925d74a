"""All shards of one kind of coordinator: groups (`__consumer_offsets`) or transactions (`__transaction_state`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from odradek.broker.coordinator.routing import partition_for
from odradek.broker.runtime.loader import PartitionJournal
from odradek.broker.runtime.machine import Command, Effect, Machine, Producer, R
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.controller.node import Node
    from odradek.broker.controller.topics import Topic
    from odradek.broker.partitions.partition import Partition

M_co = TypeVar("M_co", bound=Machine, covariant=True)


class MachineFactory(Protocol[M_co]):
    """Makes the machine of one partition; called again for each reload."""

    def __call__(self, partition: int) -> M_co: ...


class CoordinatorService(Generic[M_co]):
    """Finds the shard for a key, starting it when it is first needed: 50 partitions cost nothing until used.

    Owner: the cluster, which owns one for groups and one for transactional ids. A shard belongs to the leader node of
    its partition; when the leader changes, it reloads from the log, as a coordinator on another machine would.

    ``perform(shard, effect)`` carries out the machine's own effects (see `Shard`). ``base_sequence`` is in the
    batches: Kafka's group coordinator writes 0, its transaction coordinator -1.
    """

    def __init__(
        self,
        cluster: Cluster,
        topic_name: str,
        machine_factory: MachineFactory[M_co],
        *,
        perform: Callable[[Shard, Effect], None] | None = None,
        base_sequence: int = -1,
    ) -> None:
        self._cluster = cluster
        self.topic_name = topic_name
        self._machine_factory = machine_factory
        self._perform = perform
        self._base_sequence = base_sequence
        self._shards: dict[int, Shard] = {}
        self._topic: Topic | None = None

    # -- the topic

    @property
    def topic(self) -> Topic | None:
        """The internal topic, once it exists."""
        topic = self._cluster.topics.get(self.topic_name)
        if topic is not self._topic:
            self._drop_shards()
            self._topic = topic
        return topic

    def ensure_topic(self) -> Topic:
        """The internal topic; created on first use, with the configuration Kafka gives it."""
        topic = self.topic
        if topic is None:
            self._cluster.topics.ensure_internal(self.topic_name)
            topic = self.topic
            assert topic is not None
        return topic

    # -- finding

    def partition_for(self, key: str) -> int:
        """The partition of the internal topic that ``key`` belongs to. NOT_COORDINATOR while there is no topic."""
        topic = self.topic
        if topic is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        return partition_for(key, len(topic.partitions))

    def node_for(self, key: str) -> Node:
        """The node that coordinates ``key``; COORDINATOR_NOT_AVAILABLE when its partition has no leader that is up."""
        topic = self.ensure_topic()
        partition: Partition = topic.partitions[partition_for(key, len(topic.partitions))]
        node = self._cluster.nodes.get(partition.leader_id)
        if node is None or not node.up:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return node

    def shard_for(self, key: str, node: Node | None = None) -> Shard:
        """The shard of ``key``, started if need be; NOT_COORDINATOR when ``node`` does not lead its partition."""
        return self.shard(self.partition_for(key), node)

    def shard(self, partition: int, node: Node | None = None) -> Shard:
        """The shard of a partition; see `shard_for`."""
        topic = self._topic
        assert topic is not None
        leader_id = topic.partitions[partition].leader_id
        if leader_id < 0 or (node is not None and leader_id != node.id):
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        shard = self._shards.get(partition)
        if shard is None:
            shard = self._start(topic, partition)
        elif shard.journal.leader_epoch != shard.loaded_epoch:
            shard.reload_if_moved()
        return shard

    def shards(self, node: Node | None = None) -> Iterator[Shard]:
        """Every shard (of those that ``node`` leads), in partition order; starts the ones whose partition has data."""
        topic = self.topic
        if topic is None:
            return
        for partition in topic.partitions:
            if partition.leader_id < 0 or (node is not None and partition.leader_id != node.id):
                continue
            if partition.index in self._shards or (partition.opened and partition.log.log_end_offset):
                yield self.shard(partition.index, node)

    def running(self) -> list[Shard]:
        """The shards that have been started, whatever state they are in."""
        return list(self._shards.values())

    # -- asking

    def begin(self, key: str, command: Command[Any], node: Node | None = None) -> Any:
        """Give ``command`` to the shard of ``key``; returns the reply or the `ReplySlot` to wait at.

        Raises the coordinator's `KafkaError`, as the slot may.
        """
        return self.shard_for(key, node).begin(command)

    def ask_now(self, key: str, command: Command[R], node: Node | None = None) -> R:
        """The same for a command that is never parked: returns its reply."""
        return self.shard_for(key, node).ask_now(command)

    def machine_for(self, key: str, node: Node | None = None) -> M_co:
        """The machine of ``key``, to read from; raises like `begin`."""
        machine: M_co = self.shard_for(key, node).open_machine()
        return machine

    def complete_transaction(
        self,
        partition: int,
        producer_id: int,
        producer_epoch: int,
        commit: bool,
        coordinator_epoch: int,
        node: Node | None = None,
    ) -> None:
        """Write a transaction marker to a partition of this topic and settle the producer's pending records in it."""
        if self.topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        self.shard(partition, node).complete_transaction(
            Producer(producer_id, producer_epoch), commit, coordinator_epoch
        )

    # -- life

    def reload(self, partition: int) -> Shard:
        """Make a shard forget its state and load it again from the log."""
        if self.topic is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        shard = self.shard(partition)
        shard.reload()
        return shard

    def leader_changed(self, partition: int) -> None:
        """The partition has got another leader: commands parked at the old one are let go at once."""
        shard = self._shards.get(partition)
        if shard is not None:
            shard.reload_if_moved()

    def close(self) -> None:
        """End all shards."""
        self._drop_shards()

    def _drop_shards(self) -> None:
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()

    def _start(self, topic: Topic, partition: int) -> Shard:
        shard = Shard(
            f"{self.topic_name}-{partition}",
            partition,
            lambda: self._machine_factory(partition),
            PartitionJournal(topic.partitions[partition], base_sequence=self._base_sequence),
            self._cluster.clock,
            perform=self._perform,
            report=self._cluster.bug_log.report,
        )
        self._shards[partition] = shard
        shard.start()
        self._cluster.start(shard.run)
        return shard
