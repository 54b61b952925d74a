"""OffsetCommit and OffsetFetch version 0: offsets in ZooKeeper, apart from those that groups commit.

A cluster without ZooKeeper refuses them, partition by partition.
"""

from __future__ import annotations

from typing import Final

from odradek.broker.api.group_requests import require_read
from odradek.broker.releases.release import Release
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import Serve
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)

_NO_OFFSET: Final = -1


def commit(serve: Serve, version: int, release: Release) -> Serve:
    return serve if version else offset_commit


def fetch(serve: Serve, version: int, release: Release) -> Serve:
    return serve if version else offset_fetch


def offset_commit(ctx: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse:
    """Keep the offsets of partitions that there are; nobody asks whether the group has members."""
    require_read(ctx, request.group_id)
    readable = ctx.allowed(Operation.READ, Resource.TOPIC, [topic.name for topic in request.topics])
    zookeeper = ctx.release.zookeeper
    limit = ctx.services.config.get_int("offset.metadata.max.bytes")
    answered = []
    for topic in request.topics:
        rows = []
        for asked in topic.partitions:
            code = ErrorCode.NONE
            if topic.name not in readable:
                code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif _unknown(ctx, topic.name, asked.partition_index):
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            elif not zookeeper:
                code = ErrorCode.UNSUPPORTED_VERSION
            elif len((asked.committed_metadata or "").encode()) > limit:
                code = ErrorCode.OFFSET_METADATA_TOO_LARGE
            else:
                place = request.group_id, topic.name, asked.partition_index
                ctx.services.zookeeper_offsets[place] = asked.committed_offset
            rows.append(OffsetCommitResponsePartition(asked.partition_index, code))
        answered.append(OffsetCommitResponseTopic(name=topic.name, partitions=rows))
    return OffsetCommitResponse(topics=answered)


def offset_fetch(ctx: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    """The offsets that version 0 has committed; one that is not there counts as an unknown partition."""
    ctx.require(Operation.DESCRIBE, Resource.GROUP, request.group_id)
    asked = request.topics or []
    shown = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, [topic.name for topic in asked])
    answered = []
    for topic in asked:
        rows = []
        for index in topic.partition_indexes:
            offset, code = _NO_OFFSET, ErrorCode.NONE
            if topic.name not in shown:
                code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif not ctx.release.zookeeper:
                code = ErrorCode.UNSUPPORTED_VERSION
            elif not _unknown(ctx, topic.name, index):
                offset = ctx.services.zookeeper_offsets.get((request.group_id, topic.name, index), _NO_OFFSET)
            if code is ErrorCode.NONE and offset == _NO_OFFSET:
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            rows.append(OffsetFetchResponsePartition(index, offset, metadata="", error_code=code))
        answered.append(OffsetFetchResponseTopic(topic.name, rows))
    return OffsetFetchResponse(topics=answered)


def _unknown(ctx: RequestContext, name: str, index: int) -> bool:
    topic = ctx.services.topics.get(name)
    return topic is None or not 0 <= index < len(topic.partitions)
