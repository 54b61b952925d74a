"""Answers that come now or later."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest
import trio

from odradek.broker.api.deferred_answer import later, later_all
from odradek.broker.clock import BrokerClock
from odradek.broker.requests.parked_request import Parked
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError


def run(answer: Any) -> Any:
    async def main() -> Any:
        if isinstance(answer, Parked):
            return await answer.response(BrokerClock())
        assert isinstance(answer, Coroutine)
        return await answer

    return trio.run(main)


def test_a_reply_is_answered_now_or_when_it_comes() -> None:
    slot: ReplySlot[int] = ReplySlot()
    assert later(1, str) == "1"
    waiting = later(slot, str)
    slot.complete(2)
    assert run(waiting) == "2"


def test_who_waits_is_woken_by_the_reply() -> None:
    slot: ReplySlot[int] = ReplySlot()
    waiting = later(slot, str)
    assert isinstance(waiting, Parked)
    woken: list[str] = []
    waiting.wake = lambda: woken.append("woken")
    assert (waiting.resume(), woken) == (None, [])
    slot.complete(2)
    assert (waiting.resume(), woken) == ("2", ["woken"])


def test_who_has_gone_is_not_woken() -> None:
    slot: ReplySlot[int] = ReplySlot()
    waiting = later(slot, str)
    assert isinstance(waiting, Parked)
    waiting.wake = lambda: pytest.fail("nobody waits")
    waiting.abandon()
    slot.complete(2)


def test_an_error_that_comes_later_is_answered_or_raised() -> None:
    slot: ReplySlot[int] = ReplySlot()
    slot.fail(KafkaError(ErrorCode.NOT_COORDINATOR))
    assert run(later(slot, str, lambda error: error.code.name)) == "NOT_COORDINATOR"
    with pytest.raises(KafkaError, match="NOT_COORDINATOR"):
        run(later(slot, str))


def test_several_replies_fill_one_answer() -> None:
    answer: dict[str, Any] = {}
    slots: list[ReplySlot[int]] = [ReplySlot(), ReplySlot()]

    def row(name: str, reply: int | ReplySlot[int]) -> Any:
        return reply, lambda told: answer.update({name: told}), lambda error: answer.update({name: error.code})

    assert later_all([row("a", 1)], answer) == {"a": 1}
    waiting = later_all([row("a", 1), row("b", slots[0]), row("c", slots[1])], answer)
    slots[1].complete(3)
    slots[0].fail(KafkaError(ErrorCode.NOT_COORDINATOR))
    assert run(waiting) == {"a": 1, "b": ErrorCode.NOT_COORDINATOR, "c": 3}
