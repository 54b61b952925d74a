"""HTTP/1.1 for the control API and the schema registry: requests, routes and answers, over h11."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Generic, TypeVar
from urllib.parse import unquote
from wsgiref.handlers import format_date_time

import h11
import trio

from odradek.http_access import HttpError, HttpRequest, text_bytes
from odradek.protocol.errors import as_value
from odradek.storage.backend import is_reserved

T = TypeVar("T")

_IDLE_S = 30.0
"""A connection is closed after this time without data, as in Confluent's registry (``idle.timeout.ms``)."""
_LINGER_S = 5.0
"""A closing connection is read for this time, so that a client that still sends its body can read the answer."""
_PIECE_BYTES = 64 * 1024
_NO_CONTENT = 204
_UNREAD = (h11.SEND_BODY, h11.ERROR)
"""States of a client whose request is not read to its end."""


class UnansweredError(Exception):
    """A request gets no answer. ``stays_open``: its connection lasts until the client hangs up; else it ends now."""

    def __init__(self, message: str, *, stays_open: bool) -> None:
        super().__init__(message)
        self.stays_open = stays_open


class ClientGoneError(Exception):
    """The client has hung up before its request was complete."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """``body``: bytes, or a generator of pieces, which is closed however the answer ends. ``end`` is called after
    that."""

    body: bytes | AsyncGenerator[str, None] = b""
    status: int = 200
    media_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    end: Callable[[], Awaitable[None]] | None = None

    async def close(self) -> None:
        """Close the source of the body."""
        if not isinstance(self.body, bytes):
            await self.body.aclose()
        if self.end is not None:
            await self.end()


Application = Callable[[HttpRequest], Awaitable[HttpResponse]]


class Routes(Generic[T]):
    """A table of paths. A name in braces matches one segment of a path, which may have encoded slashes."""

    def __init__(self, table: Iterable[tuple[str, str, T]]) -> None:
        self._table = [(method, path.split("/"), found) for method, path, found in table]

    def find(self, method: str, path: str) -> tuple[T, dict[str, str]]:
        """The entry that serves a path, and the values of its names. HEAD is served as GET. HttpError (404, 405)."""
        parts = (path.rstrip("/") or "/").split("/")
        allowed: list[str] = []
        for each, pattern, found in self._table:
            names = _matched(pattern, parts)
            if names is not None:
                if each == ("GET" if method == "HEAD" else method):
                    return found, names
                allowed += ("GET", "HEAD") if each == "GET" else (each,)
        if allowed:
            raise HttpError(405, f"{path} takes {', '.join(allowed)}, not {method}", {"Allow": ", ".join(allowed)})
        raise HttpError(404, f"there is no {path}")


def _matched(pattern: list[str], parts: list[str]) -> dict[str, str] | None:
    if len(pattern) != len(parts):
        return None
    names = {}
    for each, part in zip(pattern, parts, strict=True):
        if each.startswith("{"):
            names[each[1:-1]] = unquote(part)
        elif each != part:
            return None
    return names


class HttpConnection:
    """A connection, whose requests are answered one after the other."""

    def __init__(self, stream: trio.SocketStream, application: Application, log: logging.Logger) -> None:
        self._stream = stream
        self._application = application
        self._log = log
        self._http = h11.Connection(h11.SERVER)

    async def serve(self) -> None:
        """Answer until the client hangs up. An error of the application is logged, and ends the connection alone."""
        async with self._stream:
            if is_reserved(self._stream.socket.fileno()):
                return
            try:
                while await self._serve_one():
                    self._http.start_next_cycle()
                await self._stream.send_eof()
                with trio.move_on_after(_LINGER_S):
                    while await self._received():
                        pass
            except UnansweredError as error:
                while error.stays_open and await self._received():
                    pass
            except (ClientGoneError, trio.BrokenResourceError) as error:
                as_value(error)
            except Exception as error:
                self._log.error("bug in the answer to a request", exc_info=error)
                as_value(error)

    async def _serve_one(self) -> bool:
        """Answer a request. Whether another one may follow."""
        try:
            event = await self._next_event()
        except h11.RemoteProtocolError as error:
            as_value(error)
            await self._answer(HttpResponse(text_bytes(f"{error}\n"), error.error_status_hint, "text/plain"))
            return False
        if not isinstance(event, h11.Request):
            return False
        request = self._request(event)
        response = await self._application(request)
        if self._http.their_state is h11.SEND_BODY:
            try:
                self._http.next_event()  # the end, if there is no body that nobody asked for
            except h11.RemoteProtocolError as error:
                as_value(error)
        await self._answer(response, only_head=request.method == "HEAD")
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    def _request(self, head: h11.Request) -> HttpRequest:
        headers: dict[str, str] = {}
        for name, value in ((name.decode(), value.decode("latin-1")) for name, value in head.headers):
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        try:
            server, client = self._stream.socket.getsockname()[:2], self._stream.socket.getpeername()[:2]
        except OSError:
            raise ClientGoneError from None
        method, target = head.method.decode(), head.target.decode("latin-1")
        return HttpRequest(method, target, headers, server, client, self._next_piece, self._attended)

    async def _next_piece(self) -> bytes:
        """The next bytes of the body. HttpError (400) if the body breaks the rules of HTTP; ClientGoneError."""
        if self._http.their_state is not h11.SEND_BODY:
            return b""
        try:
            event = await self._next_event()
        except h11.RemoteProtocolError as error:
            as_value(error)
            if self._http.trailing_data[1]:
                raise ClientGoneError from None
            raise HttpError(400, str(error)) from None
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def _next_event(self) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=100, headers=[]))
            data = b""
            with trio.move_on_after(_IDLE_S):
                data = await self._received()
            self._http.receive_data(data)
        return event

    async def _received(self) -> bytes:
        """Bytes from the client, none if it has hung up."""
        try:
            return bytes(await self._stream.receive_some(_PIECE_BYTES))
        except trio.BrokenResourceError:
            return b""

    async def _answer(self, response: HttpResponse, *, only_head: bool = False) -> None:
        body = response.body
        try:
            headers = {"Date": format_date_time(time.time()), **response.headers}
            if response.media_type is not None:
                headers["Content-Type"] = response.media_type
            if isinstance(body, bytes) and response.status != _NO_CONTENT:
                headers["Content-Length"] = str(len(body))
            if self._http.their_state in _UNREAD:
                headers["Connection"] = "close"
            reason = HTTPStatus(response.status).phrase.encode()
            head = h11.Response(status_code=response.status, reason=reason, headers=list(headers.items()))
            if only_head:
                await self._send(head, h11.EndOfMessage())
            elif isinstance(body, bytes):
                await self._send(head, h11.Data(body), h11.EndOfMessage())
            else:
                await self._send(head)
                await self._send_pieces(body)
                await self._send(h11.EndOfMessage())
        finally:
            with trio.CancelScope(shield=True):
                await response.close()

    async def _send_pieces(self, pieces: AsyncGenerator[str, None]) -> None:
        """ClientGoneError as soon as the client hangs up, also while there is nothing to send."""

        async def send() -> None:
            with suppress(trio.BrokenResourceError):  # whoever attends sees it, too
                async for piece in pieces:
                    await self._send(h11.Data(text_bytes(piece)))

        await self._attended(send)

    async def _attended(self, function: Callable[[], Awaitable[Any]]) -> Any:
        """Await a function. If the client hangs up, cancel it and raise ClientGoneError."""
        is_gone = False

        async def watch() -> None:
            nonlocal is_gone
            data = await self._received()
            self._http.receive_data(data)
            if not data:
                is_gone = True
                attention.cancel()

        result: Any = None
        failure: Exception | None = None
        async with trio.open_nursery() as nursery:
            attention = nursery.cancel_scope
            nursery.start_soon(watch)
            try:
                result = await function()
            except Exception as error:
                failure = error  # raised outside, where no group is made of it
            attention.cancel()
        if is_gone:
            raise ClientGoneError
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # whose traceback has this frame
        return result

    async def _send(self, *events: Any) -> None:
        await self._stream.send_all(b"".join(self._http.send(each) or b"" for each in events))
