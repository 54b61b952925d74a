"""Answers that wait for a coordinator: for other members, or for the replicas of its log."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from odradek.broker.runtime.inbox import ReplySlot
from odradek.protocol.errors import KafkaError

R = TypeVar("R")
T = TypeVar("T")

Later = Coroutine[Any, Any, Any]
"""What a handler returns whose answer comes later."""


def later(
    reply: R | ReplySlot[R], answer: Callable[[R], T], refused: Callable[[KafkaError], T] | None = None
) -> T | Later:
    """The answer that is made of a coordinator's reply, now or when it comes.

    `refused` answers an error that comes later; without it the error is answered at the API's level.
    """
    return _when_there(reply, answer, refused) if isinstance(reply, ReplySlot) else answer(reply)


async def _when_there(slot: ReplySlot[R], answer: Callable[[R], T], refused: Callable[[KafkaError], T] | None) -> T:
    try:
        return answer(await slot.wait())
    except KafkaError as error:
        if refused is None:
            raise
        return refused(error)


def later_all(
    replies: Iterable[tuple[R | ReplySlot[R], Callable[[R], None], Callable[[KafkaError], None]]], answer: T
) -> T | Later:
    """The same for an answer that has a place for each of several replies: what fills it in, and what an error does."""
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
