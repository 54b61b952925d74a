"""A raw client for tests: one request object out, one response object back, through the project's own codecs.

Two forms with one meaning: `WireClient` blocks (for brokers in a thread of their own), `TrioWireClient` awaits (for
brokers in the test's own trio run). Both count correlation ids and check that answers come in order. A version of None
means the newest that the project knows. `raw` sends bytes as they are and returns the answer's frame without its size.
"""

from __future__ import annotations

from struct import Struct
from types import TracebackType
from typing import Any, Self

import trio

from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.headers import decode_response_header
from odradek.protocol.message_codec import codec
from odradek.wire_client import ConnectionClosed as ConnectionClosed
from odradek.wire_client import WireConnection
from odradek.wire_client import request_frame as request_frame

_SIZE = Struct(">i")


def parse_response(frame: bytes, request: Any, version: int, correlation_id: int) -> Any:
    """The response object in a frame without its size; an AssertionError when it is another request's."""
    spec = API_BY_KEY[request.API_KEY]
    header, offset = decode_response_header(frame, spec.response_header_version(version))
    if header.correlation_id != correlation_id:
        raise AssertionError(f"answer to {header.correlation_id}, expected {correlation_id}")
    response, end = codec(spec.response, version).decode(frame, offset)
    if end != len(frame):
        raise AssertionError(f"{len(frame) - end} bytes behind the response")
    return response


def host_and_port(address: str) -> tuple[str, int]:
    """Those of host:port, or of the first of several."""
    host, _, port = address.partition(",")[0].rpartition(":")
    return host, int(port)


class WireClient(WireConnection):
    """The blocking form: ``WireClient(host, port).request(MetadataRequest(topics=None))``."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 9092,
        *,
        timeout_s: float = 30.0,
        client_id: str = "wire",
        security: ClientSecurity = PLAIN_TEXT,
    ) -> None:
        super().__init__(host, port, timeout_s=timeout_s, client_id=client_id, security=security)

    @classmethod
    def at(cls, address: str, **options: Any) -> Self:
        """A client of host:port, the first of several: ``WireClient.at(broker.bootstrap_servers)``."""
        return cls(*host_and_port(address), **options)

    def request(self, request: Any, version: int | None = None) -> Any:
        """Send and wait for the answer."""
        chosen = request.MAX_VERSION if version is None else version
        return self.receive(request, chosen, self.send(request, chosen))

    def send(self, request: Any, version: int | None = None) -> int:
        """Send without waiting; return the correlation id (for acks=0 and pipelining)."""
        return super().send(request, request.MAX_VERSION if version is None else version)

    def receive(self, request: Any, version: int, correlation_id: int) -> Any:
        """The answer to a request that `send` sent, which must end where its last field does."""
        return parse_response(bytes(self.receive_frame()), request, version, correlation_id)

    def raw(self, frame: bytes) -> bytes:
        """Send a frame (its size included) and return the answer's frame without the size."""
        self.send_frame(frame)
        return bytes(self.receive_frame())


class TrioWireClient:
    """The awaiting form: ``client = await TrioWireClient.connect(host, port)`` or over any trio stream."""

    def __init__(self, stream: trio.abc.Stream, *, client_id: str = "wire") -> None:
        self.client_id = client_id
        self._stream = stream
        self._buffer = bytearray()
        self._correlation_id = 0

    @classmethod
    async def connect(cls, host: str, port: int, *, client_id: str = "wire") -> Self:
        return cls(await trio.open_tcp_stream(host, port), client_id=client_id)

    @classmethod
    async def at(cls, address: str, *, client_id: str = "wire") -> Self:
        return await cls.connect(*host_and_port(address), client_id=client_id)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)

    async def request(self, request: Any, version: int | None = None) -> Any:
        """Send and wait for the answer."""
        chosen = request.MAX_VERSION if version is None else version
        correlation_id = await self.send(request, chosen)
        return await self.receive(request, chosen, correlation_id)

    async def send(self, request: Any, version: int | None = None) -> int:
        """Send without waiting; return the correlation id."""
        chosen = request.MAX_VERSION if version is None else version
        self._correlation_id += 1
        correlation_id = self._correlation_id
        await self._stream.send_all(request_frame(request, chosen, correlation_id, self.client_id))
        return correlation_id

    async def receive(self, request: Any, version: int, correlation_id: int) -> Any:
        """The answer to a request that `send` sent."""
        return parse_response(await self.receive_frame(), request, version, correlation_id)

    async def raw(self, frame: bytes) -> bytes:
        """Send a frame (its size included) and return the answer's frame without the size."""
        await self._stream.send_all(frame)
        return await self.receive_frame()

    async def receive_frame(self) -> bytes:
        return await self._exactly(_SIZE.unpack(await self._exactly(4))[0])

    async def _exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            try:
                chunk = await self._stream.receive_some(65536)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise ConnectionClosed(str(error)) from error
            if not chunk:
                raise ConnectionClosed(f"after {len(self._buffer)} of {count} bytes")
            self._buffer += chunk
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data
