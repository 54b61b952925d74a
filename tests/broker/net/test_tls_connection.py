"""Connections of TLS listeners over real sockets: handshakes, limits, who is let in, the same requests behind it."""

from __future__ import annotations

import shutil
import socket
import ssl
import struct
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.listeners import SecurityProtocol
from odradek.broker.net.connection_states import ConnectionState
from odradek.broker.net.server import Server
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.parked_request import Parked
from odradek.broker.security.tls.listener_tls import ListenerTls
from odradek.protocol.generated.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install, request_frame, response_of
from tests.broker.net.test_connection import beat, dial, is_closed, run, serving
from tests.fakes.certificates import Certificate, issued_by, new_authority
from tests.fakes.cluster import FakeCluster

AUTHORITY = new_authority("Test CA")
BROKER = issued_by(AUTHORITY, "broker", hosts=["127.0.0.1"])
ALICE = issued_by(AUTHORITY, "alice", organisation="Odradek, Inc.")


def terms(**config: str) -> ListenerTls:
    """What a listener with these configs has; `_` stands for a dot."""
    given = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": BROKER.key_pem,
        "ssl.keystore.certificate.chain": BROKER.chain_pem,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": AUTHORITY.pem,
        **{f"ssl.{name.replace('_', '.')}": value for name, value in config.items()},
    }
    return ListenerTls(BrokerConfig(given).for_listener("SSL"), SecurityProtocol.SSL)


def client_context(certificate: Certificate | None = None, version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    """A client that trusts the authority."""
    from odradek.broker.security.tls.contexts import Terms
    from odradek.broker.security.tls.contexts import client_context as with_certificate
    from odradek.broker.security.tls.stores import pem_key_store, pem_trust_store

    if certificate is not None:
        keys = pem_key_store(certificate.key_pem, certificate.chain_pem, None)
        context = with_certificate(Terms(), keys, pem_trust_store(AUTHORITY.pem))
    else:
        context = ssl.create_default_context(cadata=AUTHORITY.pem)
    if version is not None:
        context.maximum_version = version
    return context


@asynccontextmanager
async def dial_tls(
    cluster: FakeCluster, context: ssl.SSLContext | None = None
) -> AsyncIterator[trio.SSLStream[trio.SocketStream]]:
    """A connection after its handshake."""
    stream = trio.SSLStream(
        await dial(cluster), context or client_context(), server_hostname="127.0.0.1", https_compatible=True
    )
    try:
        await stream.do_handshake()
        yield stream
    finally:
        await trio.aclose_forcefully(stream)


async def read_frame(stream: trio.SSLStream[trio.SocketStream]) -> bytes:
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack_from(">i", data)[0]:
        wanted = 4 - len(data) if len(data) < 4 else 4 + struct.unpack_from(">i", data)[0] - len(data)
        piece = await stream.receive_some(wanted)
        assert piece, "closed"
        data += bytes(piece)
    return data[4:]


async def correlation_ids(stream: trio.SSLStream[trio.SocketStream], count: int) -> list[int]:
    return [struct.unpack_from(">i", await read_frame(stream))[0] for _ in range(count)]


def install_beat(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_connection_answers_requests(install: Install, version: ssl.TLSVersion) -> None:
    seen: list[str] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        assert ctx.connection.tls is not None
        seen.append(f"{ctx.connection.tls.version()} {ctx.connection.principal}")
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        async with dial_tls(cluster, client_context(version=version)) as stream:
            for number in range(3):
                await stream.send_all(beat(correlation_id=number))
                assert await correlation_ids(stream, 1) == [number]
            # what comes in one record has no event of its own for each request
            await stream.send_all(b"".join(beat(correlation_id=number) for number in range(100)))
            assert await correlation_ids(stream, 100) == list(range(100))

    run(cluster, scenario)
    assert set(seen) == {f"{version.name.replace('_', '.').replace('v1.', 'v1.')} User:ANONYMOUS"}


def test_a_frame_may_come_byte_by_byte(install: Install) -> None:
    install_beat(install)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        async with dial_tls(cluster) as stream:
            for byte in beat():
                await stream.send_all(bytes([byte]))
                await trio.lowlevel.checkpoint()
            await read_frame(stream)

    run(cluster, scenario)


class Held(Parked):
    """Waits until a test releases it."""

    released = False

    def resume(self) -> HeartbeatResponse | None:
        return HeartbeatResponse() if self.released else None

    def abandon(self) -> None:
        pass

    def release(self) -> None:
        self.released = True
        self.wake()


def test_a_request_behind_a_parked_one_is_not_forgotten(install: Install) -> None:
    waiting: list[Held] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse | Held:
        if request.group_id != "parked":
            return HeartbeatResponse()
        waiting.append(Held(cluster.clock.now_ms() + 3_600_000))
        return waiting[0]

    install(HeartbeatRequest, handler)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        async with dial_tls(cluster) as stream:
            await stream.send_all(beat("parked", 1) + beat("b", 2))
            while not waiting:
                await trio.lowlevel.checkpoint()
            await wait_all_tasks_blocked()
            waiting[0].release()
            assert await correlation_ids(stream, 2) == [1, 2]
            await stream.send_all(beat("c", 3))
            assert await correlation_ids(stream, 1) == [3]

    run(cluster, scenario)


@pytest.mark.long
def test_large_answers_of_many_parts_arrive_whole(install: Install) -> None:
    sizes = [1, 100, 4095, 4096, 5000, 16_383, 16_384, 16_385, 300_000, 700] * 40
    parts = [bytes([number % 256]) * size for number, size in enumerate(sizes)]

    def handler(ctx: RequestContext, request: FetchRequest) -> FetchResponse:
        partition = PartitionData(partition_index=0, high_watermark=1, records=list(parts))
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])

    install(FetchRequest, handler)
    install_beat(install)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        async with dial_tls(cluster) as stream, dial_tls(cluster) as other:
            await stream.send_all(request_frame(FetchRequest(max_wait_ms=0, min_bytes=0), 12))
            await wait_all_tasks_blocked()  # the socket is full, and others are served
            await other.send_all(beat())
            await read_frame(other)
            answer = await read_frame(stream)
        _, response = response_of(FetchRequest(), 12, answer)
        assert bytes(response.responses[0].partitions[0].records) == b"".join(parts)

    run(cluster, scenario)


def test_tls_connection_takes_large_requests_whole(install: Install) -> None:
    lengths: list[int] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        lengths.append(len(request.member_id))
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        async with dial_tls(cluster) as stream:
            requests = [HeartbeatRequest(group_id="g", member_id="m" * 30_000) for _ in range(200)]
            sent = b"".join(request_frame(request, 3, number) for number, request in enumerate(requests))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(stream.send_all, sent)
                assert await correlation_ids(stream, 200) == list(range(200))

    run(cluster, scenario)
    assert lengths == [30_000] * 200


def test_a_client_with_a_certificate_is_its_subject(install: Install) -> None:
    seen: list[str] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        seen.append(str(ctx.connection.principal))
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    for given in (
        terms(client_auth="required"),
        terms(client_auth="requested", principal_mapping_rules="RULE:^CN=(.*?),.*$/$1/U"),
    ):
        cluster = FakeCluster(tls=given)

        async def scenario(server: Server, cluster: FakeCluster = cluster) -> None:
            async with dial_tls(cluster, client_context(ALICE)) as stream:
                await stream.send_all(beat())
                await read_frame(stream)

        run(cluster, scenario)
    assert seen == ["User:CN=alice,O=Odradek\\, Inc.", "User:ALICE"]


@pytest.mark.parametrize(
    ("certificate", "words", "alerts"),
    [
        (
            None,
            "peer did not return a certificate",
            {"TLSV13_ALERT_CERTIFICATE_REQUIRED", "SSLV3_ALERT_HANDSHAKE_FAILURE"},
        ),
        (
            issued_by(new_authority("Foreign CA"), "mallory"),
            "the client's certificate is not good: self-signed",
            {"TLSV1_ALERT_UNKNOWN_CA"},
        ),
        (
            issued_by(AUTHORITY, "late", days=(-9, -1)),
            "the client's certificate is not good: certificate has expired",
            {"SSLV3_ALERT_CERTIFICATE_EXPIRED"},
        ),
    ],
    ids=["none", "foreign", "expired"],
)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_bad_certificates_are_refused_with_an_alert(
    certificate: Certificate | None, words: str, alerts: set[str], version: ssl.TLSVersion
) -> None:
    cluster = FakeCluster(tls=terms(client_auth="required"))

    async def scenario(server: Server) -> None:
        with pytest.raises(trio.BrokenResourceError) as caught:
            async with dial_tls(cluster, client_context(certificate, version)) as stream:
                await stream.receive_some(1)  # with TLS 1.3 the client hears of it behind its handshake
        assert isinstance(caught.value.__cause__, ssl.SSLError)
        assert caught.value.__cause__.reason in alerts

    run(cluster, scenario)
    (denial,) = cluster.denials.entries
    assert words in denial.reason
    assert (denial.operation, denial.host, denial.listener) == ("LOGIN", "127.0.0.1", "SSL")


def test_a_certificate_that_no_rule_takes_is_refused() -> None:
    cluster = FakeCluster(tls=terms(client_auth="required", principal_mapping_rules="RULE:^CN=bob$/bob/"))

    async def scenario(server: Server) -> None:
        async with dial_tls(cluster, client_context(ALICE)) as stream:
            assert await stream.receive_some(1) == b""

    run(cluster, scenario)
    assert "No rules apply to CN=alice" in cluster.denials.entries[0].reason


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (beat(), "a client that speaks plain text connected to listener SSL"),
        (b"GET / HTTP/1.1\r\n\r\n", "a client that speaks plain text connected to listener SSL"),
        (b"\x16garbage, garbage, garbage", "TLS handshake failed"),
        (b"\x16\x03\x01\x00\x10" + bytes(16), "TLS handshake failed"),
    ],
)
def test_whoever_does_not_speak_tls_is_named_and_cut(
    install: Install, sent: bytes, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    install_beat(install)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as odd, dial_tls(cluster) as good:
            await odd.send_all(sent)
            answer = b""
            while piece := await odd_piece(odd):
                answer += piece
            assert answer[:1] == (b"" if b"garbage" in sent else b"\x15")  # OpenSSL tells nothing about a wrong version
            if "plain text" in words:
                assert answer.hex() == "15030300020250"  # what Kafka's JDK says
            await good.send_all(beat())
            await read_frame(good)

    run(cluster, scenario)
    (denial,) = cluster.denials.entries
    assert words in denial.reason
    assert words in caplog.text


async def odd_piece(stream: trio.SocketStream) -> bytes:
    """What comes next, b"" at the end, however it ends."""
    try:
        return bytes(await stream.receive_some(100))
    except trio.BrokenResourceError:
        return b""


def test_a_tls_client_on_a_plain_listener_is_named_and_cut(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        stream = trio.SSLStream(await dial(cluster), client_context(), server_hostname="127.0.0.1")
        with pytest.raises(trio.BrokenResourceError):
            await stream.do_handshake()
        await trio.aclose_forcefully(stream)

    run(cluster, scenario)
    (denial,) = cluster.denials.entries
    assert denial.reason == "a client that speaks TLS connected to a listener that does not"
    assert denial.reason in caplog.text


def test_new_connections_see_a_new_certificate_and_old_ones_go_on(install: Install) -> None:
    install_beat(install)
    config = BrokerConfig(
        {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": BROKER.key_pem,
            "ssl.keystore.certificate.chain": BROKER.chain_pem,
        }
    )
    tls = ListenerTls(config.for_listener("SSL"), SecurityProtocol.SSL)
    cluster = FakeCluster(tls=tls)
    renewed = issued_by(AUTHORITY, "broker", hosts=["127.0.0.1"])

    def serial(stream: trio.SSLStream[trio.SocketStream]) -> bytes:
        certificate = stream.getpeercert(True)
        assert isinstance(certificate, bytes)
        return certificate

    async def scenario(server: Server) -> None:
        async with dial_tls(cluster) as old:
            proposed = {
                "listener.name.ssl.ssl.keystore.key": renewed.key_pem,
                "listener.name.ssl.ssl.keystore.certificate.chain": renewed.chain_pem,
            }
            assert tls.apply(config.for_listener("SSL", 1, proposed))
            async with dial_tls(cluster) as new:
                assert (serial(old), serial(new)) == (BROKER.der, renewed.der)
                for stream in (old, new):
                    await stream.send_all(beat())
                    await read_frame(stream)

    run(cluster, scenario)


def test_handshakes_have_until_connections_are_idle_too_long(install: Install) -> None:
    install_beat(install)
    cluster = FakeCluster(tls=terms(), max_idle_ms=600_000)

    async def scenario(server: Server) -> None:
        hello = ssl.MemoryBIO()
        end = client_context().wrap_bio(ssl.MemoryBIO(), hello, server_hostname="127.0.0.1")
        with pytest.raises(ssl.SSLWantReadError):
            end.do_handshake()
        greeting = hello.read()
        async with await dial(cluster) as silent, await dial(cluster) as slow, await dial(cluster) as waiting:
            await slow.send_all(greeting[:50])
            await waiting.send_all(greeting)
            assert await waiting.receive_some(1000)  # the server's answer, to which nothing follows
            await wait_all_tasks_blocked()
            assert {each.state for each in server.connections} == {ConnectionState.HANDSHAKING}
            cluster.clock.advance(minutes=9)
            await slow.send_all(greeting[50:60])  # a byte now and then does not help
            await wait_all_tasks_blocked()
            assert len(server.connections) == 3
            cluster.clock.advance(minutes=7)
            for stream in (silent, slow, waiting):
                while await odd_piece(stream):
                    pass
        await wait_all_tasks_blocked()
        assert server.connections == []

    async def main() -> None:
        async with serving(cluster) as server:
            await scenario(server)

    trio.run(main, clock=cluster.clock)


@pytest.mark.long
def test_of_too_many_handshakes_the_oldest_are_cut(install: Install) -> None:
    install_beat(install)
    cluster = FakeCluster(tls=terms())
    half_open: list[socket.socket] = []

    async def scenario(server: Server) -> None:
        for _ in range(1100):
            sock = socket.create_connection(("127.0.0.1", cluster.nodes[1].port))
            half_open.append(sock)
            sock.sendall(b"\x16\x03\x01")
            await trio.lowlevel.checkpoint()
        while len(cluster.denials.entries) < 100:
            await trio.lowlevel.checkpoint()
        await wait_all_tasks_blocked()
        assert len(server.connections) == 1000
        assert "more than 1000 handshakes" in cluster.denials.entries[0].reason
        assert half_open[0].recv(1) == b""
        async with dial_tls(cluster) as stream:  # whoever is quick gets through
            await stream.send_all(beat())
            await read_frame(stream)

    try:
        run(cluster, scenario)
    finally:
        for sock in half_open:
            sock.close()


@pytest.mark.parametrize("how", ["close_notify", "end of stream", "reset"])
def test_a_client_that_goes_is_noticed_while_its_request_waits(install: Install, how: str) -> None:
    async def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        await trio.sleep_forever()
        raise AssertionError

    install(HeartbeatRequest, handler)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        context = client_context()
        raw = socket.create_connection(("127.0.0.1", cluster.nodes[1].port))
        sock = await trio.to_thread.run_sync(lambda: context.wrap_socket(raw, server_hostname="127.0.0.1"))
        sock.sendall(beat())
        await wait_all_tasks_blocked()
        while server.connections[0].state is not ConnectionState.WAITING:
            await trio.lowlevel.checkpoint()
        sock.setblocking(False)
        if how == "close_notify":
            with pytest.raises(ssl.SSLWantReadError):
                sock.unwrap()
        if how == "reset":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
        # Whoever has closed its sending side may wait for the answer, until the connection has been idle for too long.
        cluster.clock.advance(minutes=2 if how == "reset" else 11)
        while server.connections:
            await trio.lowlevel.checkpoint()

    async def main() -> None:
        with trio.fail_after(3600):
            async with serving(cluster) as server:
                await scenario(server)

    trio.run(main, clock=cluster.clock)


def test_a_client_that_says_good_bye_is_answered_with_the_end(install: Install) -> None:
    install_beat(install)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        stream = trio.SSLStream(await dial(cluster), client_context(), server_hostname="127.0.0.1")
        await stream.send_all(beat())
        await read_frame(stream)
        raw, _ = await stream.unwrap()  # waits for the server's close_notify
        await raw.aclose()
        while server.connections:
            await trio.lowlevel.checkpoint()

    run(cluster, scenario)


def test_a_good_bye_that_comes_with_a_request_ends_the_connection(install: Install) -> None:
    install_beat(install)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        raw = await dial(cluster)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = client_context().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                await raw.send_all(outgoing.read())
                incoming.write(await raw.receive_some(10_000))
        await raw.send_all(outgoing.read())
        await wait_all_tasks_blocked()
        tls.write(beat())
        with pytest.raises(ssl.SSLWantReadError):
            tls.unwrap()
        await raw.send_all(outgoing.read())  # one segment, and no end of the stream behind it
        while await raw.receive_some(10_000):
            pass
        await raw.aclose()

    run(cluster, scenario)


def _s_client(cluster: FakeCluster, version: str) -> list[str]:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("needs the openssl program")
    return [program, "s_client", "-connect", f"127.0.0.1:{cluster.nodes[1].port}", f"-{version}"]


def test_tls_connection_refuses_renegotiation(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "odradek.broker.net")
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        with subprocess.Popen(  # noqa: ASYNC220 (it starts at once, and is talked to in a thread)
            _s_client(cluster, "tls1_2"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as program:
            assert program.stdin is not None
            program.stdin.write(b"R\n")
            program.stdin.flush()
            while "Renegotiation is not supported" not in caplog.text:
                await trio.lowlevel.checkpoint()
            program.kill()
        while server.connections:
            await trio.lowlevel.checkpoint()

    run(cluster, scenario)


def test_new_keys_of_tls_1_3_are_taken(install: Install) -> None:
    served = trio.Event()

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        served.set()
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster(tls=terms())

    def renew_keys(program: subprocess.Popen[bytes]) -> None:
        assert program.stdin is not None
        assert program.stderr is not None
        for _ in range(3):
            program.stdin.write(b"K\n")  # the server has to change its keys too
            program.stdin.flush()
            while b"KEYUPDATE" not in program.stderr.readline():
                pass
        program.stdin.write(beat())
        program.stdin.flush()

    async def scenario(server: Server) -> None:
        with subprocess.Popen(  # noqa: ASYNC220 (it starts at once, and is talked to in a thread)
            _s_client(cluster, "tls1_3"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as program:
            await trio.to_thread.run_sync(renew_keys, program)
            await served.wait()
            program.kill()
        while server.connections:
            await trio.lowlevel.checkpoint()

    run(cluster, scenario)


def test_bytes_that_are_changed_on_the_way_end_the_connection(install: Install) -> None:
    install_beat(install)
    cluster = FakeCluster(tls=terms())

    async def scenario(server: Server) -> None:
        raw = await dial(cluster)
        stream = trio.SSLStream(raw, client_context(), server_hostname="127.0.0.1")
        await stream.do_handshake()
        await stream.send_all(beat())
        await read_frame(stream)
        await raw.send_all(b"\x17\x03\x03\x00\x20" + bytes(32))
        while await odd_piece(raw):
            pass
        assert await is_closed(raw)
        await trio.aclose_forcefully(stream)

    run(cluster, scenario)
