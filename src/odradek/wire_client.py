"""A small blocking client for any Kafka, over the project's own codecs, on listeners of all security protocols.

`WireConnection` sends frames and reads answers in versions that its user names. `WireClient` agrees on versions with
the broker. Both serve one request at a time, in order. `odradek.client_security` has the log-in.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from struct import Struct
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.client_security.options import ApiNotServed as ApiNotServed
from odradek.client_security.options import AuthenticationError as AuthenticationError
from odradek.client_security.options import ConnectionClosed as ConnectionClosed
from odradek.client_security.options import TlsError as TlsError
from odradek.client_security.options import WireError as WireError
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.file_slice import in_memory, joined
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from odradek.protocol.message_codec import codec

if TYPE_CHECKING:
    from odradek.client_security.tls import TlsSocket

_SIZE = Struct(">i")
_MAX_FRAME = 1 << 30
_TLS_ALERT = 0x1503
_RENEW_AT = 0.85
"""The part of a session's lifetime after which the client logs in again, as Java's clients do at the earliest."""
CLIENT_ID = "odradek"


def request_frame(request: Any, version: int, correlation_id: int, client_id: str | None = CLIENT_ID) -> bytes:
    """A request as a frame, its size included."""
    return joined(request_parts(request, version, correlation_id, client_id))


def request_parts(
    request: Any, version: int, correlation_id: int, client_id: str | None = CLIENT_ID
) -> list[bytes | memoryview]:
    """The same in parts: large records are among them as they are."""
    header = encode_request_header(RequestHeader(request.API_KEY, version, correlation_id, client_id))
    first, *others = in_memory(codec(type(request), version).encode_parts(request)) or [b""]
    size = len(header) + len(first) + sum(map(len, others))
    return [b"".join((_SIZE.pack(size), header, first)), *others]


class WireConnection:
    """One connection to one broker. Raises WireError for whatever goes wrong on it, with the broker's address."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        timeout_s: float = 30.0,
        client_id: str | None = CLIENT_ID,
        security: ClientSecurity = PLAIN_TEXT,
    ) -> None:
        self.address = f"{host}:{port}"
        self.client_id = client_id
        self._host = host
        self._security = security
        self._correlation_id = 0
        self._session_end: tuple[float, float] | None = None
        self._socket = self._connected(port, timeout_s)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _connected(self, port: int, timeout_s: float) -> socket.socket | TlsSocket:
        try:
            plain = socket.create_connection((self._host, port), timeout=timeout_s)
        except OSError as error:
            raise WireError(f"{self.address}: {error.strerror or error}") from error
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._security.tls is None:
            return plain
        from odradek.client_security.tls import connect_tls

        try:
            return connect_tls(plain, self._host, self._security.tls, self.address)
        except BaseException:
            plain.close()
            raise

    def _prepare(self) -> None:
        """Log in, before the first request."""
        if self._security.sasl is not None:
            self.log_in()

    def log_in(self) -> None:
        """Log in; again, where the broker gives sessions a lifetime. Raises AuthenticationError."""
        from odradek.client_security.login import log_in

        assert self._security.sasl is not None
        lifetime_ms = log_in(self._exchange, self._security.sasl, self._host, self.address)
        lifetime_s = lifetime_ms / 1000
        now = time.monotonic()
        self._session_end = (now + _RENEW_AT * lifetime_s, now + lifetime_s) if lifetime_ms > 0 else None

    @property
    def session_ends_in_s(self) -> float | None:
        """How long the broker will take requests without another log-in; None for ever."""
        return None if self._session_end is None else self._session_end[1] - time.monotonic()

    def renew_session(self) -> None:
        """Log in again if the session is about to end; no answer may be due."""
        if self._session_end is not None and time.monotonic() >= self._session_end[0]:
            self.log_in()

    def _exchange(self, request: Any) -> Any:
        version = API_BY_KEY[request.API_KEY].max_version
        return self.receive(request, version, self.send(request, version))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, request: Any, version: int) -> int:
        """Send a request without waiting for its answer; returns its correlation id, for `receive`."""
        self._correlation_id += 1
        for part in request_parts(request, version, self._correlation_id, self.client_id):
            self.send_frame(part)
        return self._correlation_id

    def receive(self, request: Any, version: int, correlation_id: int) -> Any:
        """The answer to a request that `send` sent."""
        spec = API_BY_KEY[request.API_KEY]
        frame = self.receive_frame()
        answered, offset = decode_response_header(frame, spec.response_header_version(version))
        if answered.correlation_id != correlation_id:
            raise WireError(f"{self.address} answered another request than the one sent")
        return codec(spec.response, version).decode(frame, offset)[0]

    def send_frame(self, frame: bytes | memoryview) -> None:
        """Send a frame, or a part of one, as it is, its size included."""
        try:
            self._socket.sendall(frame)
        except WireError:
            raise
        except OSError as error:
            raise WireError(f"{self.address}: {error}") from error

    def receive_frame(self) -> memoryview:
        """The next answer, without its size."""
        (size,) = _SIZE.unpack(self._receive(4))
        if size >> 16 == _TLS_ALERT and self._security.tls is None:
            raise WireError(f"{self.address} speaks TLS, and security.protocol is {self._security.protocol}")
        if not 0 <= size <= _MAX_FRAME:
            raise WireError(f"{self.address} answered with a frame of {size} bytes")
        return self._receive(size)

    def _receive(self, size: int) -> memoryview:
        buffer = memoryview(bytearray(size))
        filled = 0
        while filled < size:
            try:
                count = self._socket.recv_into(buffer[filled:])
            except WireError:
                raise
            except ConnectionError as error:
                raise ConnectionClosed(f"{self.address}: {error}") from error
            except OSError as error:
                raise WireError(f"{self.address}: {error}") from error
            if count == 0:
                raise ConnectionClosed(f"{self.address} closed the connection")
            filled += count
        return buffer


class WireClient(WireConnection):
    """A connection that speaks each API in the newest version that both sides know.

    It logs in again before a session's end.
    """

    _served: dict[int, tuple[int, int]]
    _due: Callable[[], None] | None

    def _prepare(self) -> None:
        self._due = None
        asked = ApiVersionsRequest()
        answer = self.receive(asked, 0, self.send(asked, 0))
        self._served = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
        super()._prepare()

    def _exchange(self, request: Any) -> Any:
        return self._request(request, None)

    def request(self, request: Any, *, max_version: int | None = None) -> Any:
        """The answer to a request, in the newest common version up to `max_version`.

        Raises ApiNotServed when the broker serves no version that is known here.
        """
        self._take_answer()
        self.renew_session()
        return self._request(request, max_version)

    def begin(self, request: Any, max_version: int) -> Callable[[], Any]:
        """Send a request without waiting; what is returned waits for the answer. The next request waits for it, too.

        Both raise WireError as `request` does.
        """
        self._take_answer()
        self.renew_session()
        version = self._version_of(request, max_version)
        number = self.send(request, version)
        taken: list[Any] = []
        self._due = lambda: taken.append(self.receive(request, version, number))

        def answer() -> Any:
            if not taken:
                self._take_answer()
            if not taken:  # the request after it has met the error
                raise WireError(f"{self.address} has not answered")
            return taken[0]

        return answer

    def _take_answer(self) -> None:
        """Wait for the answer to what was begun, if one is due."""
        due, self._due = self._due, None
        if due is not None:
            due()

    def _request(self, request: Any, max_version: int | None) -> Any:
        version = self._version_of(request, max_version)
        return self.receive(request, version, self.send(request, version))

    def _version_of(self, request: Any, max_version: int | None) -> int:
        spec = API_BY_KEY[request.API_KEY]
        lowest, highest = self._served.get(spec.key, (0, -1))
        version = min(highest, spec.max_version if max_version is None else max_version)
        if version < max(lowest, spec.min_version):
            raise ApiNotServed(f"{self.address} serves no version of {spec.name} that is known here")
        return version
