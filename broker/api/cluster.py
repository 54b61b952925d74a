"""DescribeCluster (60), DescribeLogDirs (35), UpdateFeatures (57), DescribeQuorum (55) and what moves leaders and
replicas: ElectLeaders (43), AlterPartitionReassignments (45), ListPartitionReassignments (46).

DescribeCluster versions 0 to 2. v1: kind of endpoint (KIP-919); v2: nodes that are down (KIP-1073). DescribeLogDirs 1
to 5. v4: size of the volume (KIP-827); v5: cordoned directories. UpdateFeatures 0 to 2. DescribeQuorum 0 to 2.
ElectLeaders 0 to 2. AlterPartitionReassignments 0 and 1.

One log serves all replicas, so a reassignment is done when the answer is, and none is ever listed as ongoing.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator

from odradek.broker.api.metadata import ALL_CLUSTER_OPERATIONS, NOT_ASKED
from odradek.broker.controller.commands import (
    ElectLeaders,
    FeatureUpdate,
    Reassignment,
    ReassignPartitions,
    UpdateFeatures,
)
from odradek.broker.metadata.image import directory_of
from odradek.broker.partitions.partition import Partition
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.message import ZERO_UUID
from odradek.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from odradek.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from odradek.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from odradek.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from odradek.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from odradek.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from odradek.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

_BROKERS, _CONTROLLERS = 1, 2
_PREFERRED, _UNCLEAN = 0, 1
_UPGRADE, _SAFE_DOWNGRADE = 1, 2
_METADATA_TOPIC = "__cluster_metadata"
_NO_SUCH_PARTITION = "This server does not host this topic-partition."
_IN_MEMORY = "memory"
_QUORUM_NODES_FROM = 2


@handles(DescribeClusterRequest)
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
    return DescribeClusterResponse(
        cluster_id=ctx.services.cluster_id,
        controller_id=ctx.services.controller.controller_id,
        brokers=[
            DescribeClusterBroker(node.id, *node.address_for(ctx.connection.host), node.rack, not node.up)
            for node in ctx.services.nodes.values()
            if node.up or request.include_fenced_brokers
        ],
        cluster_authorized_operations=ALL_CLUSTER_OPERATIONS if asked else NOT_ASKED,
    )


@handles(DescribeLogDirsRequest, differs="without a data directory the one log directory is called 'memory'")
def describe_log_dirs(ctx: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    """The node's log directory with the sizes of its replicas in bytes."""
    registry = ctx.services.topics
    wanted: dict[str, set[int] | None] = {}
    if request.topics is None:
        wanted = {topic.name: None for topic in registry}
    else:
        for asked in request.topics:
            indexes = wanted.setdefault(asked.topic, set())
            assert indexes is not None
            indexes.update(asked.partitions)
    topics = []
    for name, chosen in wanted.items():
        topic = registry.get(name)
        if topic is not None:
            partitions = [
                _sized(partition)
                for partition in topic.partitions
                if ctx.node.id in partition.replicas and (chosen is None or partition.index in chosen)
            ]
            if partitions:
                topics.append(DescribeLogDirsTopic(name, partitions))
    result = DescribeLogDirsResult(log_dir=_IN_MEMORY, topics=topics)
    if ctx.node.log_dir is not None:
        usage = shutil.disk_usage(ctx.node.log_dir)
        result.log_dir = str(ctx.node.log_dir)
        result.total_bytes, result.usable_bytes = usage.total, usage.free
    return DescribeLogDirsResponse(results=[result])


def _sized(partition: Partition) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(partition.index, partition.log.size_bytes if partition.opened else 0)


# -- features


@handles(UpdateFeaturesRequest)
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


@handles(DescribeQuorumRequest)
def describe_quorum(ctx: RequestContext, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    """Leader and voters of the cluster's metadata (KIP-595); any other partition is unknown."""
    asked = [(topic.topic_name, [p.partition_index for p in topic.partitions]) for topic in request.topics]
    if asked == [(_METADATA_TOPIC, [0])]:
        partition = _metadata_partition(ctx)
        return DescribeQuorumResponse(
            topics=[ResponseTopicData(_METADATA_TOPIC, [partition])],
            nodes=[
                Node(node.id, [Listener("CONTROLLER", *node.address_for(ctx.connection.host))])
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
            directory_of(services.image, node.id) if ctx.api_version >= _QUORUM_NODES_FROM else ZERO_UUID,
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


# -- leaders and replicas


@handles(ElectLeadersRequest)
def elect_leaders(ctx: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Hand leadership to the preferred replica, or (unclean) to any live one where there is no leader (KIP-460)."""
    all_partitions = request.topic_partitions is None
    asked: list[tuple[str, list[int]]]
    if request.topic_partitions is None:
        asked = [(topic.name, list(range(len(topic.partitions)))) for topic in ctx.services.image.topics.values()]
    else:
        asked = [(topic.topic, topic.partitions) for topic in request.topic_partitions]
    unknown = request.election_type not in (_PREFERRED, _UNCLEAN)
    places = [(name, index) for name, indexes in asked for index in indexes]
    if unknown:
        text = f"Unknown election type {request.election_type}"
        errors: list[KafkaError | None] = [KafkaError(ErrorCode.INVALID_REQUEST, text)] * len(places)
    else:
        command = ElectLeaders(places, unclean=request.election_type == _UNCLEAN)
        errors = ctx.services.controller.ask(command)
    answered = iter(errors)
    results = [
        ReplicaElectionResult(name, _elected(indexes, answered, only_needed=all_partitions)) for name, indexes in asked
    ]
    code = ErrorCode.INVALID_REQUEST if unknown else ErrorCode.NONE
    return ElectLeadersResponse(error_code=code, replica_election_results=results)


def _elected(
    indexes: Iterable[int], errors: Iterator[KafkaError | None], *, only_needed: bool
) -> list[PartitionResult]:
    """The results of one topic; `only_needed` leaves out partitions that have the right leader already."""
    results = []
    for index, error in zip(indexes, errors, strict=False):
        code, message = (ErrorCode.NONE, None) if error is None else (error.code, error.message)
        if not only_needed or code is not ErrorCode.ELECTION_NOT_NEEDED:
            results.append(PartitionResult(index, code, message))
    return results


@handles(AlterPartitionReassignmentsRequest)
def alter_partition_reassignments(
    ctx: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """Give partitions other replicas; it is done at once, so there is never one to cancel."""
    asked = [
        Reassignment((topic.name, partition.partition_index), partition.replicas)
        for topic in request.topics
        for partition in topic.partitions
    ]
    allowed = request.allow_replication_factor_change
    results = ctx.services.controller.ask(ReassignPartitions(asked, allow_factor_change=allowed))
    errors = iter(results)
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=allowed,
        error_message=None if request.topics else "",
        responses=[
            ReassignableTopicResponse(
                topic.name,
                [_reassigned(partition.partition_index, next(errors)) for partition in topic.partitions],
            )
            for topic in request.topics
        ],
    )


def _reassigned(index: int, error: KafkaError | None) -> ReassignablePartitionResponse:
    code, message = (ErrorCode.NONE, None) if error is None else (error.code, error.message)
    return ReassignablePartitionResponse(index, code, message)


@handles(ListPartitionReassignmentsRequest)
def list_partition_reassignments(
    ctx: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """None: a reassignment is over when AlterPartitionReassignments has answered."""
    return ListPartitionReassignmentsResponse(error_message=None, topics=[])
