"""Target assignments and the records of those that change."""

from __future__ import annotations

from typing import Any

from odradek.broker.coordinator.group.streams.configured import configure
from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.targets import compute_targets
from odradek.broker.coordinator.group.streams.tasks import NO_TARGET, Target
from odradek.protocol.stored import decode_group_record
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, Topics


def test_only_changed_targets_are_written() -> None:
    group = StreamsGroup("g")
    group.put_member(Member("a", process_id="p"))
    group.targets["a"] = Target({"0": frozenset({0, 1})})
    ready = configure(PLAIN, Topics(t=2))
    targets, records = compute_targets(group, None, 4, ready, {}, 77)
    assert targets == {"a": Target({"0": frozenset({0, 1})})}
    epoch: Any
    (epoch,) = [decode_group_record(record.key, record.value)[1] for record in records]
    assert (epoch.assignment_epoch, epoch.assignment_timestamp) == (4, 77)
    targets, records = compute_targets(group, Member("b", process_id="q"), 5, ready, {}, 78)
    keys: list[Any] = [decode_group_record(record.key, record.value)[0] for record in records[:-1]]
    assert [key.member_id for key in keys] == ["a", "b"]
    assert sorted(len(target.active["0"]) for target in targets.values()) == [1, 1]


def test_standbys_as_the_group_is_configured() -> None:
    group = StreamsGroup("g")
    for name in ("a", "b"):
        group.put_member(Member(name, process_id=name))
    ready = configure(COUNTING, Topics(t=2, **{"counts-changelog": 2}))
    targets, _ = compute_targets(group, None, 4, ready, {"num.standby.replicas": "1"}, 0)
    for target in targets.values():
        assert sorted((*target.active["0"], *target.standby["0"])) == [0, 1]


def test_nobody_has_tasks_while_topics_are_missing() -> None:
    group = StreamsGroup("g")
    group.put_member(Member("a"))
    targets, records = compute_targets(group, None, 2, configure(PLAIN, Topics(u=1)), {}, 0)
    assert targets == {"a": NO_TARGET}
    assert len(records) == 2
