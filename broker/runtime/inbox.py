"""Where commands wait for their turn, and askers for their replies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Generic, NamedTuple

import trio

from odradek.broker.runtime.command import Command, R

_EMPTY: Any = object()


class ReplySlot(Generic[R]):
    """The place of one reply. Filled exactly once; the asker may have gone by then, which changes nothing."""

    __slots__ = ("_error", "_event", "_told", "_value")

    def __init__(self) -> None:
        self._value: Any = _EMPTY
        self._error: BaseException | None = None
        self._event: trio.Event | None = None
        self._told: Callable[[], None] | None = None

    @property
    def done(self) -> bool:
        """Whether the reply (or error) is there."""
        return self._value is not _EMPTY or self._error is not None

    def complete(self, value: R) -> None:
        """Fill in the reply."""
        if self.done:
            raise RuntimeError(f"a second reply to one command: {value!r} after {self._error or self._value!r}")
        self._value = value
        self._tell()

    def fail(self, error: BaseException) -> None:
        """Fill in an error, which the asker will see raised."""
        if self.done:
            raise RuntimeError(f"a second reply to one command: {error!r} after {self._error or self._value!r}")
        self._error = error
        self._tell()

    def tell(self, told: Callable[[], None] | None) -> None:
        """Call `told` once, when the reply is there, which it is not yet; None for nobody."""
        self._told = told

    def _tell(self) -> None:
        told, self._told = self._told, None
        if told is not None:
            told()
        if self._event is not None:
            self._event.set()

    def result(self) -> R:
        """The reply, or its error raised. Only when `done`."""
        if self._error is not None:
            raise self._error
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
    """A reply that is decided, and told when what it says is committed. `early`: for who need not wait for that."""

    __slots__ = ("early",)

    def __init__(self, early: R) -> None:
        super().__init__()
        self.early = early


class Waiting(NamedTuple):
    """A command in the inbox and the slot of its reply (None: nobody asks)."""

    command: Command[Any]
    slot: ReplySlot[Any] | None


class Inbox:
    """Commands that came while the shard was carrying one out, first in first out.

    It is empty most of the time: a shard lives in one thread and carries a command out in one sync step, so only a
    command that another one causes, through an effect, ever waits here (see `Shard.follow_up`).

    `waiting`: for a look whether there is any.
    """

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: deque[Waiting] = deque()

    def put(self, command: Command[Any], slot: ReplySlot[Any] | None) -> None:
        """Add at the end."""
        self.waiting.append(Waiting(command, slot))

    def take(self) -> Waiting:
        """Remove the first."""
        return self.waiting.popleft()
