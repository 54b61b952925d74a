"""What becomes of leader, ISR and eligible leader replicas: the cases of KIP-966 and those before it."""

from __future__ import annotations

import pytest

from odradek.broker.controller.elections import NO_LEADER_CHANGE, Election, PartitionChange, Rules, without
from odradek.broker.metadata.image import PartitionRegistration
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord

TOPIC = b"t" * 16
DIRECTORIES = {node: bytes([node]) * 16 for node in (1, 2, 3, 4)}


def registered(
    isr: tuple[int, ...], leader: int, *, elr: tuple[int, ...] = (), last: tuple[int, ...] = ()
) -> PartitionRegistration:
    directories = tuple(DIRECTORIES[node] for node in (1, 2, 3))
    return PartitionRegistration((1, 2, 3), isr, leader, 5, 7, directories, elr=elr, last_known_elr=last)


def change(
    before: PartitionRegistration, live: set[int], *, min_isr: int = 1, elr_enabled: bool = True
) -> PartitionChange:
    return PartitionChange(before, Rules(live.__contains__, elr_enabled, DIRECTORIES), min_isr)


def written(wanted: PartitionChange) -> PartitionChangeRecord:
    record = wanted.record(TOPIC, 0)
    assert record is not None
    assert (record.topic_id, record.partition_id) == (TOPIC, 0)
    return record


def test_election_without_a_change_writes_no_record() -> None:
    assert change(registered((1, 2), 1), {1, 2, 3}).record(TOPIC, 0) is None


def test_a_leader_that_goes_is_followed_by_the_next_in_sync() -> None:
    wanted = change(registered((1, 2, 3), 1), {2, 3})
    wanted.isr = (2, 3)
    record = written(wanted)
    assert (record.leader, record.isr, record.eligible_leader_replicas) == (2, [2, 3], None)


def test_a_follower_that_goes_leaves_the_leader_alone() -> None:
    wanted = change(registered((1, 2, 3), 1), {1, 2})
    wanted.isr = (1, 2)
    record = written(wanted)
    assert (record.leader, record.isr) == (NO_LEADER_CHANGE, [1, 2])


def test_the_last_replica_stays_eligible_and_known() -> None:
    wanted = change(registered((1,), 1), {2, 3})
    wanted.isr = ()
    record = written(wanted)
    assert (record.leader, record.isr) == (-1, [])
    assert (record.eligible_leader_replicas, record.last_known_elr) == ([1], [1])


def test_election_without_elr_keeps_the_last_replica_in_sync() -> None:
    wanted = change(registered((1,), 1), {2, 3}, elr_enabled=False)
    wanted.isr = ()
    record = written(wanted)
    assert (record.leader, record.isr, record.eligible_leader_replicas) == (-1, None, None)


def test_below_the_minimum_who_leaves_is_eligible() -> None:
    wanted = change(registered((1, 2), 1), {1}, min_isr=2)
    wanted.isr = (1,)
    record = written(wanted)
    assert (record.isr, record.eligible_leader_replicas) == ([1], [2])


def test_an_eligible_replica_leads_when_it_is_back() -> None:
    record = written(change(registered((), -1, elr=(2, 3), last=(2,)), {3}))
    assert (record.leader, record.isr) == (3, [3])
    assert (record.eligible_leader_replicas, record.last_known_elr) == ([2], [])


def test_a_replica_that_is_not_eligible_does_not_lead() -> None:
    assert change(registered((), -1, elr=(1,), last=(1,)), {2, 3}).record(TOPIC, 0) is None


def test_the_last_known_leader_leads_though_records_may_lack() -> None:
    record = written(change(registered((), -1, last=(2,)), {1, 2}))
    assert (record.leader, record.isr, record.leader_recovery_state, record.last_known_elr) == (2, [2], 1, [])


@pytest.mark.parametrize(("election", "leader"), [(Election.ONLINE, None), (Election.UNCLEAN, 2)])
def test_an_unclean_election_takes_any_live_replica(election: Election, leader: int | None) -> None:
    wanted = change(registered((1,), -1), {2, 3}, elr_enabled=False)
    wanted.election = election
    record = wanted.record(TOPIC, 0)
    assert (None if record is None else record.leader) == leader
    if record is not None:
        assert (record.isr, record.leader_recovery_state) == ([2], 1)


def test_the_preferred_replica_leads_again_if_it_is_in_sync() -> None:
    wanted = change(registered((1, 2), 2), {1, 2})
    wanted.election = Election.PREFERRED
    assert written(wanted).leader == 1
    behind = change(registered((2,), 2), {1, 2})
    behind.election = Election.PREFERRED
    assert behind.record(TOPIC, 0) is None


def test_election_with_one_log_takes_live_replicas_into_sync() -> None:
    wanted = change(registered((), -1, elr=(2,), last=(2,)), {1, 2})
    wanted.rejoin = True
    record = written(wanted)
    assert (record.leader, record.isr, record.eligible_leader_replicas) == (2, [1, 2], [])


def test_partition_change_of_replicas_brings_their_directories() -> None:
    wanted = change(registered((1, 2, 3), 1), {1, 2, 3, 4})
    wanted.replicas, wanted.isr = (4, 1), (4, 1)
    record = written(wanted)
    assert (record.replicas, record.isr) == ([4, 1], [4, 1])
    assert record.directories == [DIRECTORIES[4], DIRECTORIES[1]]
    # A replica less is a new epoch, though the leader stays.
    assert record.leader == 1


def test_replicas_without_some_keep_their_order() -> None:
    assert without([3, 1, 2], frozenset({1})) == (3, 2)


def test_a_crashed_replica_is_no_longer_eligible() -> None:
    wanted = change(registered((), -1, elr=(1, 2), last=(2,)), {3}, min_isr=2)
    wanted.crashed = frozenset({2})
    record = written(wanted)
    assert (record.leader, record.eligible_leader_replicas, record.last_known_elr) == (NO_LEADER_CHANGE, [1], None)


def test_election_of_a_wanted_leader_takes_it_whatever_it_lacks() -> None:
    wanted = change(registered((), -1, elr=(1,), last=(1,)), {2, 3})
    wanted.wanted = 3
    record = written(wanted)
    assert (record.leader, record.isr, record.leader_recovery_state) == (3, [3], 1)
    assert (record.eligible_leader_replicas, record.last_known_elr) == ([], [])


def test_a_partition_that_recovers_goes_on_with_that_under_another_leader() -> None:
    wanted = change(registered((1, 2), 1)._replace(recovering=True), {2, 3})
    wanted.isr = (2,)
    assert written(wanted).leader_recovery_state == -1
    again = change(registered((1,), 1)._replace(recovering=True), {2, 3})
    again.election = Election.UNCLEAN
    again.isr = ()
    assert (written(again).leader, written(again).leader_recovery_state) == (2, -1), "it recovers already"


def test_a_reassignment_that_adds_more_than_it_removes_waits_for_what_it_adds_alone() -> None:
    for adding, removing, isr, done in (
        ((2, 4), (3,), (1, 2, 4), True),
        ((4,), (3,), (4,), True),
        ((4,), (3,), (1, 2), False),
        ((), (3,), (1,), False),
        ((), (3,), (1, 2), True),
        ((4,), (2, 3), (4,), False),
        ((4,), (2, 3), (1, 4), True),
        ((), (3,), (3,), False),
    ):
        replicas = (1, 2, 3, *(node for node in adding if node > 3))
        before = registered(isr, isr[0])._replace(replicas=replicas, adding=adding, removing=removing)
        record = change(before, {1, 2, 3, 4}).record(TOPIC, 0)
        assert (record is not None and record.removing_replicas == []) is done, (adding, removing, isr)
        if done:
            assert record is not None
            assert record.replicas == [node for node in replicas if node not in removing]


def test_below_the_minimum_of_few_replicas_there_is_no_eligible_one() -> None:
    """min.insync.replicas counts up to the number of replicas."""
    wanted = change(registered((1, 2, 3), 1), {1, 2}, min_isr=5)
    wanted.isr = (1, 2)
    assert written(wanted).eligible_leader_replicas == [3]
    whole = change(registered((1, 2), 1, elr=(3,)), {1, 2, 3}, min_isr=5)
    whole.isr = (1, 2, 3)
    assert written(whole).eligible_leader_replicas == []


def test_only_a_single_last_known_leader_that_is_up_leads_without_eligible_ones() -> None:
    assert change(registered((), -1, last=(2,)), {1, 3}).record(TOPIC, 0) is None
    assert change(registered((), -1, last=(1, 2)), {1, 2}).record(TOPIC, 0) is None
    assert change(registered((), -1, last=(2,)), {1, 2}, elr_enabled=False).record(TOPIC, 0) is None


def test_a_leader_that_tells_who_is_in_sync_has_recovered() -> None:
    wanted = change(registered((1,), 1)._replace(recovering=True), {1, 2, 3})
    wanted.recovered = True
    record = written(wanted)
    assert (record.leader, record.isr, record.leader_recovery_state) == (NO_LEADER_CHANGE, None, 0)


def test_a_reassignment_is_complete_when_all_that_come_are_in_sync() -> None:
    before = registered((1, 2), 1)._replace(replicas=(4, 3, 1, 2), adding=(3, 4), removing=(1, 2))
    waiting = change(before, {1, 2, 3, 4})
    waiting.isr = (1, 2, 3)
    assert written(waiting).replicas is None
    complete = change(before, {1, 2, 3, 4})
    complete.isr = (1, 2, 3, 4)
    record = written(complete)
    assert (record.replicas, record.isr, record.leader) == ([4, 3], [3, 4], 4)
    assert (record.adding_replicas, record.removing_replicas) == ([], [])
