"""The usual values that consumer groups store of epochs and assignments, in one piece. A rebalance of a hundred members
stores a thousand of them: gains 7 % of its CPU. ODRADEK_FAST=0 in the environment leaves all of them to the codecs.

The usual assignment is of one topic, or of none. `codecs` says the same in general; a test compares. What is not usual,
or cannot be written, is None here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from typing import Final

from odradek.protocol.errors import ENCODING_ERRORS

_MOST: Final = 30  # partitions: up to here their counts, and the size of their epochs, are one byte each
_UUID_BYTES: Final = 16

_ONE_TAG: Final = 0x0100  # one tagged field, number 0
_NO_MORE: Final = 0x0100  # an empty list, no tagged fields

_with_number: Final[Callable[..., bytes]] = Struct(">hlBHq").pack
_epoch_alone: Final[Callable[..., bytes]] = Struct(">hlB").pack
_nothing: Final[Callable[..., bytes]] = Struct(">hllbBBB").pack
_TARGETS: Final = [Struct(f">hB16sB{size}lH").pack for size in range(_MOST + 1)]
_CURRENT: Final = [Struct(f">hllbB16sB{size}lHBB{size}lH").pack for size in range(_MOST + 1)]


def epoch_value(epoch: int, about: int) -> bytes | None:
    """`ConsumerGroupMetadataValue` and `ConsumerGroupTargetAssignmentMetadataValue`: an epoch, and a number of 64 bits
    (the hash of the topics, the time of the assignment) that is left out if it is 0."""
    try:
        if not about:
            return _epoch_alone(0, epoch, 0)
        return _with_number(0, epoch, 1, 8, about)
    except ENCODING_ERRORS:
        return None


def target_value(partitions: Mapping[bytes, Sequence[int]]) -> bytes | None:
    """`ConsumerGroupTargetAssignmentMemberValue`: the partitions by topic id."""
    if len(partitions) != 1:
        return None if partitions else b"\0\0\1\0"
    for topic_id, indexes in partitions.items():
        size = len(indexes)
        if 0 < size <= _MOST and len(topic_id) == _UUID_BYTES:
            try:
                return _TARGETS[size](0, 2, topic_id, size + 1, *indexes, 0)
            except ENCODING_ERRORS:
                return None
    return None


def current_value(
    epoch: int, previous_epoch: int, state: int, assigned: Mapping[bytes, Mapping[int, int]]
) -> bytes | None:
    """`ConsumerGroupCurrentMemberAssignmentValue` of a member that has nothing to give up.

    `assigned`: by topic id and partition the epoch in which the member got it.
    """
    try:
        if not assigned:
            return _nothing(0, epoch, previous_epoch, state, 1, 1, 0)
        if len(assigned) == 1:
            for topic_id, epochs in assigned.items():
                size = len(epochs)
                if 0 < size <= _MOST and len(topic_id) == _UUID_BYTES:
                    front = 0, epoch, previous_epoch, state, 2, topic_id, size + 1
                    tag = _ONE_TAG, 1 + 4 * size, size + 1
                    return _CURRENT[size](*front, *epochs, *tag, *epochs.values(), _NO_MORE)
    except ENCODING_ERRORS:
        pass
    return None
