"""Captures for Wireshark: checked by hand, and by tshark where there is one."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from odradek.broker.requests.recent_requests import Head
from odradek.broker.transcript.capture import write_capture
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.exchanges import Names, recorded


class Packet(NamedTuple):
    """A packet of version 4, read back."""

    seconds: float
    source: str
    target: str
    flags: int
    sequence: int
    acknowledged: int
    data: bytes
    missing: int


def captured(*requests: RecordedRequest, port: int | None = 9092) -> bytes:
    out = io.BytesIO()
    write_capture(requests, out, Names(), port)
    return out.getvalue()


def packets(*requests: RecordedRequest, port: int | None = 9092) -> list[Packet]:
    raw = captured(*requests, port=port)
    assert struct.unpack_from("<IHHiIII", raw) == (0xA1B2C3D4, 2, 4, 0, 0, 262_144, 101)
    found = []
    at = 24
    while at < len(raw):
        seconds, micros, kept, length = struct.unpack_from("<IIII", raw, at)
        packet = raw[at + 16 : at + 16 + kept]
        at += 16 + kept
        words = struct.unpack(">10H", packet[:20])
        total = sum(words)
        assert (total & 0xFFFF) + (total >> 16) == 0xFFFF, "the checksum of the header is wrong"
        assert struct.unpack_from(">H", packet, 2)[0] == length
        source, target = (".".join(map(str, packet[place : place + 4])) for place in (12, 16))
        ports = struct.unpack_from(">HH", packet, 20)
        sequence, acknowledged, _, flags = struct.unpack_from(">IIBB", packet, 24)
        found.append(
            Packet(
                seconds + micros / 1_000_000,
                f"{source}:{ports[0]}",
                f"{target}:{ports[1]}",
                flags,
                sequence,
                acknowledged,
                packet[40:],
                length - kept,
            )
        )
    return found


BEAT = recorded(HeartbeatRequest("g"), 4, HeartbeatResponse())


def test_a_connection_begins_with_its_handshake() -> None:
    client, broker = "127.0.0.1:50000", "127.0.0.1:9092"
    found = packets(BEAT)
    assert [(each.source, each.target, each.flags) for each in found] == [
        (client, broker, 0x02),
        (broker, client, 0x12),
        (client, broker, 0x10),
        (client, broker, 0x18),
        (broker, client, 0x18),
    ]
    exchange = BEAT.exchange
    assert isinstance(exchange.frame, bytes)
    assert found[3].data == len(exchange.frame).to_bytes(4) + exchange.frame
    assert found[4].data == exchange.answer
    assert (found[3].sequence, found[3].acknowledged) == (1, 1)
    assert (found[4].sequence, found[4].acknowledged) == (1, 1 + len(found[3].data))
    assert [each.seconds for each in found[3:]] == pytest.approx([1_000_000.5, 1_000_000.504])


def test_capture_keeps_nodes_apart() -> None:
    second = recorded(HeartbeatRequest("g"), 4, connection="127.0.0.1:9001-127.0.0.1:50000-2")
    second._raw[2] = 2
    assert {each.target for each in packets(BEAT, second) if each.flags == 0x02} == {"127.0.0.1:9092", "127.0.0.2:9092"}
    assert packets(second, port=None)[0].target == "127.0.0.1:9001"


def test_large_messages_are_several_segments() -> None:
    batch = build_batch([Record(0, 1000, None, b"v" * 100_000, ())])
    data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
    one = recorded(ProduceRequest(None, 1, 0, data), 8)
    whole = one.exchange.frame
    assert isinstance(whole, bytes)
    sent = [each for each in packets(one) if each.data]
    assert b"".join(each.data for each in sent) == len(whole).to_bytes(4) + whole
    assert [each.sequence for each in sent] == [1, 1 + 32768, 1 + 2 * 32768, 1 + 3 * 32768]


def test_of_what_was_not_kept_a_packet_says_so() -> None:
    one = recorded(HeartbeatRequest("g"), 4, HeartbeatResponse(), frame=Head(b"", 22))
    found = packets(one)
    size = one.size + 4
    assert len(found[3].data) + found[3].missing == size
    assert found[3].data[4:8] == b"\0\x0c\0\4"  # the key and the version are known all the same
    assert found[4].acknowledged == 1 + size


def test_capture_writes_addresses_of_ip_version_6() -> None:
    raw = captured(recorded(HeartbeatRequest("g"), 4, connection="::1:9000-::1:50000-1"))
    assert raw[40] >> 4 == 6
    assert raw[48:80] == (bytes(15) + b"\1") * 2


def test_a_connection_without_addresses() -> None:
    assert packets(recorded(HeartbeatRequest("g"), 4, connection="c1"))[0].target == "127.0.0.1:9092"


@pytest.mark.skipif(shutil.which("tshark") is None, reason="there is no tshark (Debian: tshark)")
def test_capture_is_decoded_by_wireshark(tmp_path: Path) -> None:
    """In versions that the Wireshark of a few years ago knows; of later ones it shows the header."""
    batch = build_batch([Record(0, 1000, None, b"hello", ())])
    produce = ProduceRequest(None, 1, 0, [TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch)])])
    fetch = FetchRequest(topics=[FetchTopic("orders", partitions=[FetchPartition(3, fetch_offset=77)])])
    metadata = MetadataResponse(
        brokers=[MetadataResponseBroker(1, "h", 1)], topics=[MetadataResponseTopic(0, "orders")]
    )
    path = tmp_path / "t.pcap"
    path.write_bytes(
        captured(
            recorded(MetadataRequest(topics=None), 5, metadata, at=0.1, correlation_id=1),
            recorded(produce, 7, at=0.2, correlation_id=2),
            recorded(fetch, 11, FetchResponse(), at=0.3, correlation_id=3),
            recorded(HeartbeatRequest("g"), 3, HeartbeatResponse(0, 25), at=0.4, correlation_id=4),
        )
    )
    fields = ["kafka.api_key", "kafka.correlation_id", "kafka.client_id", "kafka.topic_name", "kafka.offset"]
    words = [word for field in fields for word in ("-e", field)]
    command = ["tshark", "-r", str(path), "-Y", "kafka", "-T", "fields", "-E", "separator=;", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("3;1;app")
    assert lines[1].startswith("3;1;;orders")
    assert lines[2].startswith("0;2;app;orders;0")
    assert lines[3].startswith("1;3;app;orders;77")
    assert lines[5].startswith("12;4;app")
    assert lines[6].startswith("12;4;")
    command = ["tshark", "-r", str(path), "-Y", "_ws.malformed || tcp.analysis.flags"]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout == ""
