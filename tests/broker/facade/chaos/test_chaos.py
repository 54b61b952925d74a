"""`odradek.Chaos` as a user has it: by steps, by the clock, in every style."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

import odradek
from odradek import Chaos, KafkaBroker
from odradek.broker.facade.chaos.chaos import TRIALS, Trials, shrunk
from tests.fakes.brokers import broker_fixture

TOPICS = {"orders": {"partitions": 2, "replication_factor": 3}}
broker = broker_fixture(frozen=True, nodes=3, topics=TOPICS)


def test_one_seed_is_one_schedule_in_every_cluster_of_that_shape(broker: KafkaBroker) -> None:
    with KafkaBroker(nodes=3, topics=TOPICS) as other, KafkaBroker(nodes=2) as smaller:
        schedules = [Chaos(seed=7).plan(each) for each in (broker, other, smaller)]

    assert schedules[0] == schedules[1] != schedules[2]
    assert Chaos(seed=8).plan(broker) != schedules[0]


def test_steps_apply_the_schedule_and_the_clock_stands_still(broker: KafkaBroker) -> None:
    chaos = Chaos(seed=7, kinds=["kill_node", "cut"])
    before = broker.clock.now_ms()
    done = [line for _ in range(60) for line in chaos.step(broker)]

    assert chaos.finished
    assert done == chaos.log
    assert [line for line in done if "is over" not in line] == [
        f"{fault.at:8.3f} {fault.call}" for fault in chaos.schedule
    ]
    assert broker.clock.now_ms() == before
    assert len(broker.cluster.up_nodes()) == 3


def test_the_clock_applies_the_schedule_and_the_text_replays_it(broker: KafkaBroker) -> None:
    with Chaos(seed=3).run(broker) as chaos:
        for _ in range(60):
            broker.clock.advance(1)
    assert chaos.finished

    with KafkaBroker(nodes=3, topics=TOPICS) as other:
        again = Chaos.replay(chaos.schedule_text)
        again.step(other, 60)
    assert again.log == chaos.log


def test_a_schedule_may_be_cut_down_to_some_of_its_faults(broker: KafkaBroker) -> None:
    every = Chaos(seed=7).plan(broker)
    some = Chaos(seed=7, only=[2, 5]).plan(broker)

    assert some == (every[1], every[4])
    assert Chaos.replay(every, only=[2, 5]).plan(broker) == some


def test_the_end_of_the_block_undoes_what_lasts_and_leaves_the_rest_out(broker: KafkaBroker) -> None:
    schedule = ["1 kill_node(2) for 50", "5 kill_node(3) for 1"]
    with Chaos.replay(schedule).run(broker) as chaos:
        broker.clock.advance(2)
        assert len(broker.cluster.up_nodes()) == 2
    assert chaos.log == ["   1.000 kill_node(2)", "   1.000 kill_node(2) is over"]
    broker.clock.advance(100)
    assert len(broker.cluster.up_nodes()) == 3


def test_a_run_may_leave_the_cluster_as_it_is(broker: KafkaBroker) -> None:
    with Chaos.replay("1 kill_node(2) for 50", heal=False).run(broker):
        broker.clock.advance(2)
    assert len(broker.cluster.up_nodes()) == 2


def test_chaos_heal_brings_back_what_steps_took(broker: KafkaBroker) -> None:
    chaos = Chaos.replay("1 kill_node(2) for 50")
    chaos.heal(broker)  # nothing has begun
    chaos.step(broker)
    chaos.heal(broker)
    assert len(broker.cluster.up_nodes()) == 3


def test_a_broker_that_was_closed_inside_is_no_error() -> None:
    with KafkaBroker(nodes=3) as broker, Chaos(seed=1).run(broker):
        broker.close()


def test_what_no_fault_should_raise_is_raised_at_the_end(broker: KafkaBroker) -> None:
    with pytest.raises(TypeError), Chaos.replay("1 kill_node()").run(broker):
        broker.clock.advance(2)
    with pytest.raises(TypeError):
        Chaos.replay("1 kill_node()").step(broker)


def test_in_a_trio_run_the_steps_follow_its_clock() -> None:
    async def main() -> list[str]:
        async with odradek.open_broker(nodes=3, topics=TOPICS) as broker:
            with Chaos(seed=3).run(broker) as chaos:
                await trio.sleep(61)
            assert chaos.finished
            return chaos.log

    log = trio.run(main, clock=MockClock(autojump_threshold=0))
    with KafkaBroker(nodes=3, topics=TOPICS) as threaded:
        chaos = Chaos(seed=3)
        chaos.step(threaded, 61)
    assert chaos.log == log


def test_chaos_runs_in_asyncio(broker: KafkaBroker) -> None:
    async def main() -> None:
        with Chaos.replay("1 kill_node(2) for 1").run(broker) as chaos:
            await asyncio.to_thread(broker.clock.advance, 1.5)
            assert chaos.log == ["   1.000 kill_node(2)"]

    asyncio.run(main())


def test_what_ran_is_remembered_for_the_report(broker: KafkaBroker) -> None:
    TRIALS.begin()
    chaos = Chaos(seed=7)
    chaos.step(broker)
    assert list(TRIALS.ran) == [chaos]
    assert TRIALS.faults() == [(0, fault.number) for fault in chaos.schedule]

    kept = TRIALS.faults()[:2]
    with TRIALS.keeping(kept):
        chaos = Chaos(seed=7)
        chaos.step(broker)
        assert [(0, fault.number) for fault in chaos.schedule] == kept


def test_a_schedule_is_known_once_the_cluster_is() -> None:
    chaos = Chaos(seed=7)
    assert repr(chaos) == "<Chaos: seed 7>"
    assert repr(Chaos.replay("")) == "<Chaos: a given schedule>"
    assert chaos.log == []
    assert not chaos.finished
    with pytest.raises(RuntimeError, match="the schedule depends on the cluster"):
        _ = chaos.schedule


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["kil_node"]}, r"did you mean 'kill_node'\?"),
        ({"kinds": []}, "nothing to draw"),
        ({"kinds": {"kill_node": -1}}, "not negative"),
        ({"seconds": 0}, "above 0"),
        ({"faults": -1}, "not below"),
        ({"at_once": 0}, "above 0"),
        ({"min_up": -1}, "not below"),
        ({"lasting": (3, 1)}, "shortest and the longest"),
        ({"apis": ["Produse"]}, r"did you mean 'Produce'\?"),
    ],
)
def test_a_mistake_is_told_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Chaos(seed=1, **options)


def test_chaos_with_unknown_faults_or_negative_times_is_refused(broker: KafkaBroker) -> None:
    with pytest.raises(TypeError, match="whole number"):
        Chaos(seed="7")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no topic order"):
        Chaos(seed=7, topics=["order"]).plan(broker)
    with pytest.raises(ValueError, match="no fault is called"):
        Chaos.replay("1 explode()")
    with pytest.raises(ValueError, match="does not go back"):
        Chaos(seed=7).step(broker, -1)


def test_other_kinds_are_drawn_besides_the_usual_ones_when_they_are_asked_for(broker: KafkaBroker) -> None:
    usual = {fault.verb for seed in range(20) for fault in Chaos(seed).plan(broker)}
    more = {fault.verb for seed in range(20) for fault in Chaos(seed, also=["fail_disk", "cut_clients"]).plan(broker)}

    assert more - usual == {"fail_disk", "cut_clients"}
    with pytest.raises(ValueError, match="did you mean 'fail_disk'"):
        Chaos(1, also=["fail_dsk"])


# -- trials


@given(st.sets(st.integers(0, 40), max_size=4), st.integers(41, 60))
def test_the_faults_that_matter_are_found(needed: set[int], count: int) -> None:
    runs: list[Sequence[int]] = []

    def fails(some: Sequence[int]) -> bool:
        runs.append(some)
        return needed <= set(some)

    assert shrunk(range(count), fails, tries=1000) == sorted(needed)
    assert len(runs) < 250


def test_either_of_two_that_do_it_alone_is_enough() -> None:
    assert shrunk(range(10), lambda some: 3 in some or 8 in some) in ([3], [8])


def test_no_more_runs_than_allowed_and_what_was_found_until_then() -> None:
    runs = 0

    def fails(some: Sequence[int]) -> bool:
        nonlocal runs
        runs += 1
        return {1, 38} <= set(some)

    found = shrunk(range(40), fails, tries=12)

    assert runs <= 12
    assert {1, 38} <= set(found)
    assert len(found) < 40


def test_a_trial_keeps_the_faults_that_it_names_of_each_chaos_that_runs() -> None:
    trials = Trials()
    first, second = Chaos(seed=1), Chaos(seed=2)
    trials.ran += [first, second]
    assert trials.keeps(first, 5)

    with trials.keeping([(0, 5), (1, 2)]):
        assert not trials.ran
        trials.ran += [first, second]
        assert [number for number in range(9) if trials.keeps(first, number)] == [5]
        assert [number for number in range(9) if trials.keeps(second, number)] == [2]

    assert trials.keeps(first, 6)
