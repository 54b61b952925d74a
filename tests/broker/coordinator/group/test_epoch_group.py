"""Groups whose members have epochs, beyond the recorded conversations: commits in transactions, and instance ids."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from odradek.broker.coordinator.group.consumer.group import Member, MemberMetadata
from odradek.broker.coordinator.group.epoch_group import EpochGroup
from odradek.broker.coordinator.group.groups import CommitOffsets, TxnOffsetCommit
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.group_driver import commit_offsets, txn_offset_commit


class SmallMember(NamedTuple):
    epoch: int
    rebalance_timeout_ms: int = 700

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.epoch == target_epoch


class Crowd(EpochGroup):
    protocol_type = "crowd"

    def topics(self) -> tuple[str, ...]:
        return ()

    def check_topics_again(self) -> None:
        """No group of the crowd looks at topics."""

    def _check_age(self, member: SmallMember, command: CommitOffsets | TxnOffsetCommit) -> None:
        raise KafkaError(ErrorCode.STALE_MEMBER_EPOCH)

    def put(self, member_id: str, member: SmallMember) -> None:
        self.members[member_id] = member
        self._state = None


@pytest.fixture
def group() -> Crowd:
    """With the member m in epoch 5."""
    group = Crowd("g")
    group.put("m", SmallMember(5))
    return group


def commit(epoch: int, member_id: str = "m", version: int = 9) -> CommitOffsets:
    return commit_offsets("g", [], member_id=member_id, generation_id=epoch, api_version=version)


def transactional(epoch: int, member_id: str = "m", version: int = 5) -> TxnOffsetCommit:
    return txn_offset_commit(
        "g", [], producer_id=1, producer_epoch=0, member_id=member_id, generation_id=epoch, api_version=version
    )


def test_offset_commit_of_an_old_version_is_told_the_protocol(group: Crowd) -> None:
    text = "OffsetCommit version 9 or above must be used by members using the crowd group protocol"
    with pytest.raises(KafkaError, match=text):
        group.check_commit(commit(5, version=8))


@pytest.mark.parametrize(("version", "code"), [(5, ErrorCode.ILLEGAL_GENERATION), (6, ErrorCode.STALE_MEMBER_EPOCH)])
def test_txn_offset_commit_in_an_old_epoch_is_refused_as_its_version_knows(
    group: Crowd, version: int, code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as refused:
        group.check_transactional_commit(transactional(4, version=version))
    assert refused.value.code is code


def static(member_id: str, instance_id: str | None) -> Member:
    return Member(member_id, MemberMetadata(instance_id), 1)


def test_an_instance_id_belongs_to_the_member_that_had_it_last() -> None:
    group = Crowd("g")
    one, other = static("a", "i"), static("b", "i")
    for member in (one, other):
        group.members[member.member_id] = member
    assert group.static_member("i") is None
    group.note_static(None, one)
    assert (group.static_member("i"), group.static_member(None)) == (one, None)
    group.note_static(None, other)
    group.forget_static(one)  # it is the other one's already
    assert group.static_member("i") is other
    group.forget_static(None)
    group.note_static(other, static("b", "j"))
    assert group.static_ids == {"j": "b"}
    group.note_static(static("b", "j"), static("b", None))
    assert group.static_ids == {}


def test_a_request_names_a_member_by_its_id_and_its_instance() -> None:
    group = Crowd("g")
    member = group.members["a"] = static("a", "i")
    group.note_static(None, member)
    assert group.requesting("a", "i") is group.requesting("a", None) is member
    for member_id, instance_id, code, text in (
        ("a", "x", ErrorCode.UNKNOWN_MEMBER_ID, "Instance id x is unknown."),
        ("b", "i", ErrorCode.FENCED_INSTANCE_ID, "Static member b with instance id i was fenced by member a."),
        ("b", None, ErrorCode.UNKNOWN_MEMBER_ID, "Member b is not a member of group g."),
    ):
        with pytest.raises(KafkaError) as refused:
            group.requesting(member_id, instance_id)
        assert (refused.value.code, refused.value.message) == (code, text)


@pytest.mark.parametrize(("epoch", "instance_id"), [(5, None), (-1, "i")])
def test_txn_offset_commit_that_names_anything_of_a_member_is_checked(
    group: Crowd, epoch: int, instance_id: str | None
) -> None:
    command = transactional(epoch, "")
    command.request.group_instance_id = instance_id
    with pytest.raises(KafkaError, match="Member  is not a member of group g"):
        group.check_transactional_commit(command)


def test_offset_fetch_of_no_member_in_an_epoch_is_kafkas_own_error(group: Crowd) -> None:
    with pytest.raises(KafkaError) as error:
        group.check_fetch(None, 0)
    assert error.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
