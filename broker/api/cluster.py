"""DescribeCluster (60), DescribeLogDirs (35), UpdateFeatures (57), DescribeQuorum (55) and what moves leaders and
replicas: ElectLeaders (43), AlterPartitionReassignments (45), ListPartitionReassignments (46).

DescribeCluster versions 0 to 2. v1: kind of endpoint (KIP-919); v2: nodes that are down (KIP-1073). DescribeLogDirs 1
to 5. v4: size of the volume (KIP-827); v5: cordoned directories. UpdateFeatures 0 to 2: only transaction.version can
really change. DescribeQuorum 0 to 2. ElectLeaders 0 to 2. AlterPartitionReassignments 0 and 1.

One log serves all replicas, so a reassignment is done when the answer is, and none is ever listed as ongoing.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from odradek.broker.api.metadata import ALL_CLUSTER_OPERATIONS, NOT_ASKED
from odradek.broker.controller.features import SUPPORTED, TRANSACTION_VERSION
from odradek.broker.controller.leadership import elect_any, elect_preferred, set_replicas
from odradek.broker.controller.placement import check_replicas
from odradek.broker.partitions.partition import Partition
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.broker.requests.services import Services
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
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
_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3
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
        controller_id=ctx.services.controller_id,
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
    if ctx.services.data_dir is not None:
        usage = shutil.disk_usage(ctx.services.data_dir)
        result.log_dir = str(ctx.services.data_dir)
        result.total_bytes, result.usable_bytes = usage.total, usage.free
    return DescribeLogDirsResponse(results=[result])


def _sized(partition: Partition) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(partition.index, partition.log.size_bytes if partition.opened else 0)


# -- features


@handles(UpdateFeaturesRequest, differs="only transaction.version can be set to another level")
def update_features(ctx: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    """Finalize feature levels, all of them or none (KIP-584)."""
    updates = {update.feature: update for update in request.feature_updates}
    try:
        for update in updates.values():
            _check_update(ctx.services, update, ctx.api_version)
    except KafkaError as error:
        text = f"The update failed for all features since the following feature had an error: {error.message}"
        return UpdateFeaturesResponse(error_code=error.code, error_message=text)
    if not request.validate_only:
        for update in updates.values():
            ctx.services.features.set_level(update.feature, update.max_version_level)
        ctx.services.metadata_changed()
    # Up to v1 Kafka writes the name of "no error" where a message would stand.
    results = [UpdatableFeatureResult(each.feature, ErrorCode.NONE, "NONE") for each in request.feature_updates]
    return UpdateFeaturesResponse(error_message=None, results=results if ctx.api_version <= 1 else [])


def _check_update(services: Services, update: FeatureUpdateKey, version: int) -> None:
    level = update.max_version_level

    def refuse(why: str) -> KafkaError:
        text = f"Invalid update version {level} for feature {update.feature}. {why}"
        return KafkaError(ErrorCode.INVALID_UPDATE_VERSION, text)

    upgrade_type = update.upgrade_type
    if version == 0:
        upgrade_type = _SAFE_DOWNGRADE if update.allow_downgrade else _UPGRADE
    if upgrade_type not in (_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE):
        raise refuse("The controller does not support the given upgrade type.")
    if level < 0:
        raise refuse("A feature version cannot be less than 0.")
    if update.feature not in SUPPORTED:
        raise refuse(f"Local controller {services.controller_id} does not support this feature.")
    low, high = SUPPORTED[update.feature]
    if not low <= level <= high:
        raise refuse(f"Local controller {services.controller_id} only supports versions {low}-{high}")
    current = services.features.level(update.feature)
    if level < current and upgrade_type == _UPGRADE:
        raise refuse(
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade."
        )
    if level != current and update.feature != TRANSACTION_VERSION:
        raise refuse(f"odradek works at version {current} of this feature only.")


# -- the quorum


@handles(DescribeQuorumRequest, differs="there is no metadata log: its offsets count the changes of topics")
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
                if node.id == ctx.services.controller_id and ctx.api_version >= _QUORUM_NODES_FROM
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
    services = ctx.services
    end = services.topics.version
    now_ms = services.clock.now_ms()
    states = [
        ReplicaState(node.id, log_end_offset=end, last_fetch_timestamp=now_ms, last_caught_up_timestamp=now_ms)
        for node in services.nodes.values()
    ]
    return ResponsePartitionData(
        leader_id=services.controller_id,
        leader_epoch=1,
        high_watermark=end,
        current_voters=[state for state in states if state.replica_id == services.controller_id],
        observers=[state for state in states if state.replica_id != services.controller_id],
    )


# -- leaders and replicas


@handles(ElectLeadersRequest)
def elect_leaders(ctx: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Hand leadership to the preferred replica, or (unclean) to any live one where there is no leader (KIP-460)."""
    asked: Iterable[tuple[str, list[int]]]
    if request.topic_partitions is None:
        asked = [(topic.name, [p.index for p in topic.partitions]) for topic in ctx.services.topics]
    else:
        asked = [(topic.topic, topic.partitions) for topic in request.topic_partitions]
    unknown = request.election_type not in (_PREFERRED, _UNCLEAN)
    results = []
    for name, indexes in asked:
        outcome = [_elect(ctx.services, name, index, request.election_type) for index in indexes]
        if request.topic_partitions is None:
            outcome = [entry for entry in outcome if entry.error_code != ErrorCode.ELECTION_NOT_NEEDED]
        results.append(ReplicaElectionResult(name, outcome))
    code = ErrorCode.INVALID_REQUEST if unknown else ErrorCode.NONE
    return ElectLeadersResponse(error_code=code, replica_election_results=results)


def _elect(services: Services, name: str, index: int, election_type: int) -> PartitionResult:
    try:
        if election_type not in (_PREFERRED, _UNCLEAN):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown election type {election_type}")
        topic = services.topics.get(name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
        if not 0 <= index < len(topic.partitions):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
        elect = elect_preferred if election_type == _PREFERRED else elect_any
        elect(services, topic.partitions[index])
    except KafkaError as error:
        return PartitionResult(index, error.code, error.message)
    return PartitionResult(index, error_message=None)


@handles(AlterPartitionReassignmentsRequest)
def alter_partition_reassignments(
    ctx: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """Give partitions other replicas; it is done at once, so there is never one to cancel."""
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None if request.topics else "",
        responses=[
            ReassignableTopicResponse(
                topic.name,
                [
                    _reassign(ctx.services, topic.name, partition, request.allow_replication_factor_change)
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _reassign(
    services: Services, name: str, asked: ReassignablePartition, allow_factor_change: bool
) -> ReassignablePartitionResponse:
    index, replicas = asked.partition_index, asked.replicas
    try:
        topic = services.topics.get(name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
        if not 0 <= index < len(topic.partitions):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{index}.")
        if replicas is None:
            raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        check_replicas(services.nodes, replicas, None)
        partition = topic.partitions[index]
        if not allow_factor_change and len(replicas) != len(partition.replicas):
            text = f"The replication factor is changed from {len(partition.replicas)} to {len(replicas)}"
            raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
        if list(replicas) != partition.replicas:
            set_replicas(services, partition, replicas)
            services.metadata_changed()
    except KafkaError as error:
        return ReassignablePartitionResponse(index, error.code, error.message)
    return ReassignablePartitionResponse(index, error_message=None)


@handles(ListPartitionReassignmentsRequest)
def list_partition_reassignments(
    ctx: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """None: a reassignment is over when AlterPartitionReassignments has answered."""
    return ListPartitionReassignmentsResponse(error_message=None, topics=[])
