"""Answers that wait for a coordinator: for other members, or for the replicas of its log."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from odradek.broker.requests.parked_request import Parked
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import KafkaError

R = TypeVar("R")
T = TypeVar("T")

Later = Parked | Coroutine[Any, Any, Any]
"""The coroutine of a handler whose answer comes later."""

_NEVER_MS = 1 << 62
"""A coordinator's reply comes in any case, so nobody has to look at the clock."""


def later(
    reply: R | ReplySlot[R], answer: Callable[[R], T], refused: Callable[[KafkaError], T] | None = None
) -> T | Later:
    """The answer that is made of a coordinator's reply, now or when it comes.

    `refused` answers an error that comes later; without it the error is answered at the API's level.
    """
    return _ReplyWait(reply, answer, refused) if isinstance(reply, ReplySlot) else answer(reply)


class _ReplyWait(Parked):
    """A request that waits for one reply of a coordinator. The coordinator replies even if the client has gone."""

    __slots__ = ("_answer", "_refused", "_slot")

    def __init__(
        self, slot: ReplySlot[Any], answer: Callable[[Any], Any], refused: Callable[[KafkaError], Any] | None
    ) -> None:
        super().__init__(_NEVER_MS)
        self._slot = slot
        self._answer = answer
        self._refused = refused
        slot.tell(self._wake_up)

    def _wake_up(self) -> None:
        self.wake()

    def resume(self) -> Any:
        if not self._slot.done:
            return None
        try:
            return self._answer(self._slot.result())
        except KafkaError as error:
            if self._refused is None:
                raise
            return self._refused(error)

    def abandon(self) -> None:
        self._slot.tell(None)


def later_all(
    replies: Iterable[tuple[R | ReplySlot[R], Callable[[R], None], Callable[[KafkaError], None]]], answer: T
) -> T | Later:
    """The same for an answer with a place for each of several replies: functions that fill in a reply and an error."""
    waiting = []
    for reply, fill, refuse in replies:
        if isinstance(reply, ReplySlot):
            waiting.append((reply, fill, refuse))
        else:
            fill(reply)
    return _when_all_are_there(waiting, answer) if waiting else answer


async def _when_all_are_there(
    waiting: list[tuple[ReplySlot[R], Callable[[R], None], Callable[[KafkaError], None]]], answer: T
) -> T:
    for slot, fill, refuse in waiting:
        try:
            fill(await slot.wait())
        except KafkaError as error:
            refuse(error)
    return answer
