"""Copies from leaders to followers, commits, and tells the controller which replicas are in sync.

It has no state while nothing is kept from any replica: then one log serves all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import trio

from odradek.broker.replication.throttles import Throttles

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry
    from odradek.broker.partitions.replicas import Committed, Lag, ReplicaSet, Slowness

MAX_LAG = "replica.lag.time.max.ms"
_SHORTEST_PAUSE_MS = 10


class ReplicationCopy(NamedTuple):
    """A test's orders on replicas: the links that are cut or slow, and (topic id, index, node, lag) of lagging
    replicas.
    """

    cut_links: frozenset[frozenset[int]]
    slow_links: Mapping[frozenset[int], Slowness]
    held: Sequence[tuple[bytes, int, int, Lag]]


class Replicator:
    """Owner: the cluster; `run` in the maintenance nursery.

    `differing`: the partitions whose replicas are kept apart, because a node is down or a test keeps records from a
    replica. A partition leaves it when all its replicas have everything again.
    """

    def __init__(
        self, controller: Controller, topics: PartitionRegistry, config: BrokerConfig, clock: BrokerClock
    ) -> None:
        self._controller = controller
        self._topics = topics
        self._config = config
        self._clock = clock
        self._down: set[int] = set()
        self._lost: set[tuple[Partition, int]] = set()  # replicas whose disk has failed
        self.cuts: set[frozenset[int]] = set()
        self._held: dict[tuple[Partition, int], Lag] = {}
        self._resting = False
        self._slow: dict[frozenset[int], Slowness] = {}
        self._throttles = Throttles(config)
        self._arrives_ms: float | None = None
        self._arrival_known = trio.Event()
        self.differing: dict[Partition, None] = {}
        self._some_differ = trio.Event()
        controller.state.replicas_differ = self.differ

    # -- what a test says

    def hold(self, partition: Partition, node_id: int, lag: Lag | None) -> None:
        """Keep a follower behind as `lag` says; None lets it have everything again.

        A node that has no replica is kept so once it has one.
        """
        if lag is None:
            self._held.pop((partition, node_id), None)
        else:
            self._held[partition, node_id] = lag
        if node_id in partition.replicas:
            self._apart(partition).by_node[node_id].lag = lag
            self.replicate(partition)

    def held_back(self) -> Iterator[str]:
        """The orders of a test as text."""
        for (partition, node_id), lag in self._held.items():
            how = "gets nothing" if lag.stops else "is kept behind its leader"
            yield f"node {node_id} {how} of {partition.topic.name}-{partition.index}: the test keeps it from it"
        for pair in self.cuts:
            yield f"nodes {' and '.join(map(str, sorted(pair)))} copy nothing from each other: the test has cut them"

    def link(self, a: int, b: int, *, cut: bool) -> None:
        """Cut the link between two nodes, or mend it."""
        pair = frozenset((a, b))
        if cut:
            self.cuts.add(pair)
            for partition in self._partitions_of((a, b)):
                self._apart(partition)
        else:
            self.cuts.discard(pair)
        self._replicate_all()

    def slow(self, a: int, b: int, slowness: Slowness | None) -> None:
        """Let records be late between two nodes; None for a link as all others."""
        if slowness is not None:
            self._slow[frozenset((a, b))] = slowness
            for partition in self._partitions_of((a, b)):
                self._apart(partition)
        elif self._slow.pop(frozenset((a, b)), None) is None:
            return
        self._replicate_all()

    def node_lost(self, node_id: int) -> None:
        """Note that a node dies, before the controller knows: its replicas stay as they are."""
        self._down.add(node_id)
        for partition in self._partitions_of((node_id,)):
            self._apart(partition).by_node[node_id].alive = False

    def node_back(self, node_id: int) -> None:
        """A node is back and registered: it follows the leaders of its partitions."""
        self._down.discard(node_id)
        for partition in self.differing:
            replica = partition.copy_on(node_id)
            if replica is not None:
                replica.alive = not replica.lost
        self._replicate_all()

    def forget_node(self, node_id: int) -> None:
        """A node without replicas is gone, and with it what a test said of it."""
        self._down.discard(node_id)
        for pair in [pair for pair in self.cuts if node_id in pair]:
            self.cuts.discard(pair)
        for pair in [pair for pair in self._slow if node_id in pair]:
            del self._slow[pair]
        for key in [key for key in self._held if key[1] == node_id]:
            del self._held[key]

    def disk_lost(self, partition: Partition, node_id: int) -> None:
        """Note that the disk of one replica fails, before the controller knows: the replica stays as it is."""
        self._lost.add((partition, node_id))
        replica = self._apart(partition).by_node[node_id]
        replica.alive, replica.lost = False, True

    def disk_back(self, partition: Partition, node_id: int) -> None:
        """It works again, and the controller knows."""
        self._lost.discard((partition, node_id))
        replica = partition.copy_on(node_id)
        if replica is not None:
            replica.alive, replica.lost = node_id not in self._down, False
            self.replicate(partition)

    def heal(self) -> None:
        """Nothing is kept from any replica that is up."""
        self.cuts.clear()
        self._held.clear()
        self._slow.clear()
        for partition in self.differing:
            assert partition.replica_set is not None
            for replica in partition.replica_set.by_node.values():
                replica.lag = None
        self._replicate_all()

    # -- following the image

    def before_publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Before partitions follow the image: a replica that a reassignment adds begins with nothing."""
        if self._resting:
            return
        for (topic_id, index), before in delta.moved.items():
            topic, live = image.topics_by_id.get(topic_id), self._topics.by_id(topic_id)
            if topic is not None and live is not None and set(topic.partitions[index].replicas) - set(before.replicas):
                self._apart(live.partitions[index])

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """New partitions are kept apart from the beginning where nodes do not reach each other. Who waits for a replica
        looks again when a broker has come or gone."""
        if delta.brokers:
            for partition in self.differing:
                partition.waiters.wake_all()
        if delta.configs and self.differing:  # throttles may be others
            self._note_arrival(self._clock.now_ms())
        if self._resting or not (self.cuts or self._down or self._slow):
            return
        for topic_id in (*delta.created, *delta.grown):
            topic = self._topics.by_id(topic_id)
            for partition in () if topic is None else topic.partitions[delta.grown.get(topic_id, 0) :]:
                if self._is_hindered(partition.replicas):
                    self._apart(partition)

    def _is_hindered(self, nodes: Collection[int]) -> bool:
        down = self._down.intersection(nodes)
        return len(nodes) > 1 and (bool(down) or any(pair.issubset(nodes) for pair in (*self.cuts, *self._slow)))

    # -- copies of a broker

    @property
    def snapshot(self) -> ReplicationCopy:
        """The present orders of a test, for `go_on_with`."""
        held = [(each.topic.topic_id, each.index, node_id, lag) for (each, node_id), lag in self._held.items()]
        return ReplicationCopy(frozenset(self.cuts), dict(self._slow), held)

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """Inside the `with` block the metadata changes and no replica follows: all get what they have afterwards."""
        self._forget()
        self._resting = True
        try:
            yield
        finally:
            self._resting = False
        self._forget()

    def _forget(self) -> None:
        self.cuts.clear()
        self._slow.clear()
        self._held.clear()
        self._lost.clear()
        self._throttles.clear()
        for partition in self.differing:
            partition.join_replicas()
        self.differing.clear()

    def go_on_with(self, differing: Iterable[Partition], snapshot: ReplicationCopy) -> None:
        """These partitions have replicas that differ, and a test said this of them."""
        self.cuts.update(snapshot.cut_links)
        self._slow.update(snapshot.slow_links)
        for topic_id, index, node_id, lag in snapshot.held:
            topic = self._topics.by_id(topic_id)
            if topic is not None:
                self._held[topic.partitions[index], node_id] = lag
        self.differing.update(dict.fromkeys(differing))
        for partition in list(self.differing):
            for node_id in partition.replicas:
                copy = partition.copy_on(node_id)
                if copy is not None and copy.lost:  # disks work after a restore
                    self.disk_back(partition, node_id)
        self._some_differ.set()

    # -- copying

    def differ(self, topic_id: bytes, index: int) -> bool:
        """Whether the replicas of a partition are kept apart."""
        topic = self._topics.by_id(topic_id)
        return topic is not None and index < len(topic.partitions) and topic.partitions[index].replica_set is not None

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def replicate(self, partition: Partition) -> None:
        """Copy and commit what may be; see `odradek.broker.partitions.partition.Replicates`."""
        replicas = partition.replica_set
        if replicas is None:
            return
        now_ms = self._clock.now_ms()
        for replica in replicas.take_newcomers():
            replica.lost = (partition, replica.node_id) in self._lost
            replica.alive = replica.node_id not in self._down and not replica.lost
            replica.lag = self._held.get((partition, replica.node_id))
        replicas.join(self._slowness)
        replicas.copy(now_ms, self._linked, self._throttles.of(partition))
        self._note_arrival(replicas.next_arrival_ms(now_ms))
        self._note_arrival(self._throttles.take_next_look_ms())
        while replicas.left_behind:
            replicas.left_behind.pop().delete()
        rule = self._rule(partition)
        moved = replicas.commit(rule, now_ms)
        isr = self._isr(partition, rule, now_ms)
        if isr is not None:
            topic_id = partition.topic.topic_id
            from odradek.broker.controller.partition_control import NewIsr, change_isr

            self._controller.post(change_isr, [NewIsr(topic_id, partition.index, partition.partition_epoch, isr)])
        if moved or replicas.take_moved_starts():
            partition.waiters.wake_all()
        if replicas.in_step and not self.cuts and set(partition.isr) == set(partition.replicas):
            self.differing.pop(partition, None)
            partition.join_replicas()

    def _isr(self, partition: Partition, rule: Committed, now_ms: int) -> list[int] | None:
        """The replicas in sync, if they are others than the metadata says."""
        replicas = partition.replica_set
        assert replicas is not None
        leader = replicas.leader
        if leader is None or not leader.alive:
            return None
        gone = replicas.lagging(rule, now_ms)
        epoch_start = leader.log.leader_epochs.start_of_latest()
        back = [node for node in replicas.returning(rule, epoch_start, now_ms) if self._may_return(node)]
        if not gone and not back:
            return None
        return [node for node in partition.isr if node not in gone] + back

    def _may_return(self, node_id: int) -> bool:
        broker = self._controller.image.brokers.get(node_id)
        return broker is not None and broker.is_active

    def _rule(self, partition: Partition) -> Committed:
        from odradek.broker.partitions.replicas import Committed

        min_isr = min(partition.log.config.min_insync_replicas, len(partition.replicas))
        return Committed(partition.isr, min_isr, self._config.get_int(MAX_LAG))

    def _linked(self, a: int, b: int) -> bool:
        return not self.cuts or frozenset((a, b)) not in self.cuts

    def _slowness(self, a: int, b: int) -> Slowness | None:
        return self._slow.get(frozenset((a, b))) if self._slow else None

    def _note_arrival(self, at_ms: float | None) -> None:
        if at_ms is not None and (self._arrives_ms is None or at_ms < self._arrives_ms):
            self._arrives_ms = at_ms
            self._arrival_known.set()

    def _replicate_all(self) -> None:
        for partition in list(self.differing):
            self.replicate(partition)

    def _apart(self, partition: Partition) -> ReplicaSet:
        replicas = partition.track_replicas(self, self._clock.now_ms())
        if partition not in self.differing:
            self.differing[partition] = None
            for node_id in self._down:
                if node_id in replicas.by_node:
                    replicas.by_node[node_id].alive = False
        self._some_differ.set()
        return replicas

    def _partitions_of(self, nodes: Iterable[int]) -> Iterator[Partition]:
        """Partitions with replicas on all of these nodes, and on another one."""
        wanted = set(nodes)
        for topic in self._topics.all():
            for partition in topic.partitions:
                if len(partition.replicas) > 1 and wanted.issubset(partition.replicas):
                    yield partition

    # -- time

    async def run(self) -> None:
        """Look at the replicas while some differ, as leaders do: twice in `replica.lag.time.max.ms`."""
        while True:
            await self._some_differ.wait()
            await self._pause()
            self.look()
            if not self.differing:
                self._some_differ = trio.Event()

    def look(self) -> None:
        """Examine all replicas that differ from their leader."""
        self._forget_deleted()
        self._throttles.begin_look()
        self._replicate_all()
        self._throttles.end_look()

    async def _pause(self) -> None:
        """Until the next look, or until something arrives over a slow link or past a throttle."""
        until_ms: float = self._clock.now_ms() + self._pause_ms()
        while (left_ms := min(until_ms, self._arrives_ms or until_ms) - self._clock.now_ms()) > 0:
            self._arrival_known = trio.Event()
            with self._clock.move_on_after(left_ms / 1000):
                await self._arrival_known.wait()
        self._arrives_ms = None

    def _pause_ms(self) -> int:
        """Until the next look: earlier than leaders look if a test keeps a replica behind by less time."""
        lags = [lag.ms for lag in self._lags() if lag.ms is not None]
        return max(_SHORTEST_PAUSE_MS, min([self._config.get_int(MAX_LAG) // 2, *(ms // 4 for ms in lags)]))

    def _lags(self) -> Iterator[Lag]:
        for partition in self.differing:
            if partition.replica_set is not None:
                yield from (r.lag for r in partition.replica_set.by_node.values() if r.lag is not None)

    def _forget_deleted(self) -> None:
        for key in [key for key in self._held if key[0].deleted]:
            del self._held[key]
        self._lost = {key for key in self._lost if not key[0].deleted}
        for partition in [partition for partition in self.differing if partition.deleted]:
            del self.differing[partition]
