"""Disks that fail on purpose, and the partitions that they affect, whichever node leads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from odradek.storage.broken_log import Breakage, break_log, mend_log

if TYPE_CHECKING:
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry
    from odradek.storage.partition_log import PartitionLog


class DiskFault:
    """A failure at one node: of all partitions, or of one topic, one partition, or the segment of one offset.

    `on_hit` is called when something fails. `hits` counts the failures.
    """

    def __init__(
        self,
        node_id: int,
        how: str,
        on_hit: Callable[[], None],
        *,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
    ) -> None:
        self.node_id = node_id
        self.how = how
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.hits = 0
        self._on_hit = on_hit

    @property
    def whole_node(self) -> bool:
        """Whether nothing at the node is spared."""
        return self.topic is None

    def concerns(self, partition: Partition) -> bool:
        """Whether it hits a partition that its node leads; where a whole node fails, also one that it follows."""
        if not self.names(partition):
            return False
        return partition.leader_id == self.node_id or (self.whole_node and self.node_id in partition.replicas)

    def names(self, partition: Partition) -> bool:
        """Whether the partition is on the disk that fails, where its node has it."""
        return self.topic in (None, partition.topic.name) and self.partition in (None, partition.index)

    def breakage_of(self, partition: Partition) -> Breakage:
        """The effect of the failure on a partition. A follower that cannot write refuses nothing to clients."""
        leads = partition.leader_id == self.node_id
        return Breakage(self.how, self._hit, offset=self.offset, refuses=leads)

    def _hit(self) -> None:
        self.hits += 1
        self._on_hit()


class FailingDisks:
    """Owner: the cluster, from the first disk that fails on. The newest fault that concerns a partition counts."""

    def __init__(self, topics: PartitionRegistry) -> None:
        self._topics = topics
        self._faults: list[DiskFault] = []
        self._broken: dict[Partition, tuple[DiskFault, PartitionLog, int]] = {}

    @property
    def faults(self) -> list[DiskFault]:
        """The failures in force, oldest first."""
        return list(self._faults)

    def add(self, fault: DiskFault) -> None:
        """Let a disk fail."""
        self._faults.append(fault)
        self._look(self._every())

    def remove(self, chosen: Callable[[DiskFault], bool]) -> None:
        """Mend disks. What a failed sync has made of a partition is forgotten, too."""
        self._faults = [fault for fault in self._faults if not chosen(fault)]
        self._look(self._every())

    def named_by(self, fault: DiskFault) -> list[Partition]:
        """The partitions with a replica on the failing disk, whichever node leads them."""
        return [each for each in self._every() if fault.names(each) and fault.node_id in each.replicas]

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `odradek.broker.controller.controller.Publisher`: leaders have moved, partitions have come."""
        if self._faults:
            self._look(self._every())

    def _every(self) -> Iterator[Partition]:
        for topic in self._topics.all():
            yield from topic.partitions

    def _look(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            fault = next((each for each in reversed(self._faults) if each.concerns(partition)), None)
            self._mend_if_other(partition, fault)
            if fault is not None and partition not in self._broken:
                log = partition.log
                break_log(log, fault.breakage_of(partition))
                self._broken[partition] = fault, log, partition.leader_epoch

    def _mend_if_other(self, partition: Partition, fault: DiskFault | None) -> None:
        known = self._broken.get(partition)
        if known is None:
            return
        before, log, epoch = known
        if before is fault and epoch == partition.leader_epoch and log is partition.log:
            return
        del self._broken[partition]
        mend_log(log)
        if fault is None:
            partition.failure = None
