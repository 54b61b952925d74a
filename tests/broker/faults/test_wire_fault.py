"""Faults below the API: what they refuse, what they do to bytes, and that real answers break as told."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek import Fault, KafkaBroker, WireFault
from odradek.broker.facade.remote.json_values import decoded, encoded
from odradek.broker.faults.fault import Step
from odradek.broker.faults.wire_fault import serve_badly
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.unregister_broker import UnregisterBrokerRequest
from odradek.protocol.record_batch import iter_batches
from odradek.wire_client import WireError
from tests.fakes.wire_client import ConnectionClosed, WireClient

ANSWER: list[bytes | memoryview] = [b"0123", memoryview(b"456789")]


def steps(**options: Any) -> list[Step]:
    return WireFault(**options).steps_of(list(ANSWER), None)


def test_what_happens_to_the_bytes_of_an_answer() -> None:
    assert steps(cut_after=5) == [Step(b"01234"), Step(None, end="close")]
    assert steps(cut_after=0, how="reset") == [Step(b""), Step(None, end="reset")]
    assert steps(stall_after=3, stall_ms=70) == [Step(b"012"), Step(b"3456789", 70)]
    assert steps(pieces=4, pause_ms=5) == [Step(b"0123", 0), Step(b"4567", 5), Step(b"89", 5)]
    assert steps(flip=0) == [Step(b"1123456789")]
    assert steps(flip=-1) == [Step(b"0123456788")]
    assert steps(flip=10) == steps(flip=-11) == steps(flip="records") == [Step(b"0123456789")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one of cut_after, stall_after, pieces, flip to an answer, not nothing"),
        ({"cut_after": 1, "flip": 1}, "not cut_after and flip"),
        ({"cut_after": -1}, "cut_after=-1: a number of bytes or milliseconds is not negative"),
        ({"pieces": 0}, "pieces=0: a piece has at least one byte"),
        ({"stall_after": 3}, "stall_after needs stall_ms"),
        ({"flip": 3, "stall_ms": 1}, "stall_ms=1 goes with stall_after"),
        ({"flip": 3, "pause_ms": 1}, "pause_ms=1 goes with pieces"),
        ({"flip": 3, "how": "reset"}, "how='reset' says how cut_after ends the connection"),
        ({"flip": "record"}, "flip='record': the number of a byte, or 'records'"),
        ({"cut_after": 1, "how": "rest"}, "how='rest': expected one of close, reset, half-close, stall (did you mean"),
        ({"on": "connection"}, "on='connection': expected one of request, connect (did you mean 'connect'?)"),
        ({"on": "connect", "api": "Fetch"}, "a new connection has asked nothing: on='connect' goes without api"),
        ({"on": "connect", "flip": 1, "client_id": "a"}, "goes without flip, client_id"),
        ({"api": "Fetsh", "flip": 1}, "no API is called 'Fetsh' (did you mean 'Fetch'?)"),
        ({"flip": 1, "times": 0}, "times=0: a fault acts at least once"),
        ({"flip": 1, "skip": -1}, "skip=-1: the number of requests to let pass is not negative"),
    ],
)
def test_a_wire_fault_that_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        WireFault(**options)


def test_a_fault_shows_what_it_does() -> None:
    assert repr(WireFault("Fetch", cut_after=0, times=2)) == "WireFault(api='Fetch', times=2, cut_after=0)"
    assert repr(WireFault(flip="records", topic="t")) == "WireFault(topic='t', flip='records')"
    assert repr(WireFault(on="connect", how="reset", node=2)) == "WireFault(node=2, how='reset', on='connect')"


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics=["t"]) as running:
        running.produce("t", "value")
        yield running
        running.set_faults()
        assert not running.bugs, running.bugs[0]


def dial(broker: KafkaBroker) -> WireClient:
    return WireClient("127.0.0.1", broker.cluster.nodes[1].port)


def plain(client: WireClient) -> socket.socket:
    assert isinstance(client._socket, socket.socket)
    return client._socket


def fetch() -> FetchRequest:
    asked = FetchTopic(topic="t", partitions=[FetchPartition(0, partition_max_bytes=1000)])
    return FetchRequest(max_wait_ms=0, min_bytes=0, session_epoch=-1, topics=[asked])


@pytest.mark.parametrize("cut_after", [0, 3, 4, 20])
def test_an_answer_ends_in_the_middle(broker: KafkaBroker, cut_after: int) -> None:
    fault = WireFault("Fetch", topic="t", cut_after=cut_after, times=1)
    broker.set_faults(fault)
    with dial(broker) as client:
        client.request(MetadataRequest(), 12)
        with pytest.raises(ConnectionClosed):
            client.request(fetch(), 12)
        assert fault.hits == 1
    with dial(broker) as client:
        assert client.request(fetch(), 12).responses


def test_wire_fault_resets_the_connection(broker: KafkaBroker) -> None:
    broker.set_faults(WireFault("Fetch", cut_after=0, how="reset", times=1))
    with dial(broker) as client, pytest.raises(WireError, match=r"(?i)reset"):
        client.request(fetch(), 12)


def test_a_half_closed_connection_is_served_on(broker: KafkaBroker) -> None:
    broker.set_faults(WireFault("Fetch", cut_after=0, how="half-close", times=1), served := Fault("Metadata"))
    with dial(broker) as client:
        with pytest.raises(ConnectionClosed):
            client.request(fetch(), 12)
        client.send(MetadataRequest(), 12)
        served.wait()


def test_wire_fault_delays_the_rest_of_an_answer(broker: KafkaBroker) -> None:
    fault = WireFault("Fetch", stall_after=10, stall_ms=60_000)
    broker.set_faults(fault)
    broker.clock.freeze()
    with dial(broker) as client:
        number = client.send(fetch(), 12)
        assert len(plain(client).recv(10, socket.MSG_WAITALL)) == 10
        fault.wait()
        broker.clock.advance(minutes=1)
        assert plain(client).recv(1, socket.MSG_PEEK)
        assert number == 1


def test_an_answer_in_pieces_is_the_same_answer(broker: KafkaBroker) -> None:
    with dial(broker) as client:
        whole = client.request(fetch(), 12)
        broker.set_faults(WireFault("Fetch", pieces=1))
        assert client.request(fetch(), 12) == whole
        assert client.request(fetch(), 12) == whole


def test_records_are_damaged_so_that_their_checksum_tells(broker: KafkaBroker) -> None:
    with dial(broker) as client:
        broker.set_faults(WireFault("Fetch", flip="records", times=1))
        found = client.request(fetch(), 12).responses[0].partitions[0].records
        [batch] = iter_batches([found])
        assert not batch.is_crc_valid
        found = client.request(fetch(), 12).responses[0].partitions[0].records
        [batch] = iter_batches([found])
        assert batch.is_crc_valid


def test_wire_fault_meets_the_nth_request_alone(broker: KafkaBroker) -> None:
    fault = WireFault("Metadata", cut_after=0, skip=2, times=1)
    broker.set_faults(fault)
    with dial(broker) as client:
        for _ in range(2):
            client.request(MetadataRequest(), 12)
        with pytest.raises(ConnectionClosed):
            client.request(MetadataRequest(), 12)
    with dial(broker) as client:
        client.request(MetadataRequest(), 12)
    assert fault.hits == 1


@pytest.mark.parametrize("how", ["close", "reset", "half-close"])
def test_new_connections_end_at_once(broker: KafkaBroker, how: Any) -> None:
    fault = WireFault(on="connect", how=how, times=1)
    with dial(broker) as before:
        before.request(MetadataRequest(), 12)
        broker.set_faults(fault)
        with pytest.raises(WireError), dial(broker) as client:
            client.request(MetadataRequest(), 12)
        with dial(broker) as client:
            client.request(MetadataRequest(), 12)
        before.request(MetadataRequest(), 12)
    assert fault.hits == 1


def test_a_new_connection_that_is_never_answered(broker: KafkaBroker) -> None:
    fault = WireFault(on="connect", how="stall", times=1)
    broker.set_faults(fault)
    with dial(broker) as client:
        fault.wait()
        client.send(MetadataRequest(), 12)
        with dial(broker) as other:
            other.request(MetadataRequest(), 12)
        plain(client).setblocking(False)
        with pytest.raises(BlockingIOError):
            plain(client).recv(1)


def test_an_error_answer_is_tampered_with_too(broker: KafkaBroker) -> None:
    broker.set_faults(WireFault("UnregisterBroker", cut_after=4))
    with dial(broker) as client, pytest.raises(ConnectionClosed):
        client.request(UnregisterBrokerRequest(99), 0)


@pytest.mark.parametrize(
    "fault",
    [
        WireFault("Fetch", 2, cut_after=0, how="reset", topic="t", skip=1),
        WireFault("Fetch", flip="records"),
        WireFault(flip=-1),
        WireFault(stall_after=3, stall_ms=5, delay_ms=7),
        WireFault(on="connect", how="stall", node=1, listener="PLAINTEXT"),
    ],
)
def test_a_wire_fault_goes_over_the_control_api(fault: WireFault) -> None:
    data = json.loads(json.dumps(encoded(fault)))
    assert data.pop("hits") == 0
    assert repr(decoded(Fault, data, "fault")) == repr(fault)


def pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a TCP connection: pairs of sockets know no reset."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        far = socket.create_connection(server.getsockname())
        return server.accept()[0], far


@pytest.mark.parametrize(("how", "seen"), [("close", "end"), ("reset", "reset"), ("half-close", "end"), ("stall", "")])
def test_wire_fault_closes_the_socket_as_the_client_sees(how: str, seen: str) -> None:
    near, far = pair()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve_badly, near, how)
            await wait_all_tasks_blocked()
            far.setblocking(False)
            try:
                found = "end" if far.recv(1) == b"" else "data"
            except ConnectionResetError:
                found = "reset"
            except BlockingIOError:
                found = ""
            assert found == seen
            far.close()  # the task ends with its client

    trio.run(main)
    assert near.fileno() < 0
