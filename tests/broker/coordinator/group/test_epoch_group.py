"""Groups whose members have epochs: states, members, and what goes on after a load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from odradek.broker.coordinator.group.assignment import TopicGroups
from odradek.broker.coordinator.group.consumer.group import RECORDS, ConsumerGroup, Member, MemberMetadata
from odradek.broker.coordinator.group.epoch_group import (
    EpochGroup,
    EpochKind,
    rebalance_key,
    session_key,
)
from odradek.broker.coordinator.group.groups import (
    CommitOffsets,
    ExpireRevocation,
    FenceMember,
    Groups,
    GroupType,
    KindContext,
    TxnOffsetCommit,
)
from odradek.broker.coordinator.group.settings import ConsumerConfigs, GroupSettings, fixed_configs
from odradek.broker.coordinator.group.topics import FixedTopics
from odradek.broker.runtime.machine import Outcome, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
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


def test_the_state_of_a_group_with_epochs_follows_its_members() -> None:
    group = Crowd("g")
    assert (group.state_name, group.is_empty) == ("Empty", True)
    group.check_delete()
    assert not group.is_described
    group.put("m", SmallMember(2))
    assert (group.state_name, group.is_empty) == ("Reconciling", False)
    group.epoch = 2
    group.set_assignment(1, 10)
    assert group.state_name == "Assigning"
    group.set_assignment(2, 20)
    assert (group.state_name, group.assignment_timestamp) == ("Stable", 20)
    assert repr(group) == "Crowd('g', Stable, epoch 2, ['m'])"
    with pytest.raises(KafkaError) as full:
        group.check_delete()
    assert full.value.code is ErrorCode.NON_EMPTY_GROUP


def test_group_with_epochs_finds_members_by_id() -> None:
    group = Crowd("g")
    group.put("m", SmallMember(2))
    assert group.member("m") == SmallMember(2)
    for unknown in ("x", None):
        with pytest.raises(KafkaError, match=f"Member {unknown} is not a member of group g"):
            group.member(unknown)


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


def test_offset_commit_of_a_member_in_its_epoch_and_of_an_administrator_is_accepted(group: Crowd) -> None:
    assert group.check_commit(commit(5)) == ()
    assert Crowd("empty").check_commit(commit(-1, "")) == ()


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (commit(5, "x"), ErrorCode.UNKNOWN_MEMBER_ID),
        (commit(-1, ""), ErrorCode.UNKNOWN_MEMBER_ID),
        (commit(4), ErrorCode.STALE_MEMBER_EPOCH),
        (commit(5, version=8), ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_offset_commit_of_a_stranger_an_old_epoch_or_an_old_version_is_refused(
    group: Crowd, command: CommitOffsets, code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as refused:
        group.check_commit(command)
    assert refused.value.code is code


def test_offset_commit_of_an_old_version_is_told_the_protocol(group: Crowd) -> None:
    text = "OffsetCommit version 9 or above must be used by members using the crowd group protocol"
    with pytest.raises(KafkaError, match=text):
        group.check_commit(commit(5, version=8))


def test_offset_commit_of_a_stranger_to_an_empty_group_is_refused() -> None:
    with pytest.raises(KafkaError, match=r"Member x is not a member of group g\."):
        Crowd("g").check_commit(commit(5, "x"))


def test_txn_offset_commit_without_a_member_is_trusted(group: Crowd) -> None:
    group.check_transactional_commit(transactional(-1, ""))
    group.check_transactional_commit(transactional(5))


@pytest.mark.parametrize(("version", "code"), [(5, ErrorCode.ILLEGAL_GENERATION), (6, ErrorCode.STALE_MEMBER_EPOCH)])
def test_txn_offset_commit_in_an_old_epoch_is_refused_as_its_version_knows(
    group: Crowd, version: int, code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as refused:
        group.check_transactional_commit(transactional(4, version=version))
    assert refused.value.code is code


def test_offset_fetch_names_the_present_epoch(group: Crowd) -> None:
    group.check_fetch(None, -1)
    group.check_fetch("m", 5)
    with pytest.raises(
        KafkaError, match=r"The received member epoch 4 does not match the expected member epoch 5\."
    ) as old:
        group.check_fetch("m", 4)
    assert old.value.code is ErrorCode.STALE_MEMBER_EPOCH
    with pytest.raises(KafkaError, match="Member x is not a member"):
        group.check_fetch("x", 5)


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


NOW_MS = 1_000


_NO_HEARTBEATS: Any = NotImplemented


class Out(EpochKind):
    group_type = GroupType.CONSUMER

    def __init__(self, *groups: ConsumerGroup) -> None:
        configs = fixed_configs({"group.consumer.session.timeout.ms": "50000"})
        context = KindContext(Groups(), GroupSettings(), configs, FixedTopics(), str, str, lambda *_: make_outcome())
        super().__init__(
            context, ConsumerConfigs(configs), ConsumerGroup, ConsumerGroupHeartbeatResponse, RECORDS, {}, -1, ()
        )
        for group in groups:
            context.groups.put(group)
        self.restore((TopicGroups(), {group.group_id for group in groups}, 0))
        self.gone: list[str] = []

    def remove(self, group: ConsumerGroup, members: Sequence[Member], reply: Any, now_ms: int) -> Outcome[Any]:
        self.gone += [f"{group.group_id} {member.member_id} {now_ms}" for member in members]
        return make_outcome()

    _is_unchanged = _advance = check_epoch = _next_epoch_without = _NO_HEARTBEATS

    def _gives_up(self, member: Member) -> bool:
        return member.epoch == 3


def test_a_loaded_group_has_its_timers() -> None:
    group = ConsumerGroup("g")
    group.put_member(Member("m", epoch=2))
    group.put_member(Member("n", MemberMetadata(rebalance_timeout_ms=700), epoch=3))
    found = [
        (each.key, each.after_ms, type(each.command))
        for each in Out(group).on_loaded(NOW_MS)
        if isinstance(each, Schedule)
    ]
    assert found == [
        (session_key("g", "m"), 50_000, FenceMember),
        (session_key("g", "n"), 50_000, FenceMember),
        (rebalance_key("g", "n"), 700, ExpireRevocation),
    ]


@pytest.fixture
def out() -> Out:
    group = ConsumerGroup("g")
    group.put_member(Member("m", epoch=3))
    return Out(group)


def test_a_silent_member_is_removed(out: Out) -> None:
    out.fence(FenceMember("g", "m"), NOW_MS)
    assert out.gone == ["g m 1000"]


def test_a_member_that_gives_nothing_up_is_removed_while_it_is_in_that_epoch(out: Out) -> None:
    out.expire_revocation(ExpireRevocation("g", "m", 2), NOW_MS)
    assert out.gone == []
    out.expire_revocation(ExpireRevocation("g", "m", 3), NOW_MS)
    assert out.gone == ["g m 1000"]


@pytest.mark.parametrize(("group_id", "member_id"), [("other", "m"), ("g", "other")])
def test_who_is_not_there_is_not_removed(out: Out, group_id: str, member_id: str) -> None:
    for outcome in (
        out.fence(FenceMember(group_id, member_id), NOW_MS),
        out.expire_revocation(ExpireRevocation(group_id, member_id, 3), NOW_MS),
    ):
        assert (outcome.records, outcome.effects) == ((), ())
    assert out.gone == []
