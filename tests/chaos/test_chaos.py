"""What a cluster promises holds under chaos, whatever the seed. ``make chaos`` runs a thousand seeds."""

from __future__ import annotations

import pytest

from odradek.broker.partitions.replicas import ReplicaSet
from tests.chaos.__main__ import report
from tests.chaos.world import BELOW, run, run_as_promised

SEEDS = range(1000, 1024)


@pytest.mark.long(*map(str, SEEDS[2:]))
@pytest.mark.parametrize("seed", SEEDS)
def test_chaos_run_keeps_kafkas_promises(seed: int) -> None:
    outcome = run_as_promised(seed)

    assert not outcome.wrong, report(outcome)
    assert outcome.counts["acknowledged"] > 5
    assert outcome.counts["transactions committed"] > 5
    assert outcome.counts["commits"] > 5


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2000, 2008))
def test_promises_are_kept_where_bytes_links_disks_and_loads_fail_too(seed: int) -> None:
    outcome = run_as_promised(seed, also=BELOW)

    assert not outcome.wrong, report(outcome)
    assert any(fault.verb in BELOW for fault in outcome.schedule)
    assert outcome.counts["acknowledged"] > 5


@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "schedule"),
    [
        # A coordinator moved to a replica that lacked what clients had been told: it lost partitions of a transaction.
        (24, ["8.406 cut(1, 2) for 3.544", "9.949 move_leader('__transaction_state', 1, 2)"]),
        (210, ["3.176 cut(1, 3) for 3.428", "5.469 move_leader('__transaction_state', 0, 1)"]),
        (315, ["0.319 cut(1, 3) for 2.335", "2.307 stop_node(1) for 3.579"]),
        # A coordinator that was alone told of a partition that died with it: an aborted record stayed visible.
        (
            447,
            [
                "0.216 lag_replication('__transaction_state', 0, 2, records=12) for 2.671",
                "1.033 freeze_node(3) for 2.718",
                "1.561 cut(1, 3) for 5.235",
                "2.139 cut(1, 2) for 4.846",
                "6.023 kill_node(1) for 0.941",
            ],
        ),
        # The timer of writes that waited for their replicas outlived what it was for.
        (1, ["5.517 cut(2, 3) for 0.478"]),
        (4, ["11.669 cut(1, 3) for 1.461"]),
    ],
)
def test_seeds_that_once_broke_a_promise_keep_it(seed: int, schedule: list[str]) -> None:
    outcome = run(seed, schedule=schedule)
    assert not outcome.wrong, report(outcome)


@pytest.mark.long
@pytest.mark.parametrize("seed", [99, 261, 405, 407, 755])
def test_seeds_that_meet_a_marker_which_kafka_leaves_out(seed: int) -> None:
    """A promise is broken there as on Kafka, by a marker that is not written where its partition has no leader; with
    markers that wait for one it is kept."""
    outcome = run_as_promised(seed)
    assert outcome.repeated
    assert not outcome.wrong, report(outcome)


@pytest.mark.long
def test_a_seed_repeats_its_run_record_by_record() -> None:
    first, second = run(5), run(5)

    assert first.fingerprint == second.fingerprint
    assert first.counts == second.counts
    assert first.log == second.log


@pytest.mark.long
def test_a_schedule_repeats_a_run_too() -> None:
    first = run(6)
    assert run(6, schedule=first.schedule).fingerprint == first.fingerprint


@pytest.mark.long
def test_a_cluster_that_commits_before_its_followers_have_it_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is checked can fail: here the high watermark waits for nobody."""
    monkeypatch.setattr(ReplicaSet, "_is_waited_for", lambda *_: False)
    wrong = [each for seed in (1, 3, 5) for each in run(seed).wrong]

    assert any("differs from" in each for each in wrong)


LEADERS_DIE_ALONE = ["1.0 cut(1, 2) for 4", "1.0 cut(1, 3) for 4", "1.0 cut(2, 3) for 4", "2.2 kill_node(2) for 3"]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_cluster_that_answers_before_its_followers_have_it_is_found_out(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here acks=all waits for nobody: what the dead leader acknowledged while nobody followed it is lost."""
    promised = run(seed, schedule=LEADERS_DIE_ALONE)
    monkeypatch.setattr("odradek.broker.api.produce.ACKS_ALL", None)
    lost = run(seed, schedule=LEADERS_DIE_ALONE)

    assert not promised.wrong, report(promised)
    assert any("acknowledged and lost" in each for each in lost.wrong), report(lost)
