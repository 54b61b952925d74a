"""What a handler may return in place of a response: one that is encoded, or a request that waits without a task."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import trio

from odradek.broker.partitions.waiters import Waiter
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import KafkaError
from odradek.protocol.file_slice import Part
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.partitions.waiters import WaiterSet


_NO_APPEND = 1 << 62
"""More bytes than are ever appended: only other changes wake."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Parked:
    """A handler returns one if it cannot give the response yet.

    Its holder sets `wake`. It calls `resume` after each wake-up and at `deadline_ms` (on the broker's clock) until
    `resume` returns the response, or `abandon` when nobody wants the response any more. A wake-up may come at any time
    after the handler has returned, so `wake` must only take note of it.
    """

    __slots__ = ("deadline_ms", "wake")

    def __init__(self, deadline_ms: int) -> None:
        self.deadline_ms = deadline_ms
        self.wake: Callable[[], None] = _nothing

    def resume(self) -> Any:
        """The response, or None to wait on. A KafkaError is answered like one that a handler raises."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Leave nothing behind; fine when it is over already."""
        raise NotImplementedError

    async def response(self, clock: BrokerClock) -> Any:
        """Wait for the response in the calling task."""
        try:
            while True:
                woken = trio.Event()
                self.wake = woken.set
                response = self.resume()
                if response is not None:
                    return response
                with clock.move_on_after((self.deadline_ms - clock.now_ms()) / 1000):
                    await woken.wait()
        finally:
            self.abandon()


@mypyc_attr(allow_interpreted_subclasses=True)
class ParkedInPartitions(Parked):
    """One that waits for changes of partitions, for `wait_ms` at most."""

    __slots__ = ("_clock", "_waiter")

    def __init__(self, clock: BrokerClock, wait_ms: int) -> None:
        super().__init__(clock.now_ms() + wait_ms)
        self._clock = clock

    def look(self, due: bool) -> Any:
        """The response, or None after another `wait_in`. `due`: there is no more time, or the broker stops."""
        raise NotImplementedError

    def wait_in(
        self,
        sets: Sequence[WaiterSet],
        missing_bytes: int = _NO_APPEND,
        *,
        committed: bool = False,
        uncommitted: bool = False,
    ) -> None:
        """Wait for the next change; see `Waiter`."""
        self._waiter = Waiter(missing_bytes, self._wake, committed=committed, uncommitted=uncommitted)
        self._waiter.wait_in(sets)

    def resume(self) -> Any:
        waiter = self._waiter
        due = waiter.over or self._clock.now_ms() >= self.deadline_ms
        if not waiter.woken and not due:
            return None
        waiter.leave()
        return self.look(due)

    def abandon(self) -> None:
        self._waiter.leave()

    def _wake(self) -> None:
        self.wake()


C = TypeVar("C")


@mypyc_attr(allow_interpreted_subclasses=True)
class OutcomeWait(ParkedInPartitions):
    """Waits until each of some changes has its outcome, for `timeout_ms` at most.

    `changes`: each with its `partition`. `settle`: puts the outcome of one into the answer, or returns False while
    there is none; its second argument says that there is no more time. `answer`: makes the response.
    """

    __slots__ = ("_answer", "_changes", "_settle")

    def __init__(
        self,
        clock: BrokerClock,
        timeout_ms: int,
        changes: Sequence[C],
        settle: Callable[[C, bool], bool],
        answer: Callable[[], Any],
    ) -> None:
        super().__init__(clock, max(0, timeout_ms))
        self._changes: Sequence[Any] = changes
        self._settle: Callable[[Any, bool], bool] = settle
        self._answer = answer
        self._register()

    def look(self, due: bool) -> Any:
        self._changes = [change for change in self._changes if not (self._settle(change, due) or due)]
        if not self._changes:
            return self._answer()
        self._register()
        return None

    def _register(self) -> None:
        self.wait_in([change.partition.waiters for change in self._changes])


def _nothing() -> None:
    """Nobody waits yet."""


# -- Responses that are encoded already.


class EncodedBody:
    """A response body that is encoded already, for the version that was asked."""

    __slots__ = ("body",)

    def __init__(self, body: bytes) -> None:
        self.body = body


class EncodedParts:
    """The parts of a response's body, encoded already, and the response."""

    __slots__ = ("parts", "response")

    def __init__(self, response: Any, parts: list[Part]) -> None:
        self.response = response
        self.parts = parts


def is_coroutine(returned: object) -> TypeGuard[Coroutine[Any, Any, Any]]:
    """Whether a handler returned a coroutine. Compiled functions return one of a class of their own."""
    return hasattr(returned, "__await__")


async def response_of(returned: Any, clock: BrokerClock) -> Any:
    """The response behind what a handler returned."""
    if is_coroutine(returned):
        returned = await returned
    return await returned.response(clock) if isinstance(returned, Parked) else returned


def then(returned: Any, clock: BrokerClock, answer: Callable[[Any], Any]) -> Any:
    """What `answer` makes of the response behind what a handler returned: now, or a coroutine if that has to wait."""
    if isinstance(returned, Parked) or is_coroutine(returned):
        return _answered_later(returned, clock, answer)
    return answer(returned)


async def _answered_later(returned: Any, clock: BrokerClock, answer: Callable[[Any], Any]) -> Any:
    return await response_of(answer(await response_of(returned, clock)), clock)


# -- Answers that wait for a coordinator: for other members, or for the replicas of its log.

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


def awaited(reply: T | ReplySlot[T], refused: Callable[[KafkaError], T] | None = None) -> T | Later:
    """The same for a coordinator that replies with the answer itself."""
    return _ReplyWait(reply, _itself, refused) if isinstance(reply, ReplySlot) else reply


def _itself(response: Any) -> Any:
    return response


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
        slot.notify(self._wake_up)

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
        self._slot.notify(None)


Ask = tuple[Callable[[], Any], Callable[[Any], None] | None, Callable[[KafkaError], None]]
"""Gives a coordinator a command; fills in its reply (None: the answer says it already); fills in an error."""


def later_all(asks: Iterable[Ask], answer: T) -> T | Later:
    """The same for an answer with a place for each of several replies."""
    waiting = []
    for begin, fill, refuse in asks:
        try:
            reply = begin()
        except KafkaError as error:
            refuse(error)
            continue
        if isinstance(reply, ReplySlot):
            waiting.append((reply, fill, refuse))
        elif fill is not None:
            fill(reply)
    return _when_all_are_there(waiting, answer) if waiting else answer


async def _when_all_are_there(
    waiting: list[tuple[ReplySlot[Any], Callable[[Any], None] | None, Callable[[KafkaError], None]]], answer: T
) -> T:
    for slot, fill, refuse in waiting:
        try:
            reply = await slot.wait()
            if fill is not None:
                fill(reply)
        except KafkaError as error:
            refuse(error)
    return answer
