"""Large answers on their way: over real sockets, from files and from memory, with a client that reads little."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from odradek.broker.net import sending
from odradek.broker.net.sending import send_large
from odradek.protocol.file_slice import FileSlice, Part
from odradek.storage.backing_file import Extent, temporary_file

KB, MB = 1024, 1024 * 1024
linux = pytest.mark.skipif(sys.platform != "linux", reason="files are sent by descriptor on Linux")


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A server's end that does not block, and the client's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    if sys.platform == "linux":
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")  # as the broker does within a machine
    server.setblocking(False)
    with client, server:
        yield server, client


class Wrapped:
    """A transport that is no plain socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def send(self, data: bytes | memoryview, /) -> int:
        return self._socket.send(data)

    def sendmsg(self, parts: list[bytes | memoryview], /) -> int:
        return self._socket.sendmsg(parts)


def stored(content: bytes) -> tuple[Extent, FileSlice]:
    extent = temporary_file().extent(len(content))
    extent.write(content)
    return extent, FileSlice(extent, extent.offset, len(content))


def mixed(seed: int) -> tuple[list[Part], bytes]:
    """An answer of 12 MB: small and large parts, in memory and in files."""
    parts: list[Part] = []
    content = []
    for size, in_file in ((80, False), (3 * MB, True), (MB, False), (70 * KB, True), (1, True), (0, False), (9, False)):
        data = bytes([seed, size % 251]) * ((size + 1) // 2)
        data = data[:size]
        parts.append(stored(data)[1] if in_file else data)
        content.append(data)
    parts.append(b"")
    big = os.urandom(8 * MB)
    parts.append(stored(big)[1])
    return [*parts, b"end"], b"".join([*content, big, b"end"])


def maps_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a connection whose congestion control, whichever it is, paces what is sent; or on another system."""
    monkeypatch.setattr(sending, "_PACING", b"")


def received(transport: Any, parts: list[Part], client: socket.socket) -> bytes:
    """What comes when the client reads only while the server cannot go on."""
    got = bytearray()
    left: list[Part] | None = parts
    while left is not None:
        left = send_large(transport, left)
        if left is not None:
            got += client.recv(300_000)
    client.settimeout(30)
    expected = sum(map(len, parts))
    while len(got) < expected:
        got += client.recv(MB)
    return bytes(got)


@pytest.mark.parametrize("how", ["by descriptor", "paced", "without sendmsg", "without pread", "another transport"])
def test_send_of_many_parts_arrives_in_order(
    pair: tuple[socket.socket, socket.socket], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client = pair
    if how == "paced":
        maps_only(monkeypatch)
    elif how == "without sendmsg":
        maps_only(monkeypatch)
        monkeypatch.setattr(sending, "HAS_SENDMSG", False)
    elif how == "without pread":
        maps_only(monkeypatch)
        for name in ("pread", "pwrite", "sendfile"):
            monkeypatch.delattr(os, name)
    transport: Any = Wrapped(server) if how == "another transport" else server
    for seed in (1, 2):
        parts, content = mixed(seed)
        assert received(transport, parts, client) == content


def test_what_is_left_of_a_file_is_no_memory(pair: tuple[socket.socket, socket.socket]) -> None:
    server, _ = pair
    parts: list[Part] = [b"head", stored(os.urandom(20 * MB))[1]]
    left: list[Part] | None = parts
    rounds = 0
    while rounds < 5:
        left = send_large(server, left or [])
        assert left is not None
        rounds += 1
    (rest,) = left or []
    assert isinstance(rest, FileSlice)
    assert 0 < len(rest) < 20 * MB


@pytest.mark.parametrize("by_descriptor", [pytest.param(True, marks=linux), False])
def test_one_call_sends_no_more_than_its_share(
    pair: tuple[socket.socket, socket.socket], by_descriptor: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _ = pair
    if not by_descriptor:
        maps_only(monkeypatch)
    monkeypatch.setattr(sending, "_MOST_AT_ONCE", 100_000)
    parts: list[Part] = [stored(letter * 80_000)[1] for letter in (b"a", b"b", b"c")]
    left = send_large(server, parts)
    if by_descriptor:
        assert left is not None
        assert sum(map(len, left)) == 140_000
    else:
        assert left == parts[2:], "what makes it more than that goes along"
    while left is not None:
        left = send_large(server, left)


def test_a_file_is_mapped_only_while_it_is_sent(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _ = pair
    maps_only(monkeypatch)
    extent, part = stored(os.urandom(20 * MB))
    left = send_large(server, [part])
    assert left is not None
    assert extent.file.maps == 0


@linux
def test_by_descriptor_nothing_is_mapped(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client = pair
    _, part = stored(os.urandom(MB))
    content = bytes(part.view())
    monkeypatch.setattr(FileSlice, "view", None)
    assert received(server, [b"head", part, b"tail"], client) == b"head" + content + b"tail"


@linux
def test_a_small_slice_is_looked_at(pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    server, client = pair
    _, part = stored(b"s" * 5000)
    monkeypatch.delattr(os, "sendfile")
    assert received(server, [b"head", part], client) == b"head" + b"s" * 5000


@linux
def test_a_file_that_was_cut_ends_the_connection(pair: tuple[socket.socket, socket.socket]) -> None:
    server, _ = pair
    extent, part = stored(b"a" * 100_000)
    os.truncate(extent.descriptor, 0)
    with pytest.raises(ConnectionError, match="cut while an answer was under way"):
        send_large(server, [b"head", part])


def test_the_answer_outlives_whoever_made_it(pair: tuple[socket.socket, socket.socket]) -> None:
    server, client = pair
    extent, part = stored(b"x" * 9 * MB)
    left = send_large(server, [part])
    descriptor = extent.descriptor
    del extent, part
    assert left is not None
    os.fstat(descriptor)
    assert received(server, left, client).count(b"x") >= 9 * MB - sending._MOST_AT_ONCE
    del left


def test_an_answer_has_for_itself_what_is_no_record() -> None:
    log = memoryview(bytearray(100))
    parts: list[Part] = [b"head", log, memoryview(b"rest of an encoded answer"), stored(b"in a file")[1]]
    assert sending.bytes_of_its_own(parts) == 4 + 25
