"""The usual values of epochs and assignments, written by hand, are what the codecs say; others are left to them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.generated.stored.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from odradek.protocol.generated.stored.consumer_group_metadata import ConsumerGroupMetadataValue
from odradek.protocol.generated.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.message_codec import codec
from odradek.protocol.usual_assignments import current_value, epoch_value, target_value

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
IDS = st.binary(min_size=16, max_size=16)
ID = bytes(range(16))
VERSION = b"\0\0"


@given(INT32, INT64 | st.just(0))
def test_an_epoch(epoch: int, about: int) -> None:
    made = epoch_value(epoch, about)
    assert made == VERSION + codec(ConsumerGroupMetadataValue, 0).encode(ConsumerGroupMetadataValue(epoch, about))
    target = ConsumerGroupTargetAssignmentMetadataValue(epoch, about)
    assert made == VERSION + codec(ConsumerGroupTargetAssignmentMetadataValue, 0).encode(target)


@settings(deadline=None)
@given(st.dictionaries(IDS, st.lists(INT32, max_size=40), max_size=2))
def test_a_target(partitions: dict[bytes, list[int]]) -> None:
    rows = [TopicPartition(topic_id, indexes) for topic_id, indexes in partitions.items()]
    general = codec(ConsumerGroupTargetAssignmentMemberValue, 0).encode(ConsumerGroupTargetAssignmentMemberValue(rows))
    made = target_value(partitions)
    is_usual = not partitions or (len(partitions) == 1 and 0 < len(next(iter(partitions.values()))) <= 30)
    assert made == (VERSION + general if is_usual else None)


@settings(deadline=None)
@given(
    INT32,
    INT32,
    st.integers(-128, 127),
    st.dictionaries(IDS, st.dictionaries(INT32, INT32, max_size=40), max_size=2),
)
def test_what_a_member_has(epoch: int, previous: int, state: int, assigned: dict[bytes, dict[int, int]]) -> None:
    rows = [TopicPartitions(topic_id, list(epochs), list(epochs.values())) for topic_id, epochs in assigned.items()]
    value = ConsumerGroupCurrentMemberAssignmentValue(epoch, previous, state, rows, [])
    made = current_value(epoch, previous, state, assigned)
    is_usual = not assigned or (len(assigned) == 1 and 0 < len(next(iter(assigned.values()))) <= 30)
    general = codec(ConsumerGroupCurrentMemberAssignmentValue, 0).encode(value)
    assert made == (VERSION + general if is_usual else None)


@pytest.mark.parametrize(
    "made",
    [
        lambda: epoch_value(1 << 31, 0),
        lambda: epoch_value(1, 1 << 63),
        lambda: target_value({ID: [1 << 31]}),
        lambda: target_value({ID[:15]: [1]}),
        lambda: current_value(1 << 31, 0, 0, {}),
        lambda: current_value(1, 0, 128, {ID: {1: 1}}),
        lambda: current_value(1, 0, 0, {ID: {1: 1 << 31}}),
        lambda: current_value(1, 0, 0, {ID + ID: {1: 1}}),
    ],
)
def test_what_cannot_be_written_is_left_to_the_codec(made: object) -> None:
    assert callable(made)
    assert made() is None
