"""Small answers by one call: each socket gets its own, and what one of them cannot take is told of that one alone."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from odradek.broker.fast import socket_batch
from odradek.broker.fast.socket_batch import NOT_NOW, SLOT_BYTES, SLOTS, SocketBatch, give_back, take_batch

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture(autouse=True)
def poller() -> None:
    """Nothing here has a poller, so once is enough."""


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    """As many connections as a call takes, `(broker's end, client's end)`; the broker's does not wait."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        made: list[Pair] = []
        for _ in range(SLOTS):
            client = socket.create_connection(server.getsockname())
            made.append((server.accept()[0], client))
            made[-1][0].setblocking(False)
    yield made
    for pair in made:
        for end in pair:
            end.close()


@pytest.fixture
def batch() -> Iterator[SocketBatch]:
    taken = take_batch()
    if taken is None:
        pytest.skip("this system has no call for many sockets")
    yield taken
    give_back(taken)


def answer(number: int) -> bytes:
    return bytes([number]) * (1 + number * 16)


def sent(batch: SocketBatch, pairs: list[Pair]) -> list[int]:
    return batch.send([ours.fileno() for ours, _ in pairs], [answer(number) for number in range(len(pairs))])


def fill(full: socket.socket) -> None:
    """Send until it takes no more."""
    with suppress(BlockingIOError):
        while True:
            full.send(bytes(65536))


def test_each_socket_gets_its_answer(batch: SocketBatch, pairs: list[Pair]) -> None:
    for _ in range(3):
        assert sent(batch, pairs) == [len(answer(number)) for number in range(SLOTS)]
        for number, (_, client) in enumerate(pairs):
            assert client.recv(SLOT_BYTES + 1) == answer(number)
    assert not batch.refused


def test_the_largest_answer(batch: SocketBatch, pairs: list[Pair]) -> None:
    (ours, client), data = pairs[0], os.urandom(SLOT_BYTES)
    assert batch.send([ours.fileno()], [data]) == [SLOT_BYTES]
    assert client.recv(SLOT_BYTES, socket.MSG_WAITALL) == data


def test_what_one_socket_cannot_take_is_told_of_that_one(batch: SocketBatch, pairs: list[Pair]) -> None:
    full, lost = pairs[1][0], pairs[3][0]
    fill(full)
    lost.shutdown(socket.SHUT_WR)
    results = sent(batch, pairs[:6])
    assert results == [1, NOT_NOW, len(answer(2)), -errno.EPIPE, len(answer(4)), len(answer(5))]
    assert pairs[5][1].recv(SLOT_BYTES) == answer(5)


def test_what_comes_behind_a_socket_that_is_none_is_told_as_not_sent(batch: SocketBatch, pairs: list[Pair]) -> None:
    closed = os.dup(pairs[1][0].fileno())
    os.close(closed)
    descriptors = [pairs[0][0].fileno(), closed, pairs[2][0].fileno()]
    assert batch.send(descriptors, [b"a", b"b", b"c"]) == [1, NOT_NOW, NOT_NOW]
    assert batch.send(descriptors[2:], [b"c"]) == [1]


def test_a_batch_that_is_given_back_serves_the_next(batch: SocketBatch, pairs: list[Pair]) -> None:
    other = take_batch()
    assert other is not None
    give_back(other)
    assert take_batch() is other
    assert sent(other, pairs) == [len(answer(number)) for number in range(SLOTS)]
    give_back(other)


def test_a_system_that_refuses_a_call_is_not_asked_again(batch: SocketBatch, pairs: list[Pair]) -> None:
    calls = socket_batch._CALLS[os.uname().machine]
    refused = SocketBatch(calls._replace(submit=-1))
    assert sent(refused, pairs) == [NOT_NOW] * SLOTS
    assert refused.refused
    give_back(refused)
    fresh = take_batch()
    assert fresh is not None
    assert fresh is not refused
    give_back(fresh)


def test_a_system_without_it_has_none(
    batch: SocketBatch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    machine = os.uname().machine
    calls = socket_batch._CALLS[machine]
    monkeypatch.setattr(socket_batch, "_unused", [])
    with caplog.at_level(logging.DEBUG, "odradek.broker.net"):
        monkeypatch.setitem(socket_batch._CALLS, machine, calls._replace(setup=-1))
        assert take_batch() is None
    assert caplog.messages == [f"answers are sent one by one: [Errno {errno.ENOSYS}] {os.strerror(errno.ENOSYS)}"]
    monkeypatch.delitem(socket_batch._CALLS, machine)
    assert take_batch() is None
