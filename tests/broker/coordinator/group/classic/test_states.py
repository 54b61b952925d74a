"""The table of states is whole, is what the README shows, and is what the code does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.coordinator.group.classic.states import (
    RULES,
    CommitAction,
    DeletionAction,
    DepartureAction,
    GroupState,
    JoinAction,
    StateRules,
    SyncAction,
)
from odradek.broker.coordinator.group.groups import DeleteGroup, DeleteOffsets
from odradek.protocol.errors import ErrorCode
from tests.fakes.group_driver import GroupDriver, leave_group

README = Path(__file__).parents[5] / "broker/coordinator/group/classic/README.md"
E = ErrorCode
J = JoinAction
S = GroupState
LIVING = [S.EMPTY, S.PREPARING_REBALANCE, S.COMPLETING_REBALANCE, S.STABLE]

ROWS: dict[str, Callable[[StateRules], Any]] = {
    "JoinGroup of a new member": lambda rules: rules.join.new,
    "JoinGroup of a static member without its id": lambda rules: rules.join.returning,
    "JoinGroup of a follower, unchanged": lambda rules: rules.join.follower,
    "JoinGroup of the leader, unchanged": lambda rules: rules.join.leader,
    "JoinGroup of a member with other protocols": lambda rules: rules.join.changed,
    "SyncGroup of the leader": lambda rules: rules.sync_leader,
    "SyncGroup of a follower": lambda rules: rules.sync_follower,
    "Heartbeat": lambda rules: rules.heartbeat,
    "LeaveGroup, or a session that ends": lambda rules: rules.departure,
    "OffsetCommit": lambda rules: rules.commit,
    "OffsetDelete": lambda rules: rules.delete_offsets,
    "DeleteGroups": lambda rules: rules.delete,
}


def test_every_living_state_has_rules() -> None:
    assert list(RULES) == LIVING
    assert {state for rules in RULES.values() for state in rules.next} == set(S)


def test_a_rebalance_begins_where_the_state_may_change_so() -> None:
    begins = {state for state, rules in RULES.items() if J.JOIN in rules.join or rules.departure.name == "REBALANCE"}
    assert begins == {state for state, rules in RULES.items() if S.PREPARING_REBALANCE in rules.next}


# -- as the README shows it


def diagram() -> str:
    """The states as the README draws them."""
    lines = [
        f"    {state.value} --> {following.value}: {why}"
        for state, rules in RULES.items()
        for following, why in rules.next.items()
    ]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> Empty", *lines, "    Dead --> [*]", "```"])


def table() -> str:
    """The actions as the README shows them."""
    lines = ["| request | " + " | ".join(state.value for state in RULES) + " |", "| --- " * (len(RULES) + 1) + "|"]
    for title, pick in ROWS.items():
        cells = [pick(rules) for rules in RULES.values()]
        shown = [cell.name if isinstance(cell, ErrorCode) else cell.value for cell in cells]
        lines.append(f"| {title} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def test_the_diagram_in_the_architecture_is_the_table() -> None:
    assert diagram() in README.read_text(), f"put this into {README.name}:\n{diagram()}"


def test_the_table_in_the_architecture_is_the_table() -> None:
    assert table() in README.read_text(), f"put this into {README.name}:\n{table()}"


# -- what the code does


class Scene:
    """A group in some state: a leader that is a static member, and a follower. In Empty both have left."""

    def __init__(self, state: GroupState) -> None:
        self.driver = driver = GroupDriver()
        leader = driver.join(version=5, instance_id="i").result()
        follower = driver.join()
        driver.join(leader.member_id, version=5, instance_id="i")
        self.leader, self.follower, self.generation = leader.member_id, follower.result().member_id, 2
        if state is S.COMPLETING_REBALANCE:
            return
        driver.sync(self.leader, 2, {self.leader: b"L", self.follower: b"F"})
        if state is S.PREPARING_REBALANCE:
            self.newcomer = driver.join()
        elif state is S.EMPTY:
            driver.leave(self.leader, self.follower)
            self.generation = 3
        assert driver.state() == state.value

    def join(self, member_id: str, instance: str | None = None, protocols: tuple[str, ...] = ("range",)) -> JoinAction:
        before = self.driver.state()
        slot = self.driver.join(member_id, version=5 if instance else 3, instance_id=instance, protocols=protocols)
        if slot.done and slot.result().error_code == E.UNKNOWN_MEMBER_ID:
            return J.UNKNOWN
        if slot.done and self.driver.state() == before:
            return J.TELL_AGAIN if slot.result().member_id == member_id else J.TAKE_PLACE
        return J.JOIN_PHASE if before == S.PREPARING_REBALANCE.value else J.JOIN

    def sync(self, member_id: str) -> SyncAction:
        records = self.driver.journal.end_offset
        slot = self.driver.sync(member_id, self.generation, {self.leader: b"L", self.follower: b"F"})
        if not slot.done:
            return SyncAction.WAIT
        if self.driver.journal.end_offset > records:
            return SyncAction.STORE
        codes = {
            E.NONE: SyncAction.GIVE,
            E.REBALANCE_IN_PROGRESS: SyncAction.REJOIN,
            E.UNKNOWN_MEMBER_ID: SyncAction.UNKNOWN,
        }
        return codes[ErrorCode(slot.result().error_code)]

    def heartbeat(self) -> ErrorCode:
        return self.driver.beat(self.follower, self.generation)

    def departure(self) -> DepartureAction:
        before = self.driver.state()
        self.driver.leave(self.follower)
        if self.driver.state() == before == S.PREPARING_REBALANCE.value:
            return DepartureAction.LOOK
        return DepartureAction.NOTHING if self.driver.state() == before else DepartureAction.REBALANCE

    def commit(self) -> CommitAction:
        session = ("session", "g", self.follower)
        self.driver.clock.advance(1)
        due = self.driver.shard.timers.deadline_of(session)
        command = self.driver.commit_command(member_id=self.follower, generation_id=self.generation)
        if self.driver.state() == "Empty":
            command = self.driver.commit_command()
        slot = self.driver.submit(command)
        try:
            slot.result()
        except Exception:
            return CommitAction.REJOIN
        goes_on = self.driver.shard.timers.deadline_of(session) != due
        return CommitAction.STORE_AND_BEAT if goes_on else CommitAction.STORE

    def delete(self) -> DeletionAction:
        slot = self.driver.submit(DeleteGroup("g"))
        try:
            slot.result()
        except Exception:
            return DeletionAction.REFUSE
        return DeletionAction.DELETE

    def delete_offsets(self) -> DeletionAction:
        codes = self.driver.now(DeleteOffsets("g", [("t", 0)]))
        return DeletionAction.DELETE if codes == [E.NONE] else DeletionAction.REFUSE_SUBSCRIBED


DONE: dict[str, Callable[[Scene], Any]] = {
    "JoinGroup of a new member": lambda scene: scene.join(""),
    "JoinGroup of a static member without its id": lambda scene: scene.join("", "i"),
    "JoinGroup of a follower, unchanged": lambda scene: scene.join(scene.follower),
    "JoinGroup of the leader, unchanged": lambda scene: scene.join(scene.leader, "i"),
    "JoinGroup of a member with other protocols": lambda scene: scene.join(scene.follower, protocols=("range", "rr")),
    "SyncGroup of the leader": lambda scene: scene.sync(scene.leader),
    "SyncGroup of a follower": lambda scene: scene.sync(scene.follower),
    "Heartbeat": lambda scene: scene.heartbeat(),
    "LeaveGroup, or a session that ends": lambda scene: scene.departure(),
    "OffsetCommit": lambda scene: scene.commit(),
    "OffsetDelete": lambda scene: scene.delete_offsets(),
    "DeleteGroups": lambda scene: scene.delete(),
}


@pytest.mark.parametrize("state", LIVING)
@pytest.mark.parametrize("row", ROWS)
def test_the_code_does_what_the_table_says(state: GroupState, row: str) -> None:
    assert DONE[row](Scene(state)) is ROWS[row](RULES[state])


def test_a_returning_member_with_another_protocol_begins_a_rebalance() -> None:
    scene = Scene(S.STABLE)
    scene.driver.now(leave_group("g", [(scene.follower, None)]))
    scene.driver.join(scene.leader, version=5, instance_id="i", protocols=("range", "rr"))
    scene.driver.sync(scene.leader, 3, {})
    assert scene.driver.state() == "Stable"
    assert scene.join("", "i", protocols=("rr", "range")) is J.JOIN
