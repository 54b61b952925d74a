"""A socket that speaks TLS, with the calls that `Connection` makes on a plain one.

OpenSSL works on memory (`ssl.MemoryBIO`) and this class moves the bytes, because one call of the system then carries
many records: read through OpenSSL's own socket a record costs two calls, and a small request costs three times as
much. Nothing here waits: BlockingIOError says that the socket is empty or full, as on a plain socket.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Sequence
from typing import cast

_RECORD = 16 * 1024  # the largest record of TLS
_AT_ONCE = 32 * _RECORD  # encrypted before the socket is asked to take it
_JOIN_BELOW = 4096
_LOOK_AHEAD = 64 * 1024
_scratch = memoryview(bytearray(0))


class RenegotiationError(ConnectionError):
    """A client of TLS 1.2 asked for new keys: Kafka cuts it, and so do we."""


class TlsTransport:
    """The server's end of a TLS connection over a non-blocking socket.

    After a BlockingIOError of `send` or `sendmsg` the caller has to come back with the same bytes: they may be
    encrypted already. Owner: a connection, one task at a time.
    """

    __slots__ = ("_drained", "_ended", "_incoming", "_outgoing", "_owed", "_socket", "_tls", "_unsent")

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        global _scratch
        if not _scratch:
            _scratch = memoryview(bytearray(_AT_ONCE))  # shared: nothing stays in it
        self._socket = sock
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._ended = False
        self._drained = False  # the last read took all that the socket had
        self._unsent: memoryview | None = None
        self._owed = 0  # bytes of the caller that are encrypted and not reported as sent

    @property
    def tls(self) -> ssl.SSLObject:
        """Cipher, version and the client's certificate."""
        return self._tls

    @property
    def raw(self) -> socket.socket:
        """The socket below, for whoever breaks it on purpose."""
        return self._socket

    def fileno(self) -> int:
        """The socket's file descriptor."""
        return self._socket.fileno()

    def handshake(self) -> bool:
        """Go on with the handshake as far as possible; True when it is done.

        On False wait until the socket can be read, or written if `wants_to_send`. ssl.SSLError for a handshake that
        failed (the client has been told why, if the socket took it), ConnectionError if the client has gone.
        """
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                if not self._flush() or not self._pull():
                    if self._ended:
                        raise ConnectionResetError("the client has gone during the handshake") from None
                    return False
            except ssl.SSLError:
                self._flush()
                raise
            else:
                return self._flush()

    @property
    def ended(self) -> bool:
        """Whether the client will send nothing more."""
        return self._ended

    @property
    def wants_to_send(self) -> bool:
        """Whether something encrypted waits for room in the socket."""
        return self._unsent is not None

    def recv_into(self, space: memoryview, /) -> int:
        """Read what there is, at most `space`; 0 at the end of the stream, BlockingIOError if nothing has come."""
        count = 0
        size = len(space)
        incoming = self._incoming
        # typeshed does not know that with a buffer the number of bytes comes back
        read = cast("Callable[[int, memoryview], int]", self._tls.read)
        pending = self._tls.pending
        try:
            while count < size:
                try:
                    # OpenSSL says by an exception that it has nothing, and that costs as much as a record
                    if not incoming.pending and not pending() and ((count and self._drained) or not self._pull()):
                        break
                    got = read(size - count, space[count:])
                    if got == 0:
                        self._ended = True
                        break
                    count += got
                except ssl.SSLWantReadError:
                    # less than was asked for is all that the socket had: do not ask again for nothing
                    if (count and self._drained) or not self._pull():
                        break
        except ssl.SSLZeroReturnError:
            self._ended = True
        except ssl.SSLError:
            self._flush()
            raise
        if self._outgoing.pending:
            self._answer_protocol()
        if count or self._ended:
            return count
        raise BlockingIOError

    def send(self, data: bytes | memoryview, /) -> int:
        """Send some of `data`; BlockingIOError if the socket is full."""
        return self.sendmsg((data,))

    def sendmsg(self, parts: Sequence[bytes | memoryview], /) -> int:
        """Send some of the parts, in order; BlockingIOError if the socket is full."""
        if not self._owed:
            self._owed = self._encrypt(parts)
        if not self._flush():
            raise BlockingIOError
        owed, self._owed = self._owed, 0
        return owed

    def recv(self, size: int, flags: int, /) -> bytes:
        """Look whether the client has closed its end: b"" then, else BlockingIOError. Nothing is taken."""
        assert flags & socket.MSG_PEEK, "a TLS transport is read with recv_into"
        while self._incoming.pending < _LOOK_AHEAD and self._pull():
            pass
        if self._ended:
            return b""
        raise BlockingIOError

    def close(self) -> None:
        """Say good-bye if the socket takes it at once, and close it."""
        try:
            self._tls.unwrap()
        except (ssl.SSLError, OSError, ValueError):
            pass
        try:
            self._flush()
        except OSError:
            pass
        self._socket.close()

    # -- inside

    def _pull(self) -> bool:
        """Move what the socket has to OpenSSL; False if there is nothing."""
        if self._ended:
            return False
        try:
            count = self._socket.recv_into(_scratch)
        except BlockingIOError:
            return False
        if count == 0:
            self._ended = True
            return False
        self._drained = count < len(_scratch)
        self._incoming.write(_scratch[:count])
        return True

    def _encrypt(self, parts: Sequence[bytes | memoryview]) -> int:
        """Encrypt parts from the first one on, about `_AT_ONCE` bytes; small neighbours share a record."""
        total = 0
        small: list[bytes | memoryview] = []
        for part in parts:
            if total >= _AT_ONCE:
                break
            total += len(part)
            if len(part) < _JOIN_BELOW:
                small.append(part)
                continue
            self._write(b"".join(small))
            small = []
            view = memoryview(part)[:_AT_ONCE]
            total -= len(part) - len(view)
            self._write(view)
            if len(view) < len(part):
                return total
        self._write(b"".join(small))
        return total

    def _write(self, data: bytes | memoryview) -> None:
        while data:
            data = data[self._tls.write(data) :]

    def _flush(self) -> bool:
        """Send the encrypted bytes; False if it does not take all of it."""
        while True:
            if self._unsent is None:
                if not self._outgoing.pending:
                    return True
                self._unsent = memoryview(self._outgoing.read())
            try:
                sent = self._socket.send(self._unsent)
            except BlockingIOError:
                return False
            self._unsent = self._unsent[sent:] if sent < len(self._unsent) else None

    def _answer_protocol(self) -> None:
        """What reading made OpenSSL say: new keys in TLS 1.3; a refusal to negotiate anew in TLS 1.2."""
        self._flush()
        if self._tls.version() != "TLSv1.3":
            raise RenegotiationError("Renegotiation is not supported")
        if self._outgoing.pending > _LOOK_AHEAD:
            raise ConnectionError("the client asks for new keys and does not read")
