"""What a share group says of itself to requests for groups of all kinds."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.commands import CommitOffsets
from odradek.broker.coordinator.group.share.group import ShareGroup
from odradek.broker.coordinator.group.share.members import ShareMember, TopicStates
from odradek.protocol.errors import KafkaError


def group_of(*members: ShareMember) -> ShareGroup:
    group = ShareGroup("g")
    for member in members:
        group.put(member)
    return group


def test_states() -> None:
    group = group_of()
    assert (group.state_name, group.is_empty, group.is_in_state({"empty"})) == ("Empty", True, True)
    group.put(ShareMember("m"))
    assert (group.state_name, group.is_empty, group.is_in_state({"empty"})) == ("Stable", False, False)
    with pytest.raises(KafkaError, match="NON_EMPTY_GROUP"):
        group.check_delete()


def test_there_are_no_committed_offsets() -> None:
    group = group_of()
    with pytest.raises(KafkaError, match="Group g is not a consumer group"):
        group.check_commit(CommitOffsets("g", []))
    group.check_fetch(None, -1)
    assert group.expiry_basis() is None


def test_subscriptions_are_counted() -> None:
    group = group_of(ShareMember("a", topics=frozenset({"t", "u"})), ShareMember("b", topics=frozenset({"t"})))
    assert group.subscribed == {"t": 2, "u": 1}
    assert group.topics_with(ShareMember("b", topics=frozenset({"v"})), without="b") == {"t": 1, "u": 1, "v": 1}
    assert group.topics_with(None, without="a") == {"t": 1}
    group.put(ShareMember("a", topics=frozenset({"u"})))
    group.remove("b")
    group.remove("b")
    assert group.subscribed == {"u": 1}
    assert group.is_subscribed_to("u")


def test_topics_that_something_is_stored_of() -> None:
    group = group_of()
    group.initialized = {bytes(16): TopicStates("t", frozenset({0}))}
    group.deleting = {bytes(15) + b"\1": "u"}
    assert [group.names(name) for name in ("t", "u", "v")] == [True, True, False]
