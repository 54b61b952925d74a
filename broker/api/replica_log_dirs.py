"""AlterReplicaLogDirs (key 34): move replicas to another log directory of their node (KIP-113).

Versions 1 and 2; v2 is flexible. A move is done when it is answered; on Kafka it begins then.
"""

from __future__ import annotations

import logging
from pathlib import Path

from odradek.broker.config.cordons import cordoned
from odradek.broker.requests.access import Whole
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import handles
from odradek.broker.security.acl import Operation
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from odradek.protocol.java_maps import scala_order_by_topic

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
