"""Many members: a heartbeat costs the same among ten thousand, a join what it moves; more than allowed are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.coordinator.group.share.driver import ShareDriver
from tests.broker.coordinator.group.streams.driver import PLAIN, StreamsDriver
from tests.fakes.consumer_group_driver import ConsumerDriver
from tests.fakes.steps import steps

LATER = "10000"  # no second target assignment while the members come


def assert_flat(beat: Callable[[int], Callable[[], object]], most: int = 10_000) -> None:
    """``beat(members)``: a heartbeat of the last of so many."""
    few, many = (min(steps(beat(members)) for _ in range(2)) for members in (100, most))  # one may load a codec
    assert many <= few * 1.1, f"{few} calls among a hundred, {many} among {most}"


@pytest.mark.long
def test_consumer_members_live_at_the_same_cost() -> None:
    def beat(members: int) -> Callable[[], object]:
        driver = ConsumerDriver({"group.consumer.assignment.interval.ms": LATER})
        for number in range(members):
            epoch = driver.join(f"m{number}").member_epoch
        return lambda: driver.beat(f"m{members - 1}", epoch, owned={})

    assert_flat(beat)


def test_a_consumer_member_joins_at_the_cost_of_what_moves() -> None:
    def join(members: int) -> Callable[[], object]:
        driver = ConsumerDriver()
        driver.change_topic("t", members + 1)
        for number in range(members):
            driver.join(f"m{number}")
        return lambda: driver.join("another")  # it gets the one partition that somebody has too many

    assert_flat(join, most=500)


@pytest.mark.long
def test_streams_members_live_at_the_same_cost() -> None:
    def beat(members: int) -> Callable[[], object]:
        driver = StreamsDriver({"group.streams.assignment.interval.ms": LATER})
        for number in range(members):
            reply = driver.join(f"m{number}")
        return lambda: driver.beat(f"m{members - 1}", reply.member_epoch, active=())

    assert_flat(beat)


def test_share_members_live_at_the_same_cost() -> None:
    def beat(members: int) -> Callable[[], object]:
        driver = ShareDriver(group_share_max_size="1000", group_share_assignment_interval_ms=LATER)
        for number in range(members):
            epoch = driver.beat(f"m{number}", 0, "t").member_epoch
        return lambda: driver.beat(f"m{members - 1}", epoch)

    assert_flat(beat, most=1_000)  # more are not allowed by any setting


@pytest.mark.long
def test_join_group_above_the_limit_of_a_large_group_is_refused() -> None:
    share = ShareDriver(group_share_max_size="100")
    streams = StreamsDriver({"group.streams.max.size": "100"})
    consumer = ConsumerDriver({"group.consumer.max.size": "100"})
    for number in range(100):
        share.beat(f"m{number}", 0, "t")
        streams.join(f"m{number}")
        consumer.join(f"m{number}")
    records = (len(share.log), streams.journal.end_offset, consumer.journal.end_offset)
    for number in range(100, 10_000):
        late = share.heartbeat(f"m{number}", 0, "t")
        with pytest.raises(KafkaError, match="maximum capacity of 100 members") as refused:
            share.ask(late)
        assert refused.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED
        code, text = streams.error(streams.joining(f"m{number}", PLAIN))
        assert (code, "100 members" in (text or "")) == (ErrorCode.GROUP_MAX_SIZE_REACHED, True)
        code, text = consumer.refusal(f"m{number}", 0, topics=("t",), owned={}, rebalance_timeout_ms=1)
        assert (code, "100 members" in text) == (ErrorCode.GROUP_MAX_SIZE_REACHED, True)
    assert (len(share.log), streams.journal.end_offset, consumer.journal.end_offset) == records
