"""DescribeCluster (60), DescribeLogDirs (35), UpdateFeatures (57) and DescribeQuorum (55).

DescribeCluster versions 0 to 2. v1: kind of endpoint (KIP-919); v2: nodes that are down (KIP-1073). DescribeLogDirs 1
to 5. v4: size of the volume (KIP-827); v5: cordoned directories. UpdateFeatures 0 to 2. DescribeQuorum 0 to 2.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

from odradek.broker.api.leader_hints import reachable
from odradek.broker.api.metadata import NOT_ASKED, authorized_on_cluster
from odradek.broker.api.replica_log_dirs import directory_paths
from odradek.broker.controller.commands import FeatureUpdate, UpdateFeatures
from odradek.broker.controller.membership import controller_endpoints
from odradek.broker.partitions.partition import Partition
from odradek.broker.requests.access import CLUSTER_REFUSED, OPEN, Whole
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.broker.security.acl import Operation
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from odradek.protocol.generated.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from odradek.protocol.generated.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from odradek.protocol.generated.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from odradek.protocol.message import ZERO_UUID

_BROKERS, _CONTROLLERS = 1, 2
_UPGRADE, _SAFE_DOWNGRADE = 1, 2
_METADATA_TOPIC = "__cluster_metadata"
_NO_SUCH_PARTITION = "This server does not host this topic-partition."
_NOBODY = -1
_QUORUM_NODES_FROM = 2


@handles(DescribeClusterRequest, access=OPEN)
def describe_cluster(ctx: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    """The nodes and the controller; only brokers answer here, so asking for controllers is an error."""
    if request.endpoint_type == _CONTROLLERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
            "CONTROLLER",
        )
    if request.endpoint_type != _BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message=f"Unsupported endpoint type {request.endpoint_type}",
        )
    asked = request.include_cluster_authorized_operations
    brokers = [
        DescribeClusterBroker(node.id, *address, node.rack, not node.up)
        for node, address in reachable(ctx, ctx.services.nodes.values())
        if node.up or request.include_fenced_brokers
    ]
    return DescribeClusterResponse(
        cluster_id=ctx.services.cluster_id,
        controller_id=ctx.services.controller.controller_id if brokers else _NOBODY,
        brokers=brokers,
        cluster_authorized_operations=authorized_on_cluster(ctx) if asked else NOT_ASKED,
    )


@handles(
    DescribeLogDirsRequest,
    access=Whole(Operation.DESCRIBE),
    differs="without a data directory the one log directory is called 'memory'",
)
def describe_log_dirs(ctx: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    """The node's log directories with the sizes of their replicas in bytes."""
    wanted: dict[str, set[int] | None] = {}
    if request.topics is None:
        wanted = {topic.name: None for topic in ctx.services.topics}
    else:
        for asked in request.topics:
            indexes = wanted.setdefault(asked.topic, set())
            assert indexes is not None
            indexes.update(asked.partitions)
    results = []
    for path in directory_paths(ctx.node):
        result = DescribeLogDirsResult(log_dir=path, topics=_topics_in(ctx, path, wanted))
        if ctx.node.log_dirs:
            usage = shutil.disk_usage(path)
            result.total_bytes, result.usable_bytes = usage.total, usage.free
        results.append(result)
    results += _failed_directories(ctx)
    return DescribeLogDirsResponse(results=results)


def _failed_directories(ctx: RequestContext) -> Iterator[DescribeLogDirsResult]:
    """Each replica that the node has lost with its disk, as a directory of its own: there is nothing to tell of it."""
    directories = ctx.services.topics.directories
    first = directory_paths(ctx.node)[0]
    for topic in ctx.services.topics:
        for partition in topic.partitions:
            if _is_lost(partition, ctx.node.id):
                path = first if directories is None else str(directories.path_of(topic.name, partition.index))
                folder = f"{path}/{topic.name}-{partition.index}"
                yield DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=folder)


def _is_lost(partition: Partition, node_id: int) -> bool:
    copy = partition.copy_on(node_id)
    return copy is not None and copy.lost


def _topics_in(ctx: RequestContext, path: str, wanted: Mapping[str, set[int] | None]) -> list[DescribeLogDirsTopic]:
    registry = ctx.services.topics
    directories = registry.directories
    topics = []
    for name, chosen in wanted.items():
        topic = registry.get(name)
        partitions = [
            _sized(partition, ctx.node.id)
            for partition in ([] if topic is None else topic.partitions)
            if ctx.node.id in partition.replicas
            and not _is_lost(partition, ctx.node.id)
            and (chosen is None or partition.index in chosen)
            and (directories is None or str(directories.path_of(name, partition.index)) == path)
        ]
        if partitions:
            topics.append(DescribeLogDirsTopic(name, partitions))
    return topics


def _sized(partition: Partition, node_id: int) -> DescribeLogDirsPartition:
    """A replica; how far it is behind is not told: on Kafka too the lag is that behind its own high watermark."""
    copy = partition.copy_on(node_id)
    if copy is not None and node_id != partition.leader_id:
        return DescribeLogDirsPartition(partition.index, copy.size_bytes)
    return DescribeLogDirsPartition(partition.index, partition.log.size_bytes if partition.opened else 0)


# -- features


@handles(UpdateFeaturesRequest, access=Whole(Operation.ALTER))
def update_features(ctx: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    """Finalize feature levels, all of them or none (KIP-584)."""
    updates = {update.feature: _feature_update(update, ctx.api_version) for update in request.feature_updates}
    try:
        ctx.services.controller.ask(UpdateFeatures(list(updates.values()), validate_only=request.validate_only))
    except KafkaError as error:
        if error.code is not ErrorCode.INVALID_UPDATE_VERSION:
            raise
        text = f"The update failed for all features since the following feature had an error: {error.message}"
        return UpdateFeaturesResponse(error_code=error.code, error_message=text)
    # Up to v1 Kafka writes the name of "no error" where a message would stand.
    results = [UpdatableFeatureResult(update.feature, ErrorCode.NONE, "NONE") for update in request.feature_updates]
    return UpdateFeaturesResponse(error_message=None, results=results if ctx.api_version <= 1 else [])


def _feature_update(update: FeatureUpdateKey, version: int) -> FeatureUpdate:
    upgrade_type = update.upgrade_type
    if version == 0:
        upgrade_type = _SAFE_DOWNGRADE if update.allow_downgrade else _UPGRADE
    return FeatureUpdate(update.feature, update.max_version_level, upgrade_type)


# -- the quorum


@handles(DescribeQuorumRequest, access=Whole(Operation.DESCRIBE, message=CLUSTER_REFUSED))
def describe_quorum(ctx: RequestContext, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    """Leader and voters of the cluster's metadata (KIP-595); any other partition is unknown."""
    asked = [(topic.topic_name, [p.partition_index for p in topic.partitions]) for topic in request.topics]
    if asked == [(_METADATA_TOPIC, [0])]:
        partition = _metadata_partition(ctx)
        return DescribeQuorumResponse(
            topics=[ResponseTopicData(_METADATA_TOPIC, [partition])],
            nodes=[
                Node(node.id, [Listener(*each[:3]) for each in controller_endpoints(node, ctx.connection.host)])
                for node in ctx.services.nodes.values()
                if node.id == ctx.services.controller.controller_id and ctx.api_version >= _QUORUM_NODES_FROM
            ],
        )
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DescribeQuorumResponse(
        topics=[
            ResponseTopicData(name, [ResponsePartitionData(index, code, _NO_SUCH_PARTITION) for index in indexes])
            for name, indexes in asked
        ]
    )


def _metadata_partition(ctx: RequestContext) -> ResponsePartitionData:
    """The one log that all nodes have: the controller leads, the other nodes are observers that have all of it."""
    services = ctx.services
    log = services.controller.log
    assert log is not None
    end = log.end_offset
    now_ms = services.clock.now_ms()
    states = [
        ReplicaState(
            node.id,
            node.metadata_directory if ctx.api_version >= _QUORUM_NODES_FROM else ZERO_UUID,
            log_end_offset=end,
            last_fetch_timestamp=now_ms,
            last_caught_up_timestamp=now_ms,
        )
        for node in services.nodes.values()
    ]
    leader_id = services.controller.controller_id
    return ResponsePartitionData(
        leader_id=leader_id,
        leader_epoch=log.leader_epoch,
        high_watermark=end,
        current_voters=[state for state in states if state.replica_id == leader_id],
        observers=[state for state in states if state.replica_id != leader_id],
    )
