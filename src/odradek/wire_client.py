"""A small blocking client for any Kafka, over the project's own codecs. PLAINTEXT only.

`WireConnection` sends frames and reads answers in versions that its user names. `WireClient` agrees on versions with
the broker. Both serve one request at a time, in order.
"""

from __future__ import annotations

import socket
from struct import Struct
from types import TracebackType
from typing import Any, Self

from odradek.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from odradek.protocol.messages.api_versions import ApiVersionsRequest
from odradek.protocol.registry import API_BY_KEY
from odradek.protocol.schema import codec

_SIZE = Struct(">i")
_MAX_FRAME = 1 << 30
CLIENT_ID = "odradek"


class WireError(ConnectionError):
    """The broker cannot be reached, cut the connection, or does not serve what is needed."""


class ConnectionClosed(WireError):
    """The broker closed the connection where an answer was due."""


def request_frame(request: Any, version: int, correlation_id: int, client_id: str | None = CLIENT_ID) -> bytes:
    """A request as a frame, its size included."""
    header = encode_request_header(RequestHeader(request.API_KEY, version, correlation_id, client_id))
    body = codec(type(request), version).encode(request)
    return _SIZE.pack(len(header) + len(body)) + header + body


class WireConnection:
    """One connection to one broker. Raises WireError for whatever goes wrong on it, with the broker's address."""

    def __init__(self, host: str, port: int, *, timeout_s: float = 30.0, client_id: str | None = CLIENT_ID) -> None:
        self.address = f"{host}:{port}"
        self.client_id = client_id
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_s)
        except OSError as error:
            raise WireError(f"{self.address}: {error.strerror or error}") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, request: Any, version: int) -> int:
        """Send a request without waiting for its answer; returns its correlation id, for `receive`."""
        self._correlation_id += 1
        self.send_frame(request_frame(request, version, self._correlation_id, self.client_id))
        return self._correlation_id

    def receive(self, request: Any, version: int, correlation_id: int) -> Any:
        """The answer to a request that `send` sent."""
        spec = API_BY_KEY[request.API_KEY]
        frame = self.receive_frame()
        answered, offset = decode_response_header(frame, spec.response_header_version(version))
        if answered.correlation_id != correlation_id:
            raise WireError(f"{self.address} answered another request than the one sent")
        return codec(spec.response, version).decode(frame, offset)[0]

    def send_frame(self, frame: bytes) -> None:
        """Send a frame as it is, its size included."""
        try:
            self._socket.sendall(frame)
        except OSError as error:
            raise WireError(f"{self.address}: {error}") from error

    def receive_frame(self) -> memoryview:
        """The next answer, without its size."""
        (size,) = _SIZE.unpack(self._receive(4))
        if not 0 <= size <= _MAX_FRAME:
            raise WireError(f"{self.address} answered with a frame of {size} bytes")
        return self._receive(size)

    def _receive(self, size: int) -> memoryview:
        buffer = memoryview(bytearray(size))
        filled = 0
        while filled < size:
            try:
                count = self._socket.recv_into(buffer[filled:])
            except ConnectionError as error:
                raise ConnectionClosed(f"{self.address}: {error}") from error
            except OSError as error:
                raise WireError(f"{self.address}: {error}") from error
            if count == 0:
                raise ConnectionClosed(f"{self.address} closed the connection")
            filled += count
        return buffer


class WireClient(WireConnection):
    """A connection that speaks each API in the newest version that both sides know."""

    def __init__(self, host: str, port: int, *, timeout_s: float = 30.0, client_id: str | None = CLIENT_ID) -> None:
        super().__init__(host, port, timeout_s=timeout_s, client_id=client_id)
        self._served: dict[int, tuple[int, int]] = {}
        asked = ApiVersionsRequest()
        try:
            answer = self.receive(asked, 0, self.send(asked, 0))
        except WireError:
            self.close()
            raise
        self._served = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}

    def request(self, request: Any, *, max_version: int | None = None) -> Any:
        """The answer to a request, in the newest common version up to `max_version`.

        Raises WireError when the broker serves no version that is known here.
        """
        spec = API_BY_KEY[request.API_KEY]
        lowest, highest = self._served.get(spec.key, (0, -1))
        version = min(highest, spec.max_version if max_version is None else max_version)
        if version < max(lowest, spec.min_version):
            raise WireError(f"{self.address} serves no version of {spec.name} that is known here")
        return self.receive(request, version, self.send(request, version))
