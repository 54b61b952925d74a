"""Bounded runs of the fuzzer against a broker of this process; `python -m tests.attack` has the long ones."""

from __future__ import annotations

from functools import partial

import pytest
import trio

from odradek.broker.facade.threaded import KafkaBroker
from tests.attack.doors import DOORS, prepare, secured
from tests.attack.frames import LIMITS, TOPICS, TURN, Fuzzer

FRAMES = 4_000


def settled_tasks(broker: KafkaBroker) -> int:
    """The tasks that live when every timeout has come due and what the frames created is gone."""
    for _ in range(5):
        broker.clock.advance(minutes=10)
    for name in broker.topics:
        if name not in TOPICS:
            broker._call(partial(broker.cluster.delete_topic, name))
    broker.clock.advance(days=8)
    return broker._call(lambda: trio.lowlevel.current_statistics().tasks_living)


@pytest.mark.long
@pytest.mark.parametrize("secured_doors", [False, True], ids=["plain", "secured"])
def test_mutated_frames_meet_no_bug_and_leave_no_task_behind(secured_doors: bool) -> None:
    doors = [door for door in DOORS if (door.name != "plain") is secured_doors]
    with KafkaBroker(topics=TOPICS, config={**LIMITS, **secured()}) as broker:
        fuzzer = Fuzzer(prepare(broker), 11, doors)
        tasks = []
        for _ in range(2):
            for _ in range(FRAMES // TURN // 2):
                fuzzer.turn()
            tasks.append(settled_tasks(broker))
        assert not broker.bugs, f"{broker.bugs[0]}\nframe: {broker.bugs[0].frame.hex()}"
        assert fuzzer.outcome.answered > FRAMES // 10
        assert len(fuzzer.outcome.doors) >= min(5, len(doors))
        assert tasks[1] - tasks[0] < 110  # coordinators of the two internal topics, at most
