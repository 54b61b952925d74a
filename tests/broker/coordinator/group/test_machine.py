"""The machine that owns groups of all kinds: routing of commands and records, and the rules across kinds."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import Any
from uuid import RFC_4122, UUID

import pytest

from odradek.broker.coordinator.group.classic.group import ClassicGroup, Heartbeat
from odradek.broker.coordinator.group.groups import (
    KIND_MODULES,
    CommitOffsets,
    DeleteGroup,
    DeleteOffsets,
    ExpiryBasis,
    FenceMember,
    GroupChanged,
    GroupCommand,
    GroupType,
    KindContext,
    MetadataChanged,
    TxnOffsetCommit,
)
from odradek.broker.coordinator.group.machine import GroupMachine, follow
from odradek.broker.coordinator.group.records import decode_key, encode_key, encode_value
from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.heartbeat import HeartbeatResponse
from odradek.protocol.generated.stored.consumer_group_metadata import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from odradek.protocol.stored import UnknownRecordTypeError
from tests.broker.coordinator.group.share.driver import ShareDriver
from tests.fakes.consumer_group_driver import ConsumerDriver
from tests.fakes.group_driver import GroupDriver, hard_state, rebuilt

E = ErrorCode


class Beat(GroupCommand):
    """Makes a group of the test's kind with one member; or, with ``leave``, its member leaves."""

    __slots__ = ("group_id", "leave")
    reply: str
    home = GroupType.CONSUMER

    def __init__(self, group_id: str, leave: bool = False) -> None:
        self.group_id = group_id
        self.leave = leave


class CrowdGroup:
    """A group that has a member while its epoch is odd. See `Group`."""

    group_type = GroupType.CONSUMER
    protocol_type = "consumer"
    expires = True
    is_described = False

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = 0

    @property
    def state_name(self) -> str:
        return "Empty" if self.is_empty else "Stable"

    @property
    def is_empty(self) -> bool:
        return self.epoch % 2 == 0

    def is_in_state(self, names: Collection[str]) -> bool:
        return self.state_name.lower() in names

    def is_subscribed_to(self, topic: str) -> bool:
        return topic == "mine"

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        if command.epoch != self.epoch:
            raise KafkaError(E.STALE_MEMBER_EPOCH)
        return ()

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        raise KafkaError(E.ILLEGAL_GENERATION)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_epoch not in (-1, self.epoch):
            raise KafkaError(E.STALE_MEMBER_EPOCH)

    def check_delete_offsets(self) -> None: ...

    def check_delete(self) -> None:
        if not self.is_empty:
            raise KafkaError(E.NON_EMPTY_GROUP)

    def expiry_basis(self) -> ExpiryBasis | None:
        return (lambda offset: offset.commit_timestamp) if self.is_empty else None

    def tombstones(self) -> list[NewRecord]:
        return [NewRecord(encode_key(ConsumerGroupMetadataKey(self.group_id)))]

    def on_removed(self) -> Sequence[Effect]:
        return (GroupChanged(self.group_id),)


class CrowdKind:
    """See `GroupKind`."""

    group_type = GroupType.CONSUMER

    def __init__(self, context: KindContext) -> None:
        self.groups = context.groups
        self.told: list[str] = []
        self.decisions = {Beat: self.beat, Heartbeat: self.classic_beat}

    def beat(self, command: Beat, now_ms: int) -> Outcome[str]:
        group = self.groups.get(command.group_id)
        records: list[NewRecord] = []
        if group is not None and not isinstance(group, CrowdGroup):
            if not group.is_empty:
                raise KafkaError(E.GROUP_ID_NOT_FOUND)
            records += group.tombstones()
            group = None
        epoch = group.epoch if group is not None else 0
        if (epoch % 2 == 1) == command.leave:
            epoch += 1
        key = encode_key(ConsumerGroupMetadataKey(command.group_id))
        records.append(NewRecord(key, encode_value(ConsumerGroupMetadataValue(epoch))))
        return make_outcome(records, reply=f"epoch {epoch}")

    def classic_beat(self, command: Heartbeat, now_ms: int) -> Outcome[Any]:
        return make_outcome(reply=HeartbeatResponse(error_code=E.REBALANCE_IN_PROGRESS))

    def replay(self, record_type: int, record: LogRecord) -> None:
        assert record_type == 3
        group_id = decode_key(ConsumerGroupMetadataKey, record.key).group_id
        if record.value is None:
            self.groups.remove(group_id, CrowdGroup)
            return
        self.groups.for_replay(group_id, CrowdGroup, CrowdGroup).epoch = int.from_bytes(record.value[2:6])

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        return make_outcome(reply="refused")

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        return ()

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        self.told += change.topics
        return (GroupChanged("any"),)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> GroupDriver:
    """A machine whose consumer groups are crowds."""
    module = ModuleType("crowd_kind")
    module.make = CrowdKind  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "crowd_kind", module)
    monkeypatch.setitem(KIND_MODULES, GroupType.CONSUMER, "crowd_kind")
    return GroupDriver()


def group_type(driver: GroupDriver, group_id: str = "g") -> GroupType | None:
    group = driver.machine.group(group_id)
    return None if group is None else group.group_type


def test_a_kind_is_loaded_with_its_first_command(driver: GroupDriver) -> None:
    assert not driver.machine.follows_topics
    assert driver.now(Beat("g")) == "epoch 1"
    assert driver.machine.follows_topics
    assert group_type(driver) is GroupType.CONSUMER
    assert driver.machine.groups.find("g", ClassicGroup) is None


def test_a_kind_is_loaded_with_its_first_record(driver: GroupDriver) -> None:
    driver.now(Beat("g"))
    assert group_type(GroupDriver(journal=driver.journal)) is GroupType.CONSUMER


def test_a_command_goes_to_the_kind_of_its_group(driver: GroupDriver) -> None:
    (member,) = driver.stable(group_id="classic")
    driver.now(Beat("g"))
    assert driver.beat("m", 1) is E.REBALANCE_IN_PROGRESS
    assert driver.beat(member, 1, group_id="classic") is E.NONE


def test_a_group_without_members_counts_as_none_for_other_kinds(driver: GroupDriver) -> None:
    driver.now(Beat("g"))
    driver.now(Beat("g", leave=True))
    assert driver.beat("m", 1) is E.UNKNOWN_MEMBER_ID


def test_a_classic_member_turns_an_empty_group_into_a_classic_one(driver: GroupDriver) -> None:
    driver.now(Beat("g"))
    assert driver.join().result().error_code == E.INCONSISTENT_GROUP_PROTOCOL
    driver.now(Beat("g", leave=True))
    driver.stable()
    assert group_type(driver) is GroupType.CLASSIC
    assert group_type(GroupDriver(journal=driver.journal)) is GroupType.CLASSIC
    assert hard_state(rebuilt(driver.journal)) == hard_state(driver.machine)


def test_a_member_id_of_an_empty_group_of_another_kind_is_unknown(driver: GroupDriver) -> None:
    driver.now(Beat("g", leave=True))
    assert driver.join("m").result().error_code == E.UNKNOWN_MEMBER_ID
    assert group_type(driver) is GroupType.CONSUMER


def test_empty_classic_group_is_taken_over_with_its_offsets(driver: GroupDriver) -> None:
    (member,) = driver.stable()
    driver.commit(7, member_id=member, generation_id=1)
    assert driver.error(Beat("g")) is E.GROUP_ID_NOT_FOUND
    driver.leave(member)
    assert driver.now(Beat("g")) == "epoch 1"
    for machine in (driver.machine, GroupDriver(journal=driver.journal).machine):
        assert machine.groups.ids() == ["g"]
        assert machine.classic.stored == {}
        assert machine.offsets.fetch("g", "t", bytes(16), [0], False)[0].offset == 7


def test_a_commit_is_checked_by_the_groups_kind(driver: GroupDriver) -> None:
    driver.now(Beat("g"))
    assert driver.commit(3, generation_id=1, member_id="m") == [E.NONE]
    assert driver.error(driver.commit_command(3, generation_id=0)) is E.STALE_MEMBER_EPOCH
    with pytest.raises(KafkaError) as caught:
        driver.machine.offsets.check_fetch("g", "m", 8)
    assert caught.value.code is E.STALE_MEMBER_EPOCH
    driver.machine.offsets.check_fetch("nowhere", "m", 8)


def test_offsets_expire_as_the_groups_kind_says(driver: GroupDriver) -> None:
    driver.now(Beat("g"))
    driver.commit(3, generation_id=1)
    driver.commit(3, generation_id=1, topic="mine")
    driver.wait(days=8)
    assert len(driver.machine.stored.offsets["g"]) == 2
    driver.now(Beat("g", leave=True))
    driver.wait(minutes=11)
    assert list(driver.machine.stored.offsets["g"]) == [("mine", 0)]


def test_deletion_is_checked_by_the_groups_kind(driver: GroupDriver) -> None:
    driver.now(Beat("g"))
    assert driver.error(DeleteGroup("g")) is E.NON_EMPTY_GROUP
    assert driver.now(DeleteOffsets("g", [("mine", 0), ("t", 0)])) == [E.GROUP_SUBSCRIBED_TO_TOPIC, E.NONE]
    driver.now(Beat("g", leave=True))
    driver.now(DeleteGroup("g"))
    assert driver.machine.group("g") is None
    assert GroupDriver(journal=driver.journal).machine.groups.ids() == []
    assert driver.error(DeleteGroup("g")) is E.GROUP_ID_NOT_FOUND


def test_a_refused_append_is_answered_by_the_kind(driver: GroupDriver) -> None:
    driver.journal.refuse = KafkaError(E.MESSAGE_TOO_LARGE)
    assert driver.now(Beat("g")) == "refused"
    assert driver.machine.group("g") is None


def test_kinds_are_told_of_changed_topics(driver: GroupDriver) -> None:
    driver.now(MetadataChanged(["a"]))
    assert driver.changes == []
    driver.now(Beat("g"))
    driver.now(MetadataChanged(["b"]))
    assert driver.changes == ["GroupChanged"]


def test_records_of_kinds_that_are_not_served_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in set(KIND_MODULES) - {GroupType.CLASSIC}:
        monkeypatch.delitem(KIND_MODULES, kind)
    driver = GroupDriver()
    key = encode_key(ConsumerGroupMetadataKey("g"))
    with pytest.raises(UnknownRecordTypeError):  # who loads a partition leaves it out
        driver.machine.replay(LogRecord(key, encode_value(ConsumerGroupMetadataValue(1)), 0, -1, -1))
    assert driver.machine.group("g") is None


def test_a_record_of_one_kind_about_a_group_of_another_is_a_fault(driver: GroupDriver) -> None:
    driver.stable()
    key = encode_key(ConsumerGroupMetadataKey("g"))
    with pytest.raises(RuntimeError, match="is of type classic"):
        driver.machine.replay(LogRecord(key, encode_value(ConsumerGroupMetadataValue(1)), 0, -1, -1))
    assert isinstance(driver.machine.group("g"), ClassicGroup)


def test_the_random_part_of_a_member_id_is_a_uuid_of_version_4() -> None:
    new_id = GroupMachine().context.new_id
    made = [new_id() for _ in range(100)]
    assert len(set(made)) == 100
    for text in made:
        read = UUID(text)
        assert (str(read), read.version, read.variant) == (text, 4, RFC_4122)


LOGGER = "odradek.broker.coordinator.group"


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What was told since the last call."""
    caplog.set_level(logging.INFO, LOGGER)

    def since() -> list[str]:
        lines = [record.getMessage() for record in caplog.records if record.name == LOGGER]
        caplog.clear()
        return lines

    return since


def test_group_log_tells_of_members_epochs_targets_and_states(told: Callable[[], list[str]]) -> None:
    driver = ConsumerDriver()
    driver.join("a")
    assert told() == [
        "group g: member a joins",
        "group g: epoch 2, 1 members",
        "group g: target assignment of epoch 2",
        "group g: from Dead to Stable",
    ]
    driver.join("b")
    assert told()[-2:] == ["group g: target assignment of epoch 3", "group g: from Stable to Reconciling"]
    driver.beat("b", -1)
    assert told() == [
        "group g: member b leaves",
        "group g: epoch 4, 1 members",
        "group g: from Reconciling to Assigning",
    ]


def test_group_log_tells_why_a_member_is_out(told: Callable[[], list[str]]) -> None:
    driver = ConsumerDriver()
    driver.join("a", rebalance_timeout_ms=10_000)
    told()
    driver.wait(60)
    assert told() == [
        "group g: member a was not heard of in time",
        "group g: epoch 3, 0 members",
        "group g: target assignment of epoch 3",
        "group g: from Stable to Empty",
    ]
    driver.join("a", rebalance_timeout_ms=10_000)
    driver.join("b")
    driver.beat("a", 4)  # it shall give up half of it, and never says that it has
    told()
    for _ in range(5):
        driver.wait(2.5)
        try:
            driver.beat("a", 4)
        except KafkaError:
            break
    assert "group g: member a did not give up its partitions in time" in told()


def test_group_log_tells_of_members_of_a_share_group(told: Callable[[], list[str]]) -> None:
    driver = ShareDriver()
    driver.beat("a", 0, "t")
    assert told()[:2] == ["group g: member a joins", "group g: epoch 2, 1 members"]
    driver.ask(FenceMember("g", "a"))
    assert told()[0] == "group g: member a was not heard of in time"


def test_group_log_follows_nothing_while_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, LOGGER)
    ConsumerDriver().join("a")
    assert caplog.records == []


def test_group_log_keeps_what_an_outcome_does_then() -> None:
    done: list[str] = []

    def then() -> list[Effect]:
        done.append("then")
        return []

    outcome: Outcome[None] = make_outcome(then=then)
    follow(lambda _: None, FenceMember("g", "m"), outcome)
    assert outcome.then is not None
    assert list(outcome.then()) == []
    assert done == ["then"]
