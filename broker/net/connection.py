"""One client connection: frames in, answers out, in order, one at a time."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Callable
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, Protocol

import trio

from odradek.broker.net.connection_states import RULES, ConnectionState
from odradek.broker.net.receive_buffer import ReceiveBuffer, SpeaksTlsError
from odradek.broker.net.sending import Transport, bytes_of_its_own, send_large
from odradek.broker.requests.context import CloseConnection, ConnectionInfo
from odradek.broker.requests.dispatch import Disturbed, Long, Pending, Throttled, Unreached
from odradek.broker.requests.parked_request import Parked
from odradek.broker.requests.recent_requests import Frame
from odradek.protocol.errors import ProtocolError

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.metadata.node import Node
    from odradek.broker.net.login_gate import LoginGate, NewGate
    from odradek.broker.net.wire import Wire
    from odradek.broker.requests.dispatch import Begin, Dispatcher, Look, Parts
    from odradek.storage.byte_budget import ByteBudget

_log = logging.getLogger("odradek.broker.net")

_REQUESTS_AT_ONCE: Final = 16  # requests answered for one connection before the others get their turn
_BYTES_AT_ONCE: Final = 4 * 1024 * 1024  # and so many bytes read
_JOIN_BELOW_BYTES: Final = 16 * 1024
_SMALL_BUFFER_BYTES: Final = 64 * 1024


class Poller(Protocol):
    """Reads and answers for connections that wait only for a request; see `odradek.broker.fast`.

    Without one each connection waits in its own task.
    """

    def add(self, connection: Connection) -> None:
        """Watch a connection's socket until the socket is closed."""

    def watch(self, connection: Connection, begin: Callable[[], None]) -> None:
        """Serve a new connection, which is watched; `begin` is called when it needs a task of its own."""

    def forget(self, connection: Connection) -> None:
        """Undo `watch` for a connection."""

    def park(self, connection: Connection, parked: Parked) -> None:
        """Answer the connection's request when the request is woken or its deadline comes."""

    def wake(self, connection: Connection) -> None:
        """Read a watched connection's socket, which may have unread bytes without an event."""

    async def idle(self, connection: Connection) -> None:
        """Serve the connection; return when it needs its own task."""

    async def run(self) -> None:
        """Serve until cancelled."""

    def close(self) -> None:
        """Free the poller's system resources. Called when all tasks have ended."""


_WATCHED: Final[ConnectionState] = ConnectionState.WATCHED
_SERVING: Final[ConnectionState] = ConnectionState.SERVING
_PARKED: Final[ConnectionState] = ConnectionState.PARKED
_WAITING: Final[ConnectionState] = ConnectionState.WAITING
_SENDING: Final[ConnectionState] = ConnectionState.SENDING
_MUTED: Final[ConnectionState] = ConnectionState.MUTED
_CLOSED: Final[ConnectionState] = ConnectionState.CLOSED


class Connection:
    """Serves one socket until the client, an error or the server ends it.

    `state` says who reads and what the connection waits for (`connection_states`). The connection's own task runs
    `serve`. The next request is read when the last one is answered (Kafka mutes a connection in the same way), so
    answers need no reordering. A poller, if there is one, reads and answers while the connection is watched or parked.
    The task begins when the connection has to wait for something else (`ConnectionTask`).

    `unread`: whether the socket may have bytes without a pending event. It is False only if the last read took
    everything and no event has come since. It is checked when a parked request has been answered. `wire` replaces the
    socket while a test makes the link to the client bad; `new_wire` makes one. `cancel` ends the connection.
    `unsent_answers`: counts what all connections have in memory to send.
    `_pending`: the parked or waiting request. `_unsent`: the part of an answer for which the socket had no room.
    `_error`: why the connection is closed. `_held`: the answer to the last request while the poller holds it back
    (`_holds`), which is never longer than its turn.
    """

    __slots__ = (
        "_begin",
        "_buffer",
        "_clock",
        "_dispatcher",
        "_error",
        "_gate",
        "_held",
        "_holds",
        "_look",
        "_max_request_bytes",
        "_muted_until_ms",
        "_nap",
        "_pending",
        "_poller",
        "_received",
        "_socket",
        "_unsent",
        "cancel",
        "closing",
        "info",
        "last_used_ms",
        "new_wire",
        "node",
        "state",
        "unread",
        "unsent_answers",
        "wire",
    )

    def __init__(
        self,
        node: Node,
        sock: Transport,
        info: ConnectionInfo,
        poller: Poller | None,
        dispatcher: Dispatcher,
        clock: BrokerClock,
        max_request_bytes: int,
        new_gate: NewGate | None = None,
    ) -> None:
        """`new_gate`: makes the gate for the log-in, on a listener that requires one."""
        self.node = node
        self.info = info
        self.state = _SERVING
        self.closing = False
        self.unread = True
        self.wire: Wire | None = None
        self.new_wire: Callable[[Connection], Wire] = _no_wire
        self.cancel: Callable[[Connection], None] = _no_task
        self.unsent_answers: ByteBudget[Connection] | None = None
        self._received: ByteBudget[Connection] | None = None
        self.last_used_ms = clock.now_ms()
        self._socket = sock
        self._poller = poller
        self._dispatcher = dispatcher
        self._clock = clock
        self._max_request_bytes = max_request_bytes
        self._buffer = ReceiveBuffer(max_request_bytes)
        self._pending: Pending | None = None
        self._unsent: Parts | None = None
        self._error: Exception | None = None
        self._held: Parts | None = None
        self._holds = False
        self._muted_until_ms = 0
        self._nap: trio.CancelScope | None = None
        self._begin: Begin = dispatcher.begin
        self._look: Look | None = None
        self._gate: LoginGate | None = None
        if new_gate is not None:
            self._gate = new_gate(self)
            self._begin = self._gate.begin

    def fileno(self) -> int:
        """The socket's file descriptor."""
        return self._socket.fileno()

    @property
    def is_parked(self) -> bool:
        """Whether the connection is parked with a request."""
        return self.state is _PARKED

    def waits_for(self, parked: Parked) -> bool:
        """Whether this is the connection's parked request."""
        pending = self._pending
        return self.state is _PARKED and pending is not None and pending.response is parked

    def client_has_gone(self) -> bool:
        """Whether the connection is broken, or its client has closed its end. Call it only while nobody reads.

        Who is owed an answer may have closed one direction alone: as in Kafka it gets the answer.
        """
        return self._has_ended(whole=RULES[self.state].owes_answer)

    def _has_ended(self, *, whole: bool = False) -> bool:
        """Whether the client has closed its end; `whole`: only if it receives nothing either, as far as is known."""
        try:
            return self._socket.recv(1, socket.MSG_PEEK) == b"" and not whole
        except BlockingIOError:
            return False
        except OSError:
            return True

    # -- for the gate

    def limit_frames(self, max_bytes: int | None, on_growth: Callable[[int], None] | None = None) -> None:
        """The largest frame from now on; None for that of a listener without a gate. See `ReceiveBuffer.limit`."""
        on_growth = on_growth or (None if self._received is None else self._note_buffer)
        self._buffer.limit(self._max_request_bytes if max_bytes is None else max_bytes, on_growth)

    def count_received(self, budget: ByteBudget[Connection]) -> None:
        """Count a large receive buffer in `budget`, unless its gate counts it."""
        self._received = budget
        if self._gate is None:
            self.limit_frames(None, None)

    def _note_buffer(self, size: int) -> None:
        if self._received is not None:
            if size > _SMALL_BUFFER_BYTES:
                self._received.hold(self, size)
            else:
                self._received.release(self)

    def gives_buffer_back(self) -> bool:
        """Take a small receive buffer; False if a large frame has begun in it."""
        return self._buffer.shrink(_SMALL_BUFFER_BYTES)

    def open_gate(self) -> None:
        """Send requests to the dispatcher from now on, because the client has logged in."""
        self._gate = None
        self._choose_begin()

    def end(self) -> None:
        """End the connection at once."""
        self.cancel(self)

    def logs_in_since(self, ms: int) -> bool:
        """Whether the client began its log-in before this time of the broker's clock and has not finished it."""
        gate = self._gate
        return gate is not None and gate.logging_in and gate.since_ms < ms

    # -- for links

    def put_wire(self, wire: Wire) -> None:
        """Read and send through a wire over the connection's socket."""
        self.wire = wire
        self._socket = wire
        self.unread = True

    def take_wire(self) -> None:
        """Read and send through the socket again."""
        if self.wire is not None:
            self._socket = self.wire.inner
            self.wire = None
            self.unread = True

    def watch_requests(self, look: Look | None) -> None:
        """Call `look` with each request first; None stops that."""
        self._look = look
        self._choose_begin()

    def _choose_begin(self) -> None:
        begin = self._dispatcher.begin if self._gate is None else self._gate.begin
        self._begin = begin if self._look is None else partial(self._look, begin)

    @property
    def transport(self) -> Transport:
        """The socket, or the wire in its place."""
        return self._socket

    @property
    def client_id(self) -> str | None:
        """The client's id, if it is known without reading its next request."""
        if self._pending is not None and self.info.client_id is None:
            context = getattr(self._pending, "context", None)
            self.info.client_id = None if context is None else context.client_id
        return self.info.client_id

    def cut(self, why: str) -> None:
        """Read and answer nothing more, not even received requests. Call it with a cancelled scope."""
        response = None if self._pending is None else self._pending.response
        if isinstance(response, CoroutineType) and not response.cr_suspended:
            response.close()  # it has not begun
        self._fail(CloseConnection(why))

    # -- before there is a task

    @property
    def may_begin_watched(self) -> bool:
        """Whether the connection waits only for its first request."""
        return True

    def begin_watched(self) -> None:
        """Begin without a task."""
        self._enter(_WATCHED)

    # -- in the connection's own task

    async def serve(self) -> None:
        """Answer requests until the connection ends. Raises bugs and Cancelled only."""
        try:
            while self.state is not _CLOSED:
                await self._step()
        except Exception as error:
            self._error = error
        except BaseException:
            self.close()
            raise
        self.conclude()

    def conclude(self) -> None:
        """Close the connection, which has ended, and log why. Raises bugs only."""
        error, self._error = self._error, None
        try:
            if error is None:
                _log.debug("%s closed by the client", self.info.id)
            elif isinstance(error, SpeaksTlsError):
                self._dispatcher.refused_login(self.info, str(error))
            elif isinstance(error, CloseConnection | ProtocolError):
                if self._gate is not None and isinstance(error, ProtocolError):
                    self._gate.refuse_frame(self.info, str(error))
                from odradek.protocol.shown import one_line

                _log.info("%s cut: %s", self.info.id, one_line(str(error)) or "by its handler")
            elif isinstance(error, OSError):
                _log.debug("%s lost: %s", self.info.id, error)
            else:
                raise error
        finally:
            error = None  # its frames refer to this connection, and to this one
            self.close()

    async def _step(self) -> None:
        """Do the task's work in the present state. Afterwards the state has changed, or other tasks have run."""
        if self.state is _SERVING:
            if self.wire is not None:
                await self.wire.until_free()
            if self._answer_received():
                self._read(until_empty=True)
            if self.state is _SERVING:
                await trio.lowlevel.checkpoint()
        elif self.state is _WAITING:
            await self._finish()
        elif self.state is _SENDING:
            await self._send_rest()
        elif self.state is _MUTED:
            await self._clock.sleep_until_ms(self._muted_until_ms)
            self._muted_until_ms = 0
            self.last_used_ms = self._clock.now_ms()
            if self.state is not _CLOSED:
                self._go_on(_SERVING)
        elif self._poller is not None:
            await self._poller.idle(self)
        else:
            await self._wait_for_request()

    async def _wait_for_request(self) -> None:
        """Wait until there is something to read, and serve it. `wake` may serve it first."""
        with trio.CancelScope() as self._nap:
            await trio.lowlevel.wait_readable(self.fileno())
            if self.wire is not None:
                await self.wire.until_free()
        if self.state is _WATCHED:
            self.last_used_ms = self._clock.now_ms()
            self.serve_now(until_empty=True)

    async def _finish(self) -> None:
        """Wait for the response of the request, and send it."""
        pending = self._pending
        assert pending is not None
        if isinstance(pending, Unreached):
            await self._let_in(pending)
            return
        if isinstance(pending, Long):
            pending.client_has_left = self._has_ended
        answer = await (self._dispatcher if self._gate is None else self._gate).finish(pending)
        if self.state is _CLOSED:  # it was cut
            return
        if isinstance(answer, Throttled):
            self._mute(answer)
        elif isinstance(answer, Disturbed):
            self._disturb(answer)
        elif self._send(answer):
            self._go_on(_SERVING)

    async def _send_rest(self) -> None:
        """Wait for room in the socket, and send some of the rest."""
        budget, unsent = self.unsent_answers, self._unsent
        if budget is not None and unsent is not None:
            budget.hold(self, bytes_of_its_own(unsent))
        if self.wire is None:
            await trio.lowlevel.wait_writable(self._socket)
        else:
            await self.wire.wait_room()
        if self.state is _CLOSED:
            return
        assert self._unsent is not None
        if self._all_sent(send_large(self._socket, self._unsent)):
            if budget is not None:
                budget.release(self)
            self._go_on(_MUTED if self._muted_until_ms else _SERVING)

    def _disturb(self, answer: Disturbed) -> None:
        """Send an answer in the way of a fault."""
        self.new_wire(self).play(answer.steps)
        self._muted_until_ms = answer.until_ms
        self._go_on(_MUTED if answer.until_ms else _SERVING)

    async def _let_in(self, unreached: Unreached) -> None:
        """Answer a request that was read while its client was cut off, now that the client is reachable."""
        if self.wire is not None:
            await self.wire.until_free()
            if self.state is _CLOSED:
                return
        self._enter(_SERVING)
        answer = self._begin(self.node, self.info, unreached.frame)
        if isinstance(answer, Pending):
            self._wait_for(answer)
        else:
            self._send(answer)

    def close(self) -> None:
        """Close the socket, and drop unsent answers. Call it only in the connection's task, or when all tasks have
        ended.
        """
        if self._pending is not None:
            self._dispatcher.abandoned(self._pending)
            if isinstance(self._pending.response, Parked):
                self._pending.response.abandon()
        self._pending = self._unsent = self._error = None
        if self.unsent_answers is not None:
            self.unsent_answers.release(self)
        if self._received is not None:
            self._received.release(self)
            self._received = None
            self._buffer.limit(0)  # which refers to this connection no longer
        self.state = _CLOSED
        self._socket.close()
        if self._gate is not None:
            self._gate.closed()
        for told in self.info.on_closed:
            told()

    # -- while it is watched or parked: in its own task, or in the poller's

    def wake(self) -> None:
        """Serve bytes that may have come without an event, in the caller's turn."""
        self.unread = True
        if self.state is _WATCHED:
            self.last_used_ms = self._clock.now_ms()
            self.serve_now(until_empty=True)
            if self._nap is not None and self.state is not _WATCHED:
                self._nap.cancel()

    def serve_now(self, *, until_empty: bool, hold: bool = False) -> bool:
        """Read a watched connection's socket, and answer the received requests up to one that has to wait.

        `until_empty`: there may be more than one read takes, such as the end of the stream. `hold`: the answer to the
        last request may be held back until `send_held`. Returns whether one is.
        """
        self._holds = hold
        try:
            self._read(until_empty=until_empty)
        except Exception as error:
            self._fail(error)
        self._holds = False
        return self._held is not None

    def send_held(self) -> None:
        """Send the held answer. Call it in the same turn."""
        try:
            self._release()
        except Exception as error:
            self._fail(error)

    def take_held(self, most: int) -> bytes | None:
        """The held answer, which the caller sends to the socket; None leaves it to `send_held`.

        That is where it is larger than `most` bytes, or goes through something else than a socket.
        """
        held = self._held
        if held is None or self.state is _CLOSED or not isinstance(self._socket, socket.socket):
            return None
        size = 0
        for part in held:
            size += len(part)
        if size > most:
            return None
        self._held = None
        small: Any = held  # nothing of a file
        return b"".join(small)

    def was_sent(self, answer: bytes, sent: int) -> None:
        """Note that only so many bytes of the taken answer were sent; a negative number is the socket's error."""
        if sent >= 0:
            self._enter(_SENDING, unsent=[memoryview(answer)[sent:]])
        elif -sent == errno.EAGAIN:
            self._enter(_SENDING, unsent=[answer])
        else:
            self._fail(OSError(-sent, os.strerror(-sent)))

    def resume(self, *, hold: bool = False) -> bool:
        """Look again at the connection's parked request.

        `hold`: the answer may be held back until `send_held`. Returns whether it is.
        """
        pending = self._pending
        assert pending is not None
        try:
            answer = self._dispatcher.resume(pending)
            if isinstance(answer, Pending):
                if not isinstance(answer.response, Parked):
                    self._wait_for(answer)
                return False
            self.last_used_ms = self._clock.now_ms()
            if hold and not (self.unread or self.closing or self._buffer.partial):
                self._held = answer
                self._enter(_WATCHED)
            elif self._send(answer):
                self._go_on(_WATCHED)
                if self.state is _WATCHED and self._answer_received() and self.unread:
                    self._read(until_empty=True)
        except Exception as error:
            self._fail(error)
        return self._held is not None

    def _fail(self, error: Exception) -> None:
        """Keep the error for the connection's task."""
        if self._pending is not None and isinstance(self._pending.response, Parked):
            self._pending.response.abandon()
        self._enter(_CLOSED, error=error)

    # -- in either

    def _enter(
        self,
        state: ConnectionState,
        *,
        pending: Pending | None = None,
        unsent: Parts | None = None,
        error: Exception | None = None,
    ) -> None:
        if state is not self.state:
            assert state in RULES[self.state].leads_to, f"a connection cannot go from {self.state} to {state}"
            self.state = state
        self._pending, self._unsent, self._error = pending, unsent, error

    def _go_on(self, state: ConnectionState) -> None:
        """Go on with the next request, because the answer is sent."""
        self._enter(_CLOSED if self.closing else state)

    def _read(self, *, until_empty: bool) -> None:
        """Read and answer until the socket is empty, a request has to wait, or the turn is used up."""
        buffer = self._buffer
        budget = _BYTES_AT_ONCE
        try:
            while budget > 0 and self._release():
                count = buffer.read_from(self._socket)
                if count == 0:
                    self._enter(_CLOSED)
                    return
                self.unread = until_empty or buffer.was_filled
                if not self._answer_received():
                    return
                if not self.unread:
                    return  # the read took everything: later bytes are a new event
                budget -= count
        except BlockingIOError:
            if self.state is _SERVING:
                self.last_used_ms = self._clock.now_ms()
                self._enter(_WATCHED)
            return
        if budget <= 0:
            self._enter(_SERVING)

    def _answer_received(self) -> bool:
        """Answer the whole frames of the buffer; False if a request has to wait or the turn is used up."""
        for _ in range(_REQUESTS_AT_ONCE):
            frame = self._buffer.next_frame()
            if frame is None:
                return True
            if not self._answer(frame):
                return False
        self._enter(_SERVING)
        return False

    def _answer(self, frame: Frame) -> bool:
        """Answer a request; False if it has to wait."""
        answer = self._begin(self.node, self.info, frame)
        if isinstance(answer, Pending):
            self._wait_for(answer)
            return False
        if self._holds and not self._buffer.partial:
            self._held = answer
            return True
        return self._send(answer)

    def _release(self) -> bool:
        """Send the held answer, unless the connection was cut; False if the socket does not take all of it now."""
        held, self._held = self._held, None
        return held is None or self.state is _CLOSED or self._send(held)

    def _wait_for(self, pending: Pending) -> None:
        if self._poller is not None and isinstance(pending.response, Parked):
            self._enter(_PARKED, pending=pending)
            self._poller.park(self, pending.response)
        elif isinstance(pending, Throttled):
            self._mute(pending)
        else:
            self._enter(_WAITING, pending=pending)

    def _mute(self, answer: Throttled) -> None:
        """Send an answer, and read nothing more for a while."""
        self._muted_until_ms = answer.until_ms
        if self._send(answer.parts):
            self._go_on(_MUTED)

    def _send(self, parts: Parts | None) -> bool:
        """Send an answer; False if the socket does not take all of it now."""
        return parts is None or self._all_sent(self._send_now(parts))

    def _all_sent(self, left: Parts | None) -> bool:
        """Whether nothing is left to be sent."""
        if left is None:
            return True
        self._enter(_SENDING, unsent=left)
        return False

    def _send_now(self, parts: Parts) -> Parts | None:
        """Send as much as the socket takes, small answers joined, large ones without a copy; returns the rest."""
        size = 0
        for part in parts:
            size += len(part)
        if size > _JOIN_BELOW_BYTES:
            return send_large(self._socket, parts)
        small: Any = parts  # nothing of a file
        data = b"".join(small) if len(parts) > 1 else small[0]
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            return [data]
        return None if sent == size else [memoryview(data)[sent:]]


def _no_wire(connection: Connection) -> Wire:
    """The wire of a connection without a server: none."""
    raise RuntimeError("no wire can be had")


def _no_task(connection: Connection) -> None:
    """The task of a connection without a server: none."""
    raise RuntimeError("no task can be cancelled")
