"""A connection of a TLS listener: the handshake first, then the same requests as on any other."""

from __future__ import annotations

import logging
import socket
import ssl
from typing import Protocol

import trio

from odradek.broker.net.connection import Connection
from odradek.broker.net.connection_states import ConnectionState
from odradek.broker.net.tls_transport import TlsTransport
from odradek.broker.security.denials import PLAIN_TEXT
from odradek.broker.security.principal import Principal

_log = logging.getLogger("odradek.broker.net")

_HANDSHAKING = ConnectionState.HANDSHAKING
_SERVING = ConnectionState.SERVING
_WATCHED = ConnectionState.WATCHED
_CLOSED = ConnectionState.CLOSED
_HANDSHAKE_RECORD = 0x16
_MOST_HANDSHAKES = 1000
_READ_AWAY = 64 * 1024
_INTERNAL_ERROR = bytes.fromhex("15030300020250")  # an alert of TLS 1.2: fatal, internal error


class TlsTerms(Protocol):
    """The part of a TLS listener that connections use (`security.tls.listener_tls`); it may change for new ones."""

    @property
    def context(self) -> ssl.SSLContext:
        """With the certificate of the time."""

    def principal_of(self, tls: ssl.SSLObject) -> Principal | None:
        """The client's principal by its certificate, None without one; ValueError if the client cannot be served."""


class Handshakes:
    """The connections that shake hands, oldest first.

    Who only connects costs a task and a socket until it sends something; more than `limit` of them, and the oldest
    one is cut.
    """

    __slots__ = ("_scopes", "limit")

    def __init__(self, limit: int = _MOST_HANDSHAKES) -> None:
        self.limit = limit
        self._scopes: dict[TlsConnection, trio.CancelScope] = {}

    def begin(self, connection: TlsConnection) -> trio.CancelScope:
        """Count the connection in; the scope is cancelled when there are too many."""
        if len(self._scopes) >= self.limit:
            oldest = next(iter(self._scopes))
            self._scopes.pop(oldest).cancel()
        scope = self._scopes[connection] = trio.CancelScope()
        return scope

    def end(self, connection: TlsConnection) -> None:
        """The handshake is over, one way or the other."""
        self._scopes.pop(connection, None)


class TlsConnection(Connection):
    """Shakes hands in its own task; has until `connections.max.idle.ms` after it was accepted.

    What OpenSSL has decrypted is no event of the socket. So the transport's reads end only where nothing of it is left.
    """

    __slots__ = ("_handshakes", "_terms", "_tls")

    def expect_handshake(self, terms: TlsTerms, handshakes: Handshakes) -> None:
        """To be called before the connection is served."""
        self.state = _HANDSHAKING
        self._terms = terms
        self._handshakes = handshakes
        self._tls: TlsTransport | None = None

    @property
    def may_begin_watched(self) -> bool:
        return False

    async def serve(self) -> None:
        try:
            with self._handshakes.begin(self) as scope:
                await self._shake_hands()
            if scope.cancelled_caught:
                self._refuse(f"there are more than {self._handshakes.limit} handshakes under way")
        except ConnectionError as ended:
            _log.info("%s: the TLS handshake ended early: %s", self.info.id, ended)
            self._enter(_CLOSED)
        except (ssl.SSLError, ValueError) as error:
            self._refuse(reason_of(error))
        except OSError as lost:
            _log.debug("%s lost during the TLS handshake: %s", self.info.id, lost)
            self._enter(_CLOSED)
        finally:
            self._handshakes.end(self)
            if self.state is not _SERVING:
                self.close()
        if self.state is _SERVING:
            await super().serve()

    def _refuse(self, why: str) -> None:
        self._enter(_CLOSED)
        self._dispatcher.refused_login(self.info, why)

    async def _shake_hands(self) -> None:
        sock = self._socket if self.wire is None else self.wire.inner
        assert isinstance(sock, socket.socket)
        await self._wait_readable(sock)
        if not _speaks_tls(sock):
            _turn_away(sock)
            raise ValueError(f"{PLAIN_TEXT}{self.info.listener}")
        transport = self._tls = TlsTransport(sock, self._terms.context)
        if self.wire is None:
            self._socket = transport
        else:
            self.wire.inner = transport
        while not transport.handshake():
            if transport.wants_to_send:
                await trio.lowlevel.wait_writable(sock)
            else:
                await self._wait_readable(sock)
        self.info.tls = transport.tls
        principal = self._terms.principal_of(transport.tls)
        if principal is not None:
            self.info.principal = principal
        self.last_used_ms = self._clock.now_ms()
        self._enter(_SERVING)

    async def _wait_readable(self, sock: socket.socket) -> None:
        await trio.lowlevel.wait_readable(sock)
        if self.wire is not None:
            await self.wire.until_free()

    def _read(self, *, until_empty: bool) -> None:
        super()._read(until_empty=until_empty)
        # the end of TLS may come with a request, and is no event of the socket
        if self.state is _WATCHED and self._tls is not None and self._tls.ended:
            super()._read(until_empty=True)


def _speaks_tls(sock: socket.socket) -> bool:
    """Whether the first byte that came begins a handshake. A client that has gone is left to the handshake."""
    first = sock.recv(1, socket.MSG_PEEK)
    return not first or first[0] == _HANDSHAKE_RECORD


def _turn_away(sock: socket.socket) -> None:
    """Answer plain text as a JDK does. What has come is read, or the system would reset the connection."""
    try:
        sock.recv(_READ_AWAY)
        sock.send(_INTERNAL_ERROR)
    except OSError:
        pass


def reason_of(error: ssl.SSLError | ValueError) -> str:
    """Why a handshake failed, in a few words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS handshake failed: the client's certificate is not good: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return f"TLS handshake failed: {error.reason.lower().replace('_', ' ')}"
    return str(error)
