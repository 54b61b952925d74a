"""A small blocking client for any Kafka: requests out, responses back, versions agreed with the broker."""

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
CLIENT_ID = "odradek"


class WireError(Exception):
    """The broker cannot be reached, cut the connection, or does not serve what is needed."""


class WireClient:
    """One connection. ``request`` sends in the newest version that both sides know, at most ``max_version``."""

    def __init__(self, host: str, port: int, *, timeout_s: float = 30.0) -> None:
        self.address = f"{host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_s)
        except OSError as error:
            raise WireError(f"{self.address}: {error.strerror or error}") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0
        self._served: dict[int, tuple[int, int]] = {}
        try:
            answer = self._exchange(ApiVersionsRequest(), 0)
        except WireError:
            self.close()
            raise
        self._served = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def request(self, request: Any, *, max_version: int | None = None) -> Any:
        """The response; WireError when the broker serves no version that we can speak."""
        spec = API_BY_KEY[request.API_KEY]
        lowest, highest = self._served.get(spec.key, (0, -1))
        version = min(highest, spec.max_version if max_version is None else max_version)
        if version < max(lowest, spec.min_version):
            raise WireError(f"{self.address} serves no version of {spec.name} that is known here")
        return self._exchange(request, version)

    def _exchange(self, request: Any, version: int) -> Any:
        self._correlation_id += 1
        spec = API_BY_KEY[request.API_KEY]
        header = encode_request_header(RequestHeader(spec.key, version, self._correlation_id, CLIENT_ID))
        body = codec(spec.request, version).encode(request)
        try:
            self._socket.sendall(_SIZE.pack(len(header) + len(body)) + header + body)
            frame = self._receive(_SIZE.unpack(self._receive(4))[0])
        except OSError as error:
            raise WireError(f"{self.address}: {error}") from error
        answered, offset = decode_response_header(frame, spec.response_header_version(version))
        if answered.correlation_id != self._correlation_id:
            raise WireError(f"{self.address} answered another request than the one sent")
        response, _ = codec(spec.response, version).decode(frame, offset)
        return response

    def _receive(self, size: int) -> memoryview:
        buffer = memoryview(bytearray(size))
        filled = 0
        while filled < size:
            count = self._socket.recv_into(buffer[filled:])
            if count == 0:
                raise WireError(f"{self.address} closed the connection")
            filled += count
        return buffer
