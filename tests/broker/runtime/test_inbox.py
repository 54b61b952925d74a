"""Reply slots and the inbox."""

from __future__ import annotations

import pytest
import trio

from odradek.broker.coordinator.group.commands import ExpireOffsets
from odradek.broker.runtime.inbox import Inbox, ReplySlot
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


def test_the_inbox_is_first_in_first_out() -> None:
    inbox = Inbox()
    first, second = ExpireOffsets(), ExpireOffsets()
    inbox.put(first, None)
    inbox.put(second, ReplySlot())
    assert len(inbox.waiting) == 2
    assert inbox.take().command is first
    assert inbox.take().command is second
    assert not inbox.waiting
