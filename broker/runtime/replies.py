"""Where callers wait for the reply to a command that cannot be answered at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic

import trio

from odradek.broker.runtime.machine import R
from odradek.protocol.errors import KafkaError, as_value

_EMPTY: Any = object()


class ReplySlot(Generic[R]):
    """The place of one reply. It is filled exactly once, even if the caller no longer waits."""

    __slots__ = ("_callback", "_error", "_event", "_value")

    def __init__(self) -> None:
        self._value: Any = _EMPTY
        self._error: BaseException | None = None
        self._event: trio.Event | None = None
        self._callback: Callable[[], None] | None = None

    @property
    def done(self) -> bool:
        """Whether the reply (or error) is there."""
        return self._value is not _EMPTY or self._error is not None

    def complete(self, value: R) -> None:
        """Set the reply."""
        if self.done:
            raise RuntimeError(f"a second reply to one command: {value!r} after {self._error or self._value!r}")
        self._value = value
        self._arrived()

    def fail(self, error: BaseException) -> None:
        """Set an error, which is raised where the caller waits."""
        if self.done:
            raise RuntimeError(f"a second reply to one command: {error!r} after {self._error or self._value!r}")
        self._error = as_value(error)
        self._arrived()

    def notify(self, callback: Callable[[], None] | None) -> None:
        """Call `callback` once when the reply arrives; None calls nobody. Only while not `done`."""
        self._callback = callback

    def _arrived(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()
        if self._event is not None:
            self._event.set()

    def result(self) -> R:
        """The reply, or its error raised. Only when `done`."""
        error = self._error
        if isinstance(error, KafkaError):
            raise error.again()
        if error is not None:
            raise error
        if self._value is _EMPTY:
            raise RuntimeError("the reply is not there yet")
        value: R = self._value
        return value

    async def wait(self) -> R:
        """Wait for the reply. Cancelling the wait does not cancel the command."""
        if not self.done:
            if self._event is None:
                self._event = trio.Event()
            await self._event.wait()
        return self.result()


class EarlyReply(ReplySlot[R]):
    """A reply that is known, and given out once its records are committed. `early`: for callers that need not wait."""

    __slots__ = ("early",)

    def __init__(self, early: R) -> None:
        super().__init__()
        self.early = early


class ParkedReplies:
    """The reply slots of parked commands, by ticket. Each waits for an `Answer`. Owner: the shard."""

    __slots__ = ("_name", "_slots")

    def __init__(self, name: str) -> None:
        self._name = name
        self._slots: dict[Hashable, ReplySlot[Any]] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def tickets(self) -> list[Hashable]:
        """The tickets of all parked commands."""
        return list(self._slots)

    def park(self, ticket: Hashable, slot: ReplySlot[Any] | None) -> ReplySlot[Any]:
        """Park a command under a ticket."""
        if ticket in self._slots:
            raise RuntimeError(f"{self._name}: two commands are parked under {ticket!r}")
        if slot is None:
            slot = ReplySlot()
        self._slots[ticket] = slot
        return slot

    def park_nobody(self, tickets: Iterable[Hashable]) -> None:
        """Accept answers to these tickets, for which nobody waits."""
        self._slots = {ticket: ReplySlot() for ticket in tickets}

    def answer(self, ticket: Hashable, reply: Any) -> None:
        """Answer with a reply, or with a `KafkaError`."""
        slot = self._slots.pop(ticket)
        if isinstance(reply, KafkaError):
            slot.fail(reply)
        else:
            slot.complete(reply)

    def let_go(self, ticket: Hashable, error: KafkaError, *, forget: bool) -> None:
        """Answer with an error if the command still waits. With `forget`, no further answer will come."""
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
