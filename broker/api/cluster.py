"""The nodes of the cluster: DescribeCluster (60), DescribeLogDirs (35), UpdateFeatures (57), DescribeQuorum (55),
UnregisterBroker (64), UnregisterController (94), AddRaftVoter (80) and RemoveRaftVoter (81).

DescribeCluster versions 0 to 2. v1: kind of endpoint (KIP-919); v2: nodes that are down (KIP-1073). DescribeLogDirs 1
to 5. v4: size of the volume (KIP-827); v5: cordoned directories. UpdateFeatures 0 to 2. DescribeQuorum 0 to 2.

UnregisterBroker version 0 (KIP-500). A broker that is up may be unregistered, too: it goes on answering, but it is in
no list, leads nothing and gets no partitions until it starts again. AddRaftVoter 0 and 1, RemoveRaftVoter 0 (KIP-853):
the controllers of this process stop voting and vote again. No other would answer.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

from odradek.broker.api.lookups import NOT_THIS_ONE, check_forwards, reachable, told_controller
from odradek.broker.api.metadata import NOT_ASKED, authorized_on_cluster
from odradek.broker.config.requirements import SINCE as CORDONS_SINCE
from odradek.broker.config.requirements import cordoned
from odradek.broker.controller import broker_control
from odradek.broker.controller.feature_control import FeatureUpdate
from odradek.broker.controller.feature_levels import CONTROLLERS_SINCE
from odradek.broker.controller.membership import CONTROLLER_LISTENER, controller_endpoints
from odradek.broker.controller.quorum import Progress
from odradek.broker.metadata.image import METADATA_VERSION
from odradek.broker.partitions.partition import Partition
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import CLUSTER_REFUSED, OPEN, Whole, handles
from odradek.broker.security.acl import Operation
from odradek.protocol.errors import ErrorCode, KafkaError, code_and_text
from odradek.protocol.generated.messages import describe_quorum as dq
from odradek.protocol.generated.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
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
from odradek.protocol.generated.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from odradek.protocol.generated.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from odradek.protocol.generated.messages.unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from odradek.protocol.generated.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.message import ZERO_UUID
from odradek.protocol.uuids import uuid_to_text

_BROKERS, _CONTROLLERS = 1, 2
_ENDPOINT_TYPES = {_BROKERS: "BROKER", _CONTROLLERS: "CONTROLLER"}
_METADATA_TOPIC = "__cluster_metadata"
_METADATA_PARTITION = [(_METADATA_TOPIC, [0])]
_NOT_LEADER = (
    "For requests intended only for the leader, this error indicates that the broker is not the current leader. For "
    "requests intended for any replica, this error indicates that the broker is not a replica of the topic partition."
)
_NO_SUCH_PARTITION = "This server does not host this topic-partition."
_NOBODY = -1
_QUORUM_NODES_FROM = 2
_ENDPOINT_TYPE_FROM = 1


@handles(DescribeClusterRequest, access=OPEN)
def describe_cluster(ctx: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    """The nodes and the controller; only brokers answer here, so asking for controllers is an error."""
    refused = _other_endpoint(ctx, request, _BROKERS)
    if refused is not None:
        return refused
    asked = request.include_cluster_authorized_operations
    registered = ctx.services.image.brokers
    brokers = [
        DescribeClusterBroker(node.id, *address, node.rack, not node.up)
        for node, address in reachable(ctx, ctx.services.nodes.values())
        if node.up or (request.include_fenced_brokers and node.id in registered)
    ]
    return DescribeClusterResponse(
        cluster_id=ctx.services.cluster_id,
        controller_id=told_controller(ctx) if brokers else _NOBODY,
        brokers=brokers,
        cluster_authorized_operations=authorized_on_cluster(ctx) if asked else NOT_ASKED,
    )


def describe_controllers(ctx: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    """A controller's answer to DescribeCluster: the registered controllers that have the client's listener."""
    refused = _other_endpoint(ctx, request, _CONTROLLERS)
    if refused is not None:
        return refused
    if ctx.services.image.feature(METADATA_VERSION) < CONTROLLERS_SINCE:
        text = "Direct-to-controller communication is not supported with the current MetadataVersion."
        return DescribeClusterResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, error_message=text)
    asked = request.include_cluster_authorized_operations
    controllers = ctx.services.image.controllers.values()
    return DescribeClusterResponse(
        endpoint_type=_CONTROLLERS,
        cluster_id=ctx.services.cluster_id,
        controller_id=ctx.services.controller.controller_id,
        brokers=[
            DescribeClusterBroker(each.id, endpoint.host, endpoint.port)
            for each in controllers
            for endpoint in each.endpoints
            if endpoint.name == ctx.connection.listener
        ],
        cluster_authorized_operations=authorized_on_cluster(ctx) if asked else NOT_ASKED,
    )


def _other_endpoint(ctx: RequestContext, request: DescribeClusterRequest, here: int) -> DescribeClusterResponse | None:
    """The refusal of a request for other nodes than those that answer `here`."""
    wanted = _ENDPOINT_TYPES.get(request.endpoint_type)
    if wanted is None:
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message=f"Unsupported endpoint type {request.endpoint_type}",
        )
    if request.endpoint_type == here:
        return None
    known = ctx.api_version >= _ENDPOINT_TYPE_FROM
    return DescribeClusterResponse(
        error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE if known else ErrorCode.INVALID_REQUEST,
        error_message=f"The request was sent to an endpoint of type {_ENDPOINT_TYPES[here]}, but we wanted an endpoint "
        f"of type {wanted}",
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
        wanted = {topic.name: None for topic in ctx.services.topics.all()}
    else:
        for asked in request.topics:
            indexes = wanted.setdefault(asked.topic, set())
            assert indexes is not None
            indexes.update(asked.partitions)
    results = []
    told = ctx.services.image.feature(METADATA_VERSION) >= CORDONS_SINCE
    closed = cordoned(ctx.services.config, ctx.node.id) if told else ()
    for path in ctx.node.directory_paths:
        result = DescribeLogDirsResult(log_dir=path, topics=_topics_in(ctx, path, wanted), is_cordoned=path in closed)
        if ctx.node.log_dirs:
            usage = shutil.disk_usage(path)
            result.total_bytes, result.usable_bytes = usage.total, usage.free
        results.append(result)
    results += _failed_directories(ctx)
    return DescribeLogDirsResponse(results=results)


def _failed_directories(ctx: RequestContext) -> Iterator[DescribeLogDirsResult]:
    """Each replica that the node has lost with its disk, as a directory of its own without further facts."""
    directories = ctx.services.topics.directories
    first = ctx.node.directory_paths[0]
    for topic in ctx.services.topics.all():
        for partition in topic.partitions:
            if _is_lost(partition, ctx.node.id):
                path = (
                    first if directories is None else str(directories.path_of(ctx.node.id, topic.name, partition.index))
                )
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
            and (directories is None or str(directories.path_of(ctx.node.id, name, partition.index)) == path)
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
    """Finalize feature levels (KIP-584): up to Kafka 3.9 each that is valid, since then all of them or none."""
    check_forwards(ctx, NOT_THIS_ONE)
    updates = {
        # `allow_downgrade` of v0 has no effect: fields that v0 lacks have their default, an upgrade.
        update.feature: FeatureUpdate(update.feature, update.max_version_level, update.upgrade_type)
        for update in request.feature_updates
    }
    in_order = [updates[feature] for feature in java_order(updates, hash_of_text)]
    try:
        refused = ctx.services.controller.update_features(in_order, validate_only=request.validate_only)
    except KafkaError as error:
        if error.code is not ErrorCode.INVALID_UPDATE_VERSION:
            raise
        text = f"The update failed for all features since the following feature had an error: {error.message}"
        return UpdateFeaturesResponse(error_code=error.code, error_message=text)
    if ctx.release.updates_features_one_by_one:
        rows = [UpdatableFeatureResult(name, *code_and_text(refused.get(name))) for name in sorted(updates)]
        return UpdateFeaturesResponse(error_message="", results=rows)
    # Up to v1 Kafka writes the name of "no error" where a message would stand.
    results = [UpdatableFeatureResult(update.feature, ErrorCode.NONE, "NONE") for update in request.feature_updates]
    return UpdateFeaturesResponse(error_message=None, results=results if ctx.api_version <= 1 else [])


# -- the quorum


@handles(dq.DescribeQuorumRequest, access=Whole(Operation.DESCRIBE, message=CLUSTER_REFUSED))
def describe_quorum(ctx: RequestContext, request: dq.DescribeQuorumRequest) -> dq.DescribeQuorumResponse:
    """Leader and voters of the cluster's metadata (KIP-595); any other partition is unknown."""
    asked = _asked_partitions(request)
    if asked == _METADATA_PARTITION:
        partition = _metadata_partition(ctx)
        return dq.DescribeQuorumResponse(
            topics=[dq.ResponseTopicData(_METADATA_TOPIC, [partition])],
            nodes=[
                dq.Node(node.id, [dq.Listener(*each[:3]) for each in controller_endpoints(node, ctx.connection.host)])
                for node in ctx.services.quorum.voters
                if ctx.api_version >= _QUORUM_NODES_FROM
            ],
        )
    return _no_quorum(asked)


def describe_quorum_of_controller(ctx: RequestContext, request: dq.DescribeQuorumRequest) -> dq.DescribeQuorumResponse:
    """A controller's answer to DescribeQuorum. Only the leader answers."""
    asked = _asked_partitions(request)
    if asked != _METADATA_PARTITION or ctx.node.id == ctx.services.controller.controller_id:
        return describe_quorum(ctx, request)
    text = _NOT_LEADER if ctx.api_version >= _QUORUM_NODES_FROM else ""
    partition = dq.ResponsePartitionData(0, ErrorCode.NOT_LEADER_OR_FOLLOWER, text)
    return dq.DescribeQuorumResponse(topics=[dq.ResponseTopicData(_METADATA_TOPIC, [partition])])


def _asked_partitions(request: dq.DescribeQuorumRequest) -> list[tuple[str, list[int]]]:
    return [(topic.topic_name, [p.partition_index for p in topic.partitions]) for topic in request.topics]


def _no_quorum(asked: list[tuple[str, list[int]]]) -> dq.DescribeQuorumResponse:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return dq.DescribeQuorumResponse(
        topics=[
            dq.ResponseTopicData(name, [dq.ResponsePartitionData(index, code, _NO_SUCH_PARTITION) for index in indexes])
            for name, indexes in asked
        ]
    )


def _metadata_partition(ctx: RequestContext) -> dq.ResponsePartitionData:
    """The one log that all nodes have."""
    controller, quorum = ctx.services.controller, ctx.services.quorum
    voters, observers = quorum.progress()
    return dq.ResponsePartitionData(
        leader_id=controller.controller_id,
        leader_epoch=quorum.leader_epoch,
        high_watermark=controller.next_offset,
        current_voters=[_replica_state(ctx, each) for each in voters],
        observers=[_replica_state(ctx, each) for each in observers],
    )


def _replica_state(ctx: RequestContext, progress: Progress) -> dq.ReplicaState:
    return dq.ReplicaState(
        progress.node_id,
        progress.directory_id if ctx.api_version >= _QUORUM_NODES_FROM else ZERO_UUID,
        log_end_offset=progress.end_offset,
        last_fetch_timestamp=progress.fetched_ms,
        last_caught_up_timestamp=progress.caught_up_ms,
    )


# -- membership: brokers and controllers that go, and voters


@handles(UnregisterBrokerRequest, access=Whole(Operation.ALTER))
def unregister_broker(ctx: RequestContext, request: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
    """Take a broker out of the cluster."""
    ctx.services.controller.ask(broker_control.unregister_broker, request.broker_id)
    return UnregisterBrokerResponse()


@handles(UnregisterControllerRequest, access=Whole(Operation.ALTER))
def unregister_controller(ctx: RequestContext, request: UnregisterControllerRequest) -> UnregisterControllerResponse:
    """Take a controller out of the list of those that are registered (KIP-1312)."""
    ctx.services.controller.ask(broker_control.unregister_controller, request.controller_id)
    return UnregisterControllerResponse(error_message=None)


@handles(AddRaftVoterRequest, access=Whole(Operation.ALTER, message=CLUSTER_REFUSED))
def add_raft_voter(ctx: RequestContext, request: AddRaftVoterRequest) -> AddRaftVoterResponse:
    """Let a controller of the process that observes vote. No other that could be added would answer."""
    voter = _checked_voter(ctx, "Add", request.cluster_id, request.voter_id, request.voter_directory_id)
    _check_listeners(ctx, request.listeners)
    _check_reconfiguration(ctx, "adding")
    quorum = ctx.services.quorum
    if any(request.voter_id == each.id for each in quorum.voters):
        text = f"The voter id for {voter} is already part of the set of voters {_voters(ctx)}."
        raise KafkaError(ErrorCode.DUPLICATE_VOTER, text)
    controller = next((each for each in quorum.controllers if each.id == request.voter_id and each.runs), None)
    if controller is None:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"New voter {voter} is not ready to receive requests")
    if controller.metadata_directory != request.voter_directory_id:
        text = f"Aborted add voter operation for {voter} since it is lagging behind"
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, text)
    quorum.add(controller)
    return AddRaftVoterResponse(error_message=None)


@handles(RemoveRaftVoterRequest, access=Whole(Operation.ALTER, message=CLUSTER_REFUSED))
def remove_raft_voter(ctx: RequestContext, request: RemoveRaftVoterRequest) -> RemoveRaftVoterResponse:
    """Let a controller observe. The last voter stays."""
    shown = _checked_voter(ctx, "Remove", request.cluster_id, request.voter_id, request.voter_directory_id)
    _check_reconfiguration(ctx, "removing")
    quorum = ctx.services.quorum
    key = request.voter_id, request.voter_directory_id
    voter = next((each for each in quorum.voters if (each.id, each.metadata_directory) == key), None)
    if voter is None or len(quorum.voters) == 1:
        raise KafkaError(
            ErrorCode.VOTER_NOT_FOUND, f"Cannot remove voter {shown} from the set of voters {_voters(ctx)}"
        )
    if not any(other.controls for other in quorum.voters if other is not voter):
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"{shown} is the only voter that is up")
    quorum.remove(voter)
    return RemoveRaftVoterResponse(error_message=None)


def _checked_voter(ctx: RequestContext, what: str, cluster_id: str | None, voter_id: int, directory: bytes) -> str:
    """The voter as Kafka's texts show it."""
    ours = ctx.services.cluster_id
    if cluster_id is not None and cluster_id != ours:
        text = f'The given id "{cluster_id}" doesn\'t match the cluster id "{ours}"'
        raise KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, text)
    if voter_id < 0 or directory == ZERO_UUID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{what} voter request didn't include a valid voter")
    return _shown(voter_id, directory)


def _check_listeners(ctx: RequestContext, listeners: list[Listener]) -> None:
    services = ctx.services
    controllers = services.quorum.voters[0].controllers
    default = next(iter(controllers), CONTROLLER_LISTENER)
    if not any(listener.name.upper() == default.upper() for listener in listeners):
        by_name = {each.name.upper(): each for each in listeners}
        given = ", ".join(
            f"ListenerName({name})={by_name[name].host}/<unresolved>:{by_name[name].port}"
            for name in java_order(by_name, hash_of_text)
        )
        text = (
            f"Add voter request didn't include the endpoint (Endpoints(endpoints={{{given}}})) for the default "
            f"listener ListenerName({default})"
        )
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)


def _check_reconfiguration(ctx: RequestContext, what: str) -> None:
    level = ctx.services.controller.kraft_version
    if level < 1:
        text = f"Cluster doesn't support {what} voter because the kraft.version feature is {level}"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)


def _voters(ctx: RequestContext) -> str:
    voters = ctx.services.quorum.voters
    return f"[{', '.join(_shown(each.id, each.metadata_directory) for each in voters)}]"


def _shown(voter_id: int, directory: bytes) -> str:
    return f"ReplicaKey(id={voter_id}, directoryId={uuid_to_text(directory)})"
