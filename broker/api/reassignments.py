"""Leaders and replicas that move: ElectLeaders (43), Alter (45) and ListPartitionReassignments (46).

ElectLeaders versions 0 to 2. AlterPartitionReassignments 0 and 1: v1 may keep the number of replicas (KIP-860).

A reassignment begins with the answer, and is over when the new replicas are in sync: at once, unless a test keeps
records from them or their node is down.

AlterReplicaLogDirs (34) versions 1 and 2 moves replicas to another log directory of their node (KIP-113). v2 is
flexible. A move is done when it is answered; on Kafka it begins then.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

from odradek.broker.api.lookups import NOT_THIS_ONE, check_forwards, check_in_time, is_for_another
from odradek.broker.config.requirements import cordoned
from odradek.broker.controller import partition_control
from odradek.broker.controller.partition_control import Reassignment, reassign_partitions
from odradek.broker.metadata.image import TopicImage
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import Whole, handles
from odradek.broker.security.acl import Operation
from odradek.protocol.errors import ErrorCode, KafkaError, code_and_text
from odradek.protocol.generated.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from odradek.protocol.generated.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from odradek.protocol.generated.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from odradek.protocol.generated.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from odradek.protocol.java_maps import scala_order_by_topic

_PREFERRED, _UNCLEAN = 0, 1


@handles(ElectLeadersRequest, access=Whole(Operation.ALTER), in_parts=True)
def elect_leaders(ctx: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Hand leadership to the preferred replica, or (unclean) to any live one where there is no leader (KIP-460)."""
    if request.topic_partitions == []:
        return ElectLeadersResponse()
    all_partitions = request.topic_partitions is None
    asked: list[tuple[str, list[int]]]
    if request.topic_partitions is None:
        asked = [(topic.name, list(range(len(topic.partitions)))) for topic in ctx.services.image.topics.values()]
    else:
        asked = [(topic.topic, topic.partitions) for topic in request.topic_partitions]
    places = [(name, index) for name, indexes in asked for index in indexes]
    errors: list[KafkaError | None]
    if is_for_another(ctx):
        errors = [KafkaError(ErrorCode.NOT_CONTROLLER)] * len(places)
    elif request.timeout_ms > 0 and request.election_type not in (_PREFERRED, _UNCLEAN):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}")
    else:
        unclean = request.election_type == _UNCLEAN
        check_in_time(request.timeout_ms)
        errors = ctx.services.controller.ask(partition_control.elect_leaders, places, unclean=unclean)
    answered = iter(errors)
    results = [
        ReplicaElectionResult(name, _elected(indexes, answered, only_needed=all_partitions)) for name, indexes in asked
    ]
    return ElectLeadersResponse(replica_election_results=results)


def _elected(
    indexes: Iterable[int], errors: Iterator[KafkaError | None], *, only_needed: bool
) -> list[PartitionResult]:
    """The results of one topic; `only_needed` leaves out partitions that have the right leader already."""
    results = []
    for index, error in zip(indexes, errors, strict=False):
        code, message = code_and_text(error)
        if not only_needed or code is not ErrorCode.ELECTION_NOT_NEEDED:
            results.append(PartitionResult(index, code, message))
    return results


@handles(AlterPartitionReassignmentsRequest, access=Whole(Operation.ALTER), in_parts=True)
def alter_partition_reassignments(
    ctx: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """Give partitions other replicas, or (null replicas) cancel what is under way."""
    if is_for_another(ctx):
        return AlterPartitionReassignmentsResponse(error_code=ErrorCode.NOT_CONTROLLER, error_message=NOT_THIS_ONE)
    if not request.topics:
        return AlterPartitionReassignmentsResponse(error_message="")
    asked = [
        Reassignment((topic.name, partition.partition_index), partition.replicas)
        for topic in request.topics
        for partition in topic.partitions
    ]
    allowed = request.allow_replication_factor_change
    check_in_time(request.timeout_ms)
    errors = iter(ctx.services.controller.ask(reassign_partitions, asked, allow_factor_change=allowed))
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=allowed,
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                topic.name,
                [
                    ReassignablePartitionResponse(partition.partition_index, *code_and_text(next(errors)))
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


@handles(ListPartitionReassignmentsRequest, access=Whole(Operation.DESCRIBE))
def list_partition_reassignments(
    ctx: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """The reassignments that are under way, of all topics or of those that are named."""
    check_forwards(ctx, NOT_THIS_ONE)
    topics = ctx.services.image.topics
    if request.topics is None:
        asked = [(topic, range(len(topic.partitions))) for topic in topics.values()]
        ongoing = [_ongoing(topic, indexes) for topic, indexes in asked]
    else:
        named = [(topics.get(topic.name), topic.partition_indexes) for topic in request.topics]
        ongoing = [_ongoing(topic, indexes) for topic, indexes in named if topic is not None]
    return ListPartitionReassignmentsResponse(error_message=None, topics=[one for one in ongoing if one.partitions])


def _ongoing(topic: TopicImage, indexes: Iterable[int]) -> OngoingTopicReassignment:
    places = [(index, topic.partitions[index]) for index in indexes if 0 <= index < len(topic.partitions)]
    return OngoingTopicReassignment(
        topic.name,
        [
            OngoingPartitionReassignment(index, list(place.replicas), list(place.adding), list(place.removing))
            for index, place in places
            if place.is_reassigned
        ],
    )


# -- replicas to another log directory

_LONGEST_FOLDER = 255
_FUTURE_SUFFIX = len(".") + 32 + len("-future")
_log = logging.getLogger(__name__)


@handles(
    AlterReplicaLogDirsRequest,
    access=Whole(Operation.ALTER),
    differs="a replica has moved when the request is answered",
)
def alter_replica_log_dirs(ctx: RequestContext, request: AlterReplicaLogDirsRequest) -> AlterReplicaLogDirsResponse:
    """Bring replicas where they are asked to be; of one named twice the last directory counts."""
    wanted = {
        (topic.name, index): asked.path
        for asked in request.dirs
        for topic in asked.topics
        for index in topic.partitions
    }
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic,
                [
                    AlterReplicaLogDirPartitionResult(index, _outcome(ctx, topic, index, wanted[topic, index]))
                    for index in indexes
                ],
            )
            for topic, indexes in scala_order_by_topic(wanted)
        ]
    )


def _outcome(ctx: RequestContext, name: str, index: int, path: str) -> ErrorCode:
    """The error that Kafka answers, in the order of its checks."""
    if len(f"{name}-{index}") + _FUTURE_SUFFIX > _LONGEST_FOLDER:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if path not in ctx.node.directory_paths:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if path in cordoned(ctx.services.config, ctx.node.id):
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT
    registry = ctx.services.topics
    topic = registry.get(name)
    if topic is None or not 0 <= index < len(topic.partitions):
        if registry.directories is not None:
            registry.directories.prefer(ctx.node.id, name, index, Path(path))
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partition = topic.partitions[index]
    if partition.failure is not None:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if ctx.node.id not in partition.replicas:
        if registry.directories is not None:
            registry.directories.prefer(ctx.node.id, name, index, Path(path))
        return ErrorCode.REPLICA_NOT_AVAILABLE
    if registry.directories is not None:
        try:
            registry.directories.move(ctx.node.id, partition, Path(path))
        except KafkaError as error:
            _log.error("%s-%d cannot be moved to %s: %s", name, index, path, error.message)
            return error.code
    return ErrorCode.NONE
