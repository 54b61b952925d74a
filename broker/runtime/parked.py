"""Commands that are carried out and not answered: each waits for an `Answer` under its ticket."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from odradek.broker.runtime.inbox import ReplySlot
from odradek.protocol.errors import KafkaError


class ParkedReplies:
    """The slots by ticket. Owner: the shard's `Steps`."""

    __slots__ = ("_name", "_slots")

    def __init__(self, name: str) -> None:
        self._name = name
        self._slots: dict[Hashable, ReplySlot[Any]] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def tickets(self) -> list[Hashable]:
        """Who waits."""
        return list(self._slots)

    def park(self, ticket: Hashable, slot: ReplySlot[Any] | None) -> ReplySlot[Any]:
        """Let a command wait for an `Answer`."""
        if ticket in self._slots:
            raise RuntimeError(f"{self._name}: two commands are parked under {ticket!r}")
        if slot is None:
            slot = ReplySlot()
        self._slots[ticket] = slot
        return slot

    def park_nobody(self, tickets: Iterable[Hashable]) -> None:
        """These tickets will be answered, and nobody waits for it."""
        self._slots = {ticket: ReplySlot() for ticket in tickets}

    def answer(self, ticket: Hashable, reply: Any) -> None:
        """Answer with a reply, or with a `KafkaError`."""
        slot = self._slots.pop(ticket)
        if isinstance(reply, KafkaError):
            slot.fail(reply)
        else:
            slot.complete(reply)

    def let_go(self, ticket: Hashable, error: KafkaError, *, forget: bool) -> None:
        """Answer with an error if the command still waits; `forget`: nothing will answer it again."""
        slot = self._slots.pop(ticket, None)
        if slot is not None:
            slot.fail(error)
            if not forget:
                self._slots[ticket] = ReplySlot()

    def abandon(self, error: KafkaError) -> None:
        """Answer all of them with an error."""
        slots, self._slots = self._slots, {}
        for slot in slots.values():
            slot.fail(error)
