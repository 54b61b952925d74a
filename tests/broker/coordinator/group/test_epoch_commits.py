"""What commits and fetches have in common in all groups whose members have epochs."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit
from odradek.broker.coordinator.group.epoch_commits import (
    check_trusting,
    committing_member,
    fetching_member,
    other_epoch,
    refuse_old_version,
)
from odradek.protocol.errors import ErrorCode, KafkaError


class Member(NamedTuple):
    epoch: int
    rebalance_timeout_ms: int = -1

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.epoch == target_epoch


MEMBERS = {"m": Member(5)}


def stale(member: Member, command: object) -> None:
    raise KafkaError(ErrorCode.STALE_MEMBER_EPOCH)


def transactional(epoch: int, member_id: str = "m") -> TxnOffsetCommit:
    return TxnOffsetCommit("g", [], producer_id=1, producer_epoch=0, member_id=member_id, generation_id=epoch)


def test_who_commits() -> None:
    assert committing_member(MEMBERS, CommitOffsets("g", [], member_id="m", generation_id=2)) is MEMBERS["m"]
    assert committing_member({}, CommitOffsets("g", [], generation_id=-1)) is None
    with pytest.raises(KafkaError, match=r"Member x is not a member of group g\."):
        committing_member(MEMBERS, CommitOffsets("g", [], member_id="x", generation_id=5))
    with pytest.raises(KafkaError):
        committing_member({}, CommitOffsets("g", [], member_id="x", generation_id=5))


def test_transactions_of_nobody_are_trusted_and_others_hear_of_generations() -> None:
    check_trusting(MEMBERS, transactional(-1, ""), stale)
    check_trusting(MEMBERS, transactional(5), stale)
    with pytest.raises(KafkaError) as refused:
        check_trusting(MEMBERS, transactional(4), stale)
    assert refused.value.code is ErrorCode.ILLEGAL_GENERATION


def test_who_fetches_in_another_epoch() -> None:
    assert fetching_member("g", MEMBERS, None, -1) is None
    assert fetching_member("g", MEMBERS, "m", 5) is None
    assert fetching_member("g", MEMBERS, "m", 4) is MEMBERS["m"]
    with pytest.raises(KafkaError):
        fetching_member("g", MEMBERS, "x", 5)


def test_texts() -> None:
    told = other_epoch(4, MEMBERS["m"])
    assert told.code is ErrorCode.STALE_MEMBER_EPOCH
    assert told.message == "The received member epoch 4 does not match the expected member epoch 5."
    old = refuse_old_version("streams")
    assert old.code is ErrorCode.UNSUPPORTED_VERSION
    assert old.message == "OffsetCommit version 9 or above must be used by members using the streams group protocol"
