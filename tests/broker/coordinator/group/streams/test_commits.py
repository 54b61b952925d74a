"""Which commits and fetches of members a streams group takes."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.commands import CommitOffsets, OffsetToCommit, TxnOffsetCommit
from odradek.broker.coordinator.group.streams.commits import check_commit, check_fetch, check_transactional_commit
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.tasks import Held
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.message import ZERO_UUID
from tests.broker.coordinator.group.streams.driver import PLAIN

MEMBERS = {"m": Member("m", 5, assigned=Held({"0": {0: 3}}), revoking=Held({"0": {1: 4}}))}


def commit(epoch: int, *places: tuple[str, int], member_id: str = "m", version: int = 9) -> CommitOffsets:
    offsets = [OffsetToCommit(topic, ZERO_UUID, partition, 1, -1, "") for topic, partition in places]
    return CommitOffsets("g", offsets, member_id=member_id, generation_id=epoch, api_version=version)


def transactional(epoch: int, *places: tuple[str, int], member_id: str = "m") -> TxnOffsetCommit:
    offsets = [OffsetToCommit(topic, ZERO_UUID, partition, 1, -1, "") for topic, partition in places]
    return TxnOffsetCommit("g", offsets, producer_id=1, producer_epoch=0, member_id=member_id, generation_id=epoch)


@pytest.mark.parametrize(
    ("epoch", "place"), [(5, ("t", 0)), (5, ("other", 9)), (4, ("t", 0)), (3, ("t", 0)), (4, ("t", 1))]
)
def test_taken(epoch: int, place: tuple[str, int]) -> None:
    check_commit(MEMBERS, PLAIN, commit(epoch, place))
    check_transactional_commit(MEMBERS, PLAIN, transactional(epoch, place))


@pytest.mark.parametrize(
    ("epoch", "place", "text"),
    [
        (6, ("t", 0), "Received member epoch 6 is newer than current member epoch 5."),
        (2, ("t", 0), "Received member epoch 2 is older than assignment epoch 3 for task 0-0."),
        (3, ("t", 1), "Received member epoch 3 is older than assignment epoch 4 for task 0-1."),
        (4, ("t", 2), "Task 0-2 is not assigned or pending revocation for member."),
        (4, ("u", 0), "Topic u is not in the topology."),
    ],
)
def test_stale(epoch: int, place: tuple[str, int], text: str) -> None:
    with pytest.raises(KafkaError, match=text) as stale:
        check_commit(MEMBERS, PLAIN, commit(epoch, place))
    assert stale.value.code is ErrorCode.STALE_MEMBER_EPOCH
    with pytest.raises(KafkaError) as illegal:
        check_transactional_commit(MEMBERS, PLAIN, transactional(epoch, place))
    assert illegal.value.code is ErrorCode.ILLEGAL_GENERATION


def test_strangers_and_old_clients() -> None:
    with pytest.raises(KafkaError, match=r"Member x is not a member of group g\.") as unknown:
        check_commit(MEMBERS, PLAIN, commit(5, member_id="x"))
    assert unknown.value.code is ErrorCode.UNKNOWN_MEMBER_ID
    with pytest.raises(KafkaError) as old:
        check_commit(MEMBERS, PLAIN, commit(5, version=8))
    assert old.value.code is ErrorCode.UNSUPPORTED_VERSION
    with pytest.raises(KafkaError, match="Topology is not available"):
        check_commit(MEMBERS, None, commit(4, ("t", 0)))


def test_without_a_member() -> None:
    check_commit({}, None, commit(-1, member_id=""))
    check_transactional_commit({}, None, transactional(-1, member_id=""))
    check_transactional_commit(MEMBERS, PLAIN, transactional(-1, ("t", 0), member_id=""))
    with pytest.raises(KafkaError):
        check_commit(MEMBERS, PLAIN, commit(-1, member_id=""))


def test_a_fetch_names_the_present_epoch() -> None:
    check_fetch("g", MEMBERS, "m", 5)
    check_fetch("g", MEMBERS, None, -1)
    with pytest.raises(KafkaError, match=r"The received member epoch 4 does not match the expected member epoch 5\."):
        check_fetch("g", MEMBERS, "m", 4)
    with pytest.raises(KafkaError, match="Member x is not a member"):
        check_fetch("g", MEMBERS, "x", 5)
