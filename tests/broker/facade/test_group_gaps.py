"""Partitions that a group leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.facade.group_gaps import with_gaps
from odradek.broker.facade.group_info import GroupInfo, MemberInfo, OffsetInfo
from odradek.broker.facade.streams_group_info import StreamsGroupInfo, StreamsMemberInfo
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record

BATCH = build_batch([Record(timestamp=1, value=b"v")])


def looked_at(info: GroupInfo) -> GroupInfo:
    """With the gaps as they are in a cluster with t of 3 and u of 2 partitions, and a record in t-1 and t-2."""
    with KafkaBroker(topics={"t": 3, "u": 2}) as broker:

        def look() -> GroupInfo:
            for index in (1, 2):
                broker.cluster.topics.by_name("t").partitions[index].append(BATCH, now_ms=1)
            return with_gaps(info, broker.cluster.topics)

        return broker._call(look)


def member(kind: type[MemberInfo], topics: tuple[str, ...], **more: Any) -> MemberInfo:
    return kind("m", None, "c", "/h", topics, session_timeout_ms=1, rebalance_timeout_ms=1, **more)


@pytest.mark.parametrize(
    ("group", "of", "protocol"),
    [
        (GroupInfo, MemberInfo, "consumer"),
        (GroupInfo, MemberInfo, "connect"),
        (StreamsGroupInfo, StreamsMemberInfo, "streams"),
    ],
)
def test_what_no_member_has_is_unassigned(group: type[GroupInfo], of: type[MemberInfo], protocol: str) -> None:
    first = member(of, ("t", "u", "later"), assignment={"t": (0, 2), "u": (0,)})
    second = member(of, ("t",), assignment={})
    info = looked_at(group("g", "Stable", 1, protocol, None, None, (first, second), {}, 1))
    assert isinstance(info, group)
    assert info.unassigned == (("t", 1), ("u", 1))


def test_topics_found_by_a_pattern_count_as_subscribed() -> None:
    only = member(MemberInfo, (), assignment={"u": (0,)}, target={"u": (0, 1)}, regex="u.*")
    assert looked_at(GroupInfo("g", "Stable", 1, "consumer", None, None, (only,), {}, 1)).unassigned == (("u", 1),)


def test_uncommitted_are_the_partitions_with_records() -> None:
    offsets = {("t", 1): OffsetInfo(0, 0, "", 0, 1)}
    empty = looked_at(GroupInfo("g", "Empty", 1, "consumer", None, None, (), offsets, 1))
    assert (empty.unassigned, empty.uncommitted, empty.lag) == ((), (("t", 2),), None)


def test_a_group_that_assigns_by_hand_reads_what_it_likes() -> None:
    offsets = {("t", 1): OffsetInfo(0, 0, "", 0, 1)}
    simple = looked_at(GroupInfo("g", "Empty", 1, "", None, None, (), offsets, 1))
    assert (simple.uncommitted, simple.lag) == ((), 1)


def test_members_of_a_share_group_need_not_have_everything() -> None:
    only = member(MemberInfo, ("t",), assignment={})
    share = GroupInfo("g", "Stable", 1, "share", None, None, (only,), {}, 1, "share")
    assert (looked_at(share).unassigned, looked_at(share).uncommitted) == ((), ())
