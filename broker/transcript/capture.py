"""A transcript as a capture file (libpcap's format) for Wireshark, whose Kafka dissector decodes it.

The TCP segments are not real: they are made from the messages that were kept, with the addresses of their
connections. Records that were not kept are zeros. A message that was not kept at all has its header only, in a packet
that was "limited during capture". Times are real ones, counted from the broker's start. Brokers get Kafka's own port,
and node n on the loopback gets the address 127.0.0.n, so that nodes differ.
Requests to the schema registry are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from struct import Struct, pack
from typing import BinaryIO, NamedTuple

from odradek.broker.requests.recent_requests import REGISTRY_KEY, Exchange, Head
from odradek.broker.transcript.recorded_request import Facts, RecordedRequest, whole_bytes
from odradek.protocol.headers import RequestHeader, encode_request_header

_FILE_HEADER = pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 101)
"""Times in microseconds; packets begin with their IP header."""
_PACKET_HEADER = Struct("<IIII")
_TCP = Struct(">HHIIBBHHH")
_SEGMENT = 32 * 1024
_SYN, _ACK, _PUSH_ACK = 0x02, 0x10, 0x18
_WINDOW = 65_535


class _Message(NamedTuple):
    """A message to send. `data` may be shorter than its `size`."""

    seconds: float
    connection: str
    node_id: int
    from_client: bool
    data: bytes
    size: int


class _End:
    """One end of a connection. `next_sequence`: the number of the next byte that it sends."""

    def __init__(self, host: str, port: int) -> None:
        self.address = ip_address(host)
        self.port = port
        self.next_sequence = 0


class _Link:
    """The two ends of a connection."""

    def __init__(self, client: _End, broker: _End) -> None:
        self.client = client
        self.broker = broker


def write_capture(requests: Iterable[RecordedRequest], file: BinaryIO, facts: Facts, port: int | None) -> None:
    """Write requests and answers in the order of their times. `port`: the brokers' port in the file."""
    began_us = facts.ms_at(facts.origin_s) * 1000
    messages: list[_Message] = []
    for recorded in requests:
        exchange = recorded.exchange
        if exchange.api_key == REGISTRY_KEY:
            continue
        messages.append(_request(exchange))
        if exchange.answer_size:
            messages.append(_response(exchange))
    messages.sort(key=lambda each: each.seconds)
    links: dict[str, _Link] = {}
    file.write(_FILE_HEADER)
    for message in messages:
        time_us = began_us + int((message.seconds - facts.origin_s) * 1_000_000)
        link = links.get(message.connection)
        if link is None:
            link = links[message.connection] = _link(message, port)
            _open(file, link, time_us)
        _send(file, link, message, time_us)


def _request(exchange: Exchange) -> _Message:
    data = whole_bytes(exchange.frame)
    if data is None:
        header = RequestHeader(exchange.api_key, exchange.version, exchange.correlation_id, exchange.client_id)
        kept = exchange.frame.data if isinstance(exchange.frame, Head) else b""
        data = kept or encode_request_header(header)
    framed = pack(">i", exchange.size) + data
    return _Message(exchange.seconds, exchange.connection, exchange.node_id, True, framed, exchange.size + 4)


def _response(exchange: Exchange) -> _Message:
    data = whole_bytes(exchange.answer)
    if data is None:
        kept = exchange.answer.data if isinstance(exchange.answer, Head) else b""
        data = kept or pack(">ii", exchange.answer_size, exchange.correlation_id)
    return _Message(exchange.answered, exchange.connection, exchange.node_id, False, data, exchange.answer_size + 4)


def _link(message: _Message, port: int | None) -> _Link:
    both = message.connection.rpartition("-")[0]
    broker, _, client = both.rpartition("-")
    client_host, client_port = _host_and_port(client)
    broker_host, broker_port = _host_and_port(broker)
    if port is not None:
        broker_port = port
        if broker_host == "127.0.0.1":
            broker_host = f"127.0.0.{min(message.node_id, 254)}"
    return _Link(_End(client_host, client_port), _End(broker_host, broker_port))


def _host_and_port(text: str) -> tuple[str, int]:
    """Host and port of a connection; loopback and port 0 if it has none (in a test without sockets)."""
    host, _, port = text.rpartition(":")
    try:
        return str(ip_address(host.strip("[]"))), int(port)
    except ValueError:
        return "127.0.0.1", 0


def _open(file: BinaryIO, link: _Link, time_us: int) -> None:
    for end, other, flags in (
        (link.client, link.broker, _SYN),
        (link.broker, link.client, _SYN | _ACK),
        (link.client, link.broker, _ACK),
    ):
        _write(file, time_us, _packet(end, other, flags, b""), 0)
        end.next_sequence += 1 if flags & _SYN else 0


def _send(file: BinaryIO, link: _Link, message: _Message, time_us: int) -> None:
    end, other = (link.client, link.broker) if message.from_client else (link.broker, link.client)
    sent = 0
    while sent < message.size:
        length = min(_SEGMENT, message.size - sent)
        data = message.data[sent : sent + length]
        if not data:
            end.next_sequence += message.size - sent
            return
        _write(file, time_us, _packet(end, other, _PUSH_ACK, data, length), length - len(data))
        end.next_sequence += length
        sent += length


def _packet(end: _End, other: _End, flags: int, data: bytes, length: int = 0) -> bytes:
    """IP and TCP headers and the data. The headers say `length`, which may be more than the data has."""
    acknowledged = other.next_sequence if flags & _ACK else 0
    tcp = _TCP.pack(
        end.port,
        other.port,
        end.next_sequence & 0xFFFFFFFF,
        acknowledged & 0xFFFFFFFF,
        5 << 4,
        flags,
        _WINDOW,
        0,
        0,
    )
    length = max(length, len(data))
    if end.address.version == 4:
        head = pack(">BBHHHBBH", 0x45, 0, 40 + length, 0, 0x4000, 64, 6, 0) + end.address.packed + other.address.packed
        head = head[:10] + pack(">H", _checksum(head)) + head[12:]
    else:
        head = pack(">IHBB", 6 << 28, 20 + length, 6, 64) + end.address.packed + other.address.packed
    return head + tcp + data


def _checksum(header: bytes) -> int:
    total = sum(int.from_bytes(header[at : at + 2]) for at in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _write(file: BinaryIO, time_us: int, packet: bytes, missing: int) -> None:
    seconds, micros = divmod(time_us, 1_000_000)
    file.write(_PACKET_HEADER.pack(seconds, micros, len(packet), len(packet) + missing) + packet)
