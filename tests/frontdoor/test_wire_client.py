"""The small blocking client: versions are agreed, and what goes wrong says where."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

import odradek
from odradek.client_security.options import ClientSecurity
from odradek.protocol.generated.messages.api_versions import ApiVersion, ApiVersionsResponse
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataResponse
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateResponse
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeResponse
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import Record, build_batch
from odradek.wire_client import WireClient, WireError

Answer = Callable[[int, bytes], bytes | None]
"""Number of the request and its frame to the frame of the answer; None closes the connection."""


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], int]]:
    """``serve(answer)``: a server for one connection; returns its port."""
    threads: list[threading.Thread] = []

    def start(answer: Answer) -> int:
        listener = socket.create_server(("127.0.0.1", 0))

        def run() -> None:
            with listener, listener.accept()[0] as connection, connection.makefile("rb") as stream:
                number = 0
                while size := stream.read(4):
                    answered = answer(number, stream.read(struct.unpack(">i", size)[0]))
                    if answered is None:
                        return
                    connection.sendall(struct.pack(">i", len(answered)) + answered)
                    number += 1

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return int(listener.getsockname()[1])

    yield start
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def versions(correlation_id: int, *served: tuple[int, int, int]) -> bytes:
    body = ApiVersionsResponse(api_keys=[ApiVersion(*each) for each in served])
    return struct.pack(">i", correlation_id) + codec(ApiVersionsResponse, 0).encode(body)


def test_the_newest_version_of_both_is_used() -> None:
    with odradek.KafkaBroker(topics={"orders": 2}) as broker:
        host, _, port = broker.bootstrap_servers.partition(":")
        with WireClient(host, int(port)) as client:
            newest = client.request(MetadataRequest(topics=None))
            oldest = client.request(MetadataRequest(topics=[]), max_version=0)
        assert [topic.name for topic in newest.topics] == [topic.name for topic in oldest.topics] == ["orders"]
        assert newest.topics[0].topic_id != oldest.topics[0].topic_id == bytes(16)


def test_requests_are_begun_before_their_answers_are_taken() -> None:
    batch = build_batch([Record(0, 1000, b"k", b"v" * 100_000)])
    part = PartitionProduceData(index=1, records=memoryview(batch))
    produce = ProduceRequest(
        acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name="orders", partition_data=[part])]
    )
    with odradek.KafkaBroker(topics={"orders": 2}) as broker:
        host, _, port = broker.bootstrap_servers.partition(":")
        with WireClient(host, int(port)) as client:
            metadata = client.begin(MetadataRequest(topics=None), 12)
            produced = [client.begin(produce, 11) for _ in range(2)]
            assert [topic.name for topic in metadata().topics] == ["orders"]
            answers = [answer().responses[0].partition_responses[0] for answer in produced]
        assert [(answer.error_code, answer.base_offset) for answer in answers] == [(0, 0), (0, 1)]
        assert [record.value for record in broker.records("orders")] == [b"v" * 100_000] * 2


def test_a_lost_answer_is_told_to_who_waits_for_it(serve: Callable[[Answer], int]) -> None:
    port = serve(lambda number, frame: None if number else versions(1, (18, 0, 0), (3, 0, 12)))
    with WireClient("127.0.0.1", port) as client:
        answer = client.begin(MetadataRequest(topics=None), 12)
        with pytest.raises(WireError, match=f"127.0.0.1:{port} closed the connection"):
            client.request(MetadataRequest(topics=None))
        with pytest.raises(WireError, match=f"127.0.0.1:{port} has not answered"):
            answer()


def test_an_api_without_a_common_version_is_named(serve: Callable[[Answer], int]) -> None:
    port = serve(lambda number, frame: versions(1, (18, 0, 0), (3, 90, 99)))
    with WireClient("127.0.0.1", port) as client, pytest.raises(WireError, match="serves no version of Metadata"):
        client.request(MetadataRequest(topics=None))


def test_a_broker_that_hangs_up_is_named(serve: Callable[[Answer], int]) -> None:
    port = serve(lambda number, frame: None)
    with pytest.raises(WireError, match=f"127.0.0.1:{port} closed the connection"):
        WireClient("127.0.0.1", port)


def test_an_answer_to_another_request_is_refused(serve: Callable[[Answer], int]) -> None:
    port = serve(lambda number, frame: versions(77, (18, 0, 0)))
    with pytest.raises(WireError, match="answered another request"):
        WireClient("127.0.0.1", port)


def test_the_wire_client_says_when_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(WireError, match=f"127.0.0.1:{port}: Connection refused"):
        WireClient("127.0.0.1", port)


PLAIN = ClientSecurity.parse(
    {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "a", "sasl.password": "hush"}
)


def logging_in(asked: list[int], lifetime_ms: int) -> Answer:
    """A broker that accepts each log-in for so long, and notes the keys of the requests."""

    def answer(number: int, frame: bytes) -> bytes:
        key, _, correlation_id = struct.unpack(">hhi", frame[:8])
        asked.append(key)
        head = struct.pack(">i", correlation_id)
        if key == 18:
            return versions(correlation_id, (3, 0, 1), (17, 1, 1), (36, 1, 1))
        if key == 17:
            handshake = SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN"])
            return head + codec(SaslHandshakeResponse, 1).encode(handshake)
        if key == 36:
            accepted = SaslAuthenticateResponse(error_code=0, auth_bytes=b"", session_lifetime_ms=lifetime_ms)
            return head + codec(SaslAuthenticateResponse, 1).encode(accepted)
        return head + codec(MetadataResponse, 1).encode(MetadataResponse())

    return answer


def test_the_log_in_comes_behind_the_versions(serve: Callable[[Answer], int]) -> None:
    asked: list[int] = []
    with WireClient("127.0.0.1", serve(logging_in(asked, 0)), security=PLAIN) as client:
        client.request(MetadataRequest(topics=[]))
        client.request(MetadataRequest(topics=[]))
        assert client.session_ends_in_s is None
    assert asked == [18, 17, 36, 3, 3]


def test_a_client_logs_in_again_before_its_session_ends(
    serve: Callable[[Answer], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    now = [1000.0]
    monkeypatch.setattr("odradek.wire_client.time.monotonic", lambda: now[0])
    with WireClient("127.0.0.1", serve(logging_in(asked, 100_000)), security=PLAIN) as client:
        for moment in (1000.0, 1084.0, 1086.0, 1087.0):
            now[0] = moment
            client.request(MetadataRequest(topics=[]))
        assert client.session_ends_in_s == 99.0
    assert asked == [18, 17, 36, 3, 3, 17, 36, 3, 3]
