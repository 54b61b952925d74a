"""The records of groups as releases before 4.3 store them: without fields that came later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from odradek.broker.coordinator.group.offsets import LAST_OFFSET_COMMIT
from odradek.broker.coordinator.group.records import decode_value, encode_value, record_type_of
from odradek.broker.releases.release import Release
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.generated.stored import consumer_group_current_member_assignment as current
from odradek.protocol.generated.stored import consumer_group_target_assignment_metadata as consumer_target
from odradek.protocol.generated.stored import offset_commit
from odradek.protocol.generated.stored import share_group_target_assignment_metadata as share_target
from odradek.protocol.generated.stored import streams_group_target_assignment_metadata as streams_target

Rewrite = Callable[[bytes], bytes]


def as_stored_by(release: Release, records: Sequence[NewRecord]) -> Sequence[NewRecord]:
    """The records as the release stores them. What they say to the groups that are in memory stays."""
    rewrites = _rewrites(release.newest_offset_commit)
    return [_rewritten(record, rewrites.get(record_type_of(record.key))) for record in records]


def _rewritten(record: NewRecord, rewrite: Rewrite | None) -> NewRecord:
    if rewrite is None or record.value is None:
        return record
    return NewRecord(record.key, rewrite(record.value), record.decoded)


@cache
def _rewrites(newest_offset_commit: int) -> Mapping[int, Rewrite]:
    """What is to be done with the values of each type of records."""

    def offset(value: bytes) -> bytes:
        commit = decode_value(offset_commit.OffsetCommitValue, value)
        version = int.from_bytes(value[:2], "big")
        return encode_value(commit, min(version, newest_offset_commit))

    return {
        LAST_OFFSET_COMMIT: offset,
        current.ConsumerGroupCurrentMemberAssignmentKey.RECORD_TYPE: _without_epochs,
        **{
            key.RECORD_TYPE: _without_timestamp(value)
            for key, value in (
                (
                    consumer_target.ConsumerGroupTargetAssignmentMetadataKey,
                    consumer_target.ConsumerGroupTargetAssignmentMetadataValue,
                ),
                (
                    share_target.ShareGroupTargetAssignmentMetadataKey,
                    share_target.ShareGroupTargetAssignmentMetadataValue,
                ),
                (
                    streams_target.StreamsGroupTargetAssignmentMetadataKey,
                    streams_target.StreamsGroupTargetAssignmentMetadataValue,
                ),
            )
        },
    }


def _without_epochs(value: bytes) -> bytes:
    decoded = decode_value(current.ConsumerGroupCurrentMemberAssignmentValue, value)
    for row in (*decoded.assigned_partitions, *decoded.partitions_pending_revocation):
        row.assignment_epochs = []
    return encode_value(decoded)


def _without_timestamp(kind: Any) -> Rewrite:
    def rewrite(value: bytes) -> bytes:
        decoded = decode_value(kind, value)
        decoded.assignment_timestamp = 0
        return encode_value(decoded)

    return rewrite
