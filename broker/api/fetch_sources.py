"""The source of a fetch: which replica a client may read, and how far. Consumers may read from followers, and followers
may read uncommitted records.

KIP-392 (reading from followers, and the closest of them), KIP-595 (diverging logs), KIP-903 (epochs of brokers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.api.leader_hints import reachable
from odradek.broker.partitions.copy_producers import stable_offset
from odradek.broker.partitions.rack_selector import closest_replica
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.fetch import EpochEndOffset, PartitionData

if TYPE_CHECKING:
    from odradek.broker.partitions.fetch_sessions import FetchItem
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.requests.context import RequestContext
    from odradek.protocol.generated.messages.fetch import FetchRequest
    from odradek.storage.partition_log import PartitionLog

FIRST_VERSION_WITH_FOLLOWERS = 11
_ANY_EPOCH = -1


def rack_of(ctx: RequestContext, request: FetchRequest) -> str:
    """The rack of a consumer that may be sent to a replica in it; empty for all others.

    Versions before followers could be read have no rack.
    """
    rack = request.rack_id
    return rack if rack and ctx.services.config.get("replica.selector.class") else ""


def check_source(item: FetchItem, partition: Partition, node_id: int, *, any_replica: bool) -> None:
    """Raise unless this node may be read: as the leader, or as a follower by a consumer that knows of them."""
    if any_replica and node_id in partition.replicas:
        partition.check_disk(node_id)
        partition.check_epoch(item.current_leader_epoch)
    else:
        partition.check_leader(node_id, item.current_leader_epoch)


def copy_of_follower(partition: Partition, node_id: int, offset: int) -> tuple[PartitionLog, int, int, int]:
    """The log that a follower has, up to where, its high watermark and its last stable offset."""
    copy = partition.copy_on(node_id)
    if copy is None:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if offset > copy.end:
        text = f"offset {offset} is behind the end of the copy of node {node_id}, {copy.end}"
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, text)
    return copy.log, copy.end, copy.high_watermark, stable_offset(copy)


def closest(ctx: RequestContext, partition: Partition, item: FetchItem, rack: str) -> PartitionData | None:
    """The closer replica that this consumer should read from, as an answer without records; None if it is this one."""
    racks = {node.id: node.rack for node, _ in reachable(ctx, ctx.services.up_nodes())}
    node = closest_replica(partition, rack, item.fetch_offset, racks)
    if node is None:
        return None
    log = partition.log
    data = PartitionData(item.index, 0, log.high_watermark, log.last_stable_offset, log.log_start_offset)
    data.aborted_transactions = None
    data.preferred_read_replica = node
    data.records = b""
    return data


def check_follower(ctx: RequestContext, partition: Partition, item: FetchItem, request: FetchRequest) -> None:
    """Raise unless who fetches as a replica names one of the partition, in its broker's present epoch."""
    node_id, epoch = follower_of(request)
    if node_id not in partition.replicas or node_id == partition.leader_id:
        unknown = item.current_leader_epoch >= 0
        raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH if unknown else ErrorCode.NOT_LEADER_OR_FOLLOWER)
    broker = ctx.services.image.brokers.get(node_id)
    if epoch != _ANY_EPOCH and broker is not None and not broker.fenced and broker.epoch > epoch:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)


def follower_of(request: FetchRequest) -> tuple[int, int]:
    """Node and broker epoch of the replica in whose name a request comes; less than 0 for a consumer."""
    if request.replica_id >= 0:
        return request.replica_id, _ANY_EPOCH
    return request.replica_state.replica_id, request.replica_state.replica_epoch


def note_follower(ctx: RequestContext, partition: Partition, node_id: int, offset: int) -> None:
    """The leader takes where a replica fetches for the end of its log, whoever has sent the request."""
    if partition.replica_set is not None and partition.replicator is not None:
        partition.replica_set.fetched_as(node_id, offset, ctx.services.clock.now_ms())
        partition.replicator.replicate(partition)


def diverging(log: PartitionLog, end: int, item: FetchItem) -> EpochEndOffset | None:
    """The offset where the client's log diverges from this one, if it does before the fetch offset. `end`: of this
    replica.
    """
    epoch, end_offset = log.end_offset_for_epoch(item.last_fetched_epoch)
    if epoch < 0 or end_offset < 0 or item.fetch_offset < log.log_start_offset:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    end_offset = min(end_offset, end)
    if epoch < item.last_fetched_epoch or end_offset < item.fetch_offset:
        return EpochEndOffset(epoch, end_offset)
    return None
