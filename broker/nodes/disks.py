"""Makes disks fail, or slow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import trio

from odradek.broker.controller.partition_control import assign_replicas
from odradek.broker.metadata.image import LOST_DIRECTORY
from odradek.broker.mistakes import did_you_mean
from odradek.broker.nodes.links import check_node
from odradek.broker.nodes.node_life import Undoing, halt_node, start_if_down
from odradek.broker.partitions.failing_disks import DiskFault, FailingDisks
from odradek.broker.partitions.lookups import find_partitions

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

DiskHow = Literal["full", "write", "read", "sync"]
_HOW = ("full", "write", "read", "sync")
_FLUSH = "odradek.flush"


def fail_disk(
    cluster: Cluster,
    node_id: int | None,
    how: DiskHow,
    topic: str | None = None,
    partition: int | None = None,
    offset: int | None = None,
) -> Undoing:
    """Make a node's disk fail; see `NodeVerbs.fail_disk`. Raises ValueError or KafkaError for what does not exist."""
    if how not in _HOW:
        raise ValueError(f"how={how!r}: expected one of {', '.join(_HOW)}{did_you_mean(str(how), _HOW)}")
    if how == "sync":
        _check_syncs(cluster, "a sync that fails")
    if offset is not None and (how != "read" or partition is None):
        raise ValueError("offset= chooses the segment that can't be read: it goes with how='read' and partition=")
    if partition is not None and topic is None:
        raise ValueError(f"partition={partition}: name the topic too")
    node_id = _node(cluster, node_id, topic, partition)
    token = trio.lowlevel.current_trio_token()
    fault = DiskFault(
        node_id, how, lambda: _hit(cluster, fault, token), topic=topic, partition=partition, offset=offset
    )
    disks_of(cluster).add(fault)
    return lambda: _mend(cluster, [fault])


def mend_disks(cluster: Cluster) -> None:
    """Repair the disks of all nodes. A node that its disk has stopped starts again."""
    if cluster.durability is not None:
        cluster.durability.late_ms.clear()
    if cluster.disks is not None:
        _mend(cluster, list(cluster.disks.faults))


def _mend(cluster: Cluster, faults: Sequence[DiskFault]) -> None:
    disks_of(cluster).remove(lambda fault: fault in faults)
    for node in sorted({fault.node_id for fault in faults}.intersection(cluster.nodes)):
        for topic, index in cluster.membership.find_disks(node):
            cluster.replicator.disk_back(cluster.topics.by_name(topic).partitions[index], node)
        halted = any(fault.whole_node and fault.hits for fault in faults if fault.node_id == node)
        if halted and node not in cluster.frozen:
            start_if_down(cluster, node)


def slow_disk(cluster: Cluster, node_id: int, ms: float) -> Undoing:
    """Make each sync of a node's disk take ``ms`` longer, on the broker's clock."""
    if ms <= 0:
        raise ValueError(f"ms={ms}: expected more than 0")
    _check_syncs(cluster, "a slow sync")
    _node(cluster, node_id, None, None)
    assert cluster.durability is not None
    late_ms = cluster.durability.late_ms
    late_ms[node_id] = round(ms)

    def undo() -> None:
        late_ms.pop(node_id, None)

    return undo


def disks_of(cluster: Cluster) -> FailingDisks:
    """The failing disks of a cluster; none at first."""
    if cluster.disks is None:
        cluster.disks = FailingDisks(cluster.topics)
        cluster.controller.follow(cluster.disks.publish, "created", "grown", "moved")
    return cluster.disks


def _check_syncs(cluster: Cluster, what: str) -> None:
    if cluster.durability is None:
        raise ValueError(f"{what} needs logs on disk: give the broker a data_dir")
    if cluster.config.get_str(_FLUSH) != "always":
        raise ValueError(f"{what} is noticed only where answers wait for it: set {_FLUSH}=always")


def _hit(cluster: Cluster, fault: DiskFault, token: trio.lowlevel.TrioToken) -> None:
    """Act like a broker whose disk fails, after the request that met the failure is answered. Syncs fail in threads."""
    token.run_sync_soon(_begin, cluster, fault, idempotent=True)


def _begin(cluster: Cluster, fault: DiskFault) -> None:
    if cluster.connection_nursery is not None:
        cluster.connection_nursery.start_soon(_halt if fault.whole_node else _lose, cluster, fault)


async def _lose(cluster: Cluster, fault: DiskFault) -> None:
    """Take the log directory offline, as Kafka does: other nodes become leaders of its partitions."""
    if cluster.disks is None or fault not in cluster.disks.faults or not cluster.nodes[fault.node_id].up:
        return
    node_id = fault.node_id
    lost = []
    for partition in cluster.disks.named_by(fault):
        place = cluster.image.partition(partition.topic.name, partition.index)
        if len(partition.replicas) > 1 and place is not None and not place.is_lost(node_id):
            cluster.replicator.disk_lost(partition, node_id)
            lost.append((partition.topic.topic_id, partition.index, LOST_DIRECTORY))
    if lost:
        cluster.controller.ask(assign_replicas, node_id, lost)


async def _halt(cluster: Cluster, fault: DiskFault) -> None:
    """Halt the node, as Kafka does if its only log directory fails. It answers requests until then."""
    if cluster.nodes[fault.node_id].up and cluster.disks is not None and fault in cluster.disks.faults:
        halt_node(cluster, fault.node_id)


def _node(cluster: Cluster, node_id: int | None, topic: str | None, partition: int | None) -> int:
    """The node whose disk fails; it must lead the topic or partition that is given."""
    leaders: Any = None
    if topic is not None:
        leaders = {each.leader_id for each in find_partitions(cluster.topics, topic, partition)}
    if node_id is None:
        candidates = set(cluster.nodes) if leaders is None else leaders
        if len(candidates) != 1:
            raise ValueError(f"node_id is needed: one of {', '.join(map(str, sorted(candidates)))}")
        node_id = next(iter(candidates))
    check_node(cluster, node_id)
    if leaders is not None and node_id not in leaders:
        what = topic if partition is None else f"{topic}-{partition}"
        raise ValueError(f"node {node_id} does not lead {what}: {', '.join(map(str, sorted(leaders)))}")
    return node_id
