"""Reply slots, and the slots of parked commands."""

from __future__ import annotations

import pytest
import trio

from odradek.broker.runtime.replies import ParkedReplies, ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError


def test_a_slot_takes_one_reply() -> None:
    slot: ReplySlot[int | None] = ReplySlot()
    assert not slot.done
    with pytest.raises(RuntimeError, match="not there yet"):
        slot.result()
    slot.complete(None)
    assert slot.done
    assert slot.result() is None
    with pytest.raises(RuntimeError, match="second reply"):
        slot.complete(1)
    with pytest.raises(RuntimeError, match="second reply"):
        slot.fail(KafkaError(ErrorCode.NOT_COORDINATOR))


def test_an_error_is_raised_at_the_asker() -> None:
    slot: ReplySlot[int] = ReplySlot()
    slot.fail(KafkaError(ErrorCode.NOT_COORDINATOR))
    with pytest.raises(KafkaError) as caught:
        slot.result()
    assert caught.value.code is ErrorCode.NOT_COORDINATOR
    with pytest.raises(RuntimeError, match="second reply"):
        slot.complete(1)


def test_waiting_ends_with_the_reply() -> None:
    async def main() -> None:
        slot: ReplySlot[str] = ReplySlot()
        got: list[str] = []

        async def waiter() -> None:
            got.append(await slot.wait())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waiter)
            await trio.testing.wait_all_tasks_blocked()
            slot.complete("yes")
        assert got == ["yes"]
        assert await slot.wait() == "yes"

    trio.run(main)


LATE = KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)


@pytest.fixture
def parked() -> ParkedReplies:
    return ParkedReplies("test-0")


def test_a_ticket_is_answered_once(parked: ParkedReplies) -> None:
    own: ReplySlot[str] = ReplySlot()
    assert parked.park("a", own) is own
    made = parked.park("b", None)
    with pytest.raises(RuntimeError, match="two commands are parked under 'a'"):
        parked.park("a", None)
    assert parked.tickets() == ["a", "b"]
    parked.answer("a", "hello")
    parked.answer("b", LATE)
    assert own.result() == "hello"
    with pytest.raises(KafkaError):
        made.result()
    assert len(parked) == 0


def test_whoever_is_let_go_may_still_be_answered_to_nobody(parked: ParkedReplies) -> None:
    slot = parked.park("a", None)
    parked.let_go("a", LATE, forget=False)
    assert slot.done
    parked.answer("a", "too late")
    parked.park("b", None)
    parked.let_go("b", LATE, forget=True)
    parked.let_go("b", LATE, forget=True)
    assert parked.tickets() == []


def test_tickets_of_a_copy_are_answered_to_nobody(parked: ParkedReplies) -> None:
    parked.park_nobody(["a", "b"])
    parked.answer("b", "nobody hears it")
    assert parked.tickets() == ["a"]


def test_all_are_let_go_at_the_end(parked: ParkedReplies) -> None:
    slots = [parked.park(ticket, None) for ticket in "ab"]
    parked.abandon(LATE)
    assert all(slot.done for slot in slots)
    assert len(parked) == 0
