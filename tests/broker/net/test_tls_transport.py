"""The transport alone, over a pair of sockets: what it sends when the socket is full, and what it sees of the end."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import pytest

from odradek.broker.net.tls_transport import TlsTransport
from odradek.broker.security.tls.contexts import Terms, server_context
from odradek.broker.security.tls.stores import pem_key_store
from tests.fakes.certificates import issued_by, new_authority

AUTHORITY = new_authority("Test CA")
BROKER = issued_by(AUTHORITY, "broker", hosts=["localhost"])
Pair = tuple[TlsTransport, ssl.SSLSocket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Both ends after the handshake; the client's socket does not block either."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    keys = pem_key_store(BROKER.key_pem, BROKER.chain_pem, None)
    transport = TlsTransport(ours, server_context(Terms(), keys, None))
    context = ssl.create_default_context(cadata=AUTHORITY.pem)
    client = context.wrap_socket(theirs, server_hostname="localhost", do_handshake_on_connect=False)
    done = [False, False]
    while not all(done):
        done[0] = done[0] or transport.handshake()
        try:
            client.do_handshake()
            done[1] = True
        except ssl.SSLWantReadError:
            pass
    yield transport, client
    transport.close()
    client.close()


def received(client: ssl.SSLSocket) -> bytes:
    """All that has come."""
    found = bytearray()
    while True:
        try:
            piece = client.recv(1 << 20)
        except ssl.SSLWantReadError:
            return bytes(found)
        if not piece:
            return bytes(found)
        found += piece


def test_a_full_socket_takes_up_where_it_stopped(pair: Pair) -> None:
    transport, client = pair
    parts = [bytes([number]) * size for number, size in enumerate([10, 5000, 20_000, 3, 900_000, 70, 1])]
    left: list[bytes | memoryview] = list(parts)
    arrived = bytearray()
    refused = 0
    while left:
        try:
            sent = transport.sendmsg(left)
        except BlockingIOError:
            refused += 1
            arrived += received(client)
            continue
        assert sent > 0
        while left and sent >= len(left[0]):
            sent -= len(left.pop(0))
        if sent:
            left[0] = memoryview(left[0])[sent:]
    arrived += received(client)
    assert refused > 0
    assert bytes(arrived) == b"".join(parts)


def test_what_is_encrypted_is_not_encrypted_again(pair: Pair) -> None:
    transport, client = pair
    data = bytes(1_000_000)
    total = 0
    while True:
        try:
            total += transport.send(data)
        except BlockingIOError:
            break
    with pytest.raises(BlockingIOError):
        transport.send(data)
    assert transport.wants_to_send
    arrived = len(received(client))
    while True:
        try:
            total += transport.send(data)
            break
        except BlockingIOError:
            arrived += len(received(client))
    assert arrived + len(received(client)) == total


def test_small_parts_share_a_record(pair: Pair) -> None:
    transport, client = pair
    assert transport.sendmsg([b"a" * 100, b"", b"b" * 200, b"c" * 8000]) == 8300
    # each read of the client gives one record
    assert client.recv(100_000) == b"a" * 100 + b"b" * 200
    assert client.recv(100_000) == b"c" * 8000


def test_reading_fills_the_space_from_many_records(pair: Pair) -> None:
    transport, client = pair
    for number in range(5):
        client.send(bytes([number]) * 100)
    space = memoryview(bytearray(450))
    assert transport.recv_into(space) == 450
    assert transport.recv_into(space) == 50
    with pytest.raises(BlockingIOError):
        transport.recv_into(space)


def test_the_end_comes_after_the_data(pair: Pair) -> None:
    transport, client = pair
    client.send(b"last words")
    with pytest.raises(ssl.SSLWantReadError):
        client.unwrap()
    space = memoryview(bytearray(100))
    assert transport.recv_into(space) == 10
    assert transport.recv_into(space) == 0
    assert transport.recv(1, socket.MSG_PEEK) == b""


def test_tls_transport_peek_takes_nothing(pair: Pair) -> None:
    transport, client = pair
    with pytest.raises(BlockingIOError):
        transport.recv(1, socket.MSG_PEEK)
    client.send(b"here")
    with pytest.raises(BlockingIOError):
        transport.recv(1, socket.MSG_PEEK)
    received(client)  # session tickets: a socket that is closed with something unread is reset
    client.close()
    assert transport.recv(1, socket.MSG_PEEK) == b""
    space = memoryview(bytearray(100))
    assert transport.recv_into(space) == 4
    assert transport.recv_into(space) == 0


def test_looking_stops_reading_at_some_point(pair: Pair) -> None:
    transport, client = pair
    sent = 0
    for _ in range(200):
        try:
            sent += client.send(bytes(16_000))
        except ssl.SSLWantWriteError:
            pass
        with pytest.raises(BlockingIOError):
            transport.recv(1, socket.MSG_PEEK)
    assert sent < 3_000_000  # the client finds its socket full


def test_tls_transport_close_sends_close_notify(pair: Pair) -> None:
    transport, client = pair
    transport.close()
    assert client.recv(1) == b""  # an end without close_notify would be an error


def test_a_client_that_goes_during_the_handshake_is_an_error() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    keys = pem_key_store(BROKER.key_pem, BROKER.chain_pem, None)
    transport = TlsTransport(ours, server_context(Terms(), keys, None))
    assert not transport.handshake()
    theirs.close()
    with pytest.raises(ConnectionResetError):
        transport.handshake()
    transport.close()
