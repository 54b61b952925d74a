"""What OpenSSL, Python and the system cost by themselves in the secured rows: loops that do nothing else.

    python -m tests.bench.bench_floors [--seconds 2] [--rounds 5]

Large answers over TLS: CPU time a MB to encrypt records in memory (`ssl.MemoryBIO`), as a TLS listener does, and to
send them too. The receiver reads and does not decrypt. Log-ins: a server in plain Python that accepts, reads two
requests, answers each with bytes made before, and closes. The load program logs in there as it does at a broker.
"""

from __future__ import annotations

import argparse
import multiprocessing
import select
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.brokers import Side, wait_for
from tests.bench.go_program import go_program
from tests.bench.load_program import run_case
from tests.bench.machine import OtherWork, machine
from tests.bench.secured_brokers import LOGIN_LOAD, new_certificate
from tests.conformance.real_kafka import free_ports

_ANSWER = memoryview(bytes(4 << 20))
_AT_ONCE = 512 << 10
_MECHANISM = struct.pack(">hih", 0, 1, 5) + b"PLAIN"
_LOGGED_IN = bytes(4) + b"\1" + bytes(9)
"""The answers behind the correlation id: SaslHandshake v1, and SaslAuthenticate v2 without an error or a limit."""


def shaken_hands(folder: Path) -> tuple[ssl.SSLObject, ssl.MemoryBIO]:
    """A server's end of a TLS connection in memory, and where its bytes come out."""
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    server.load_cert_chain(new_certificate(folder))
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = server.wrap_bio(to_server, to_client, server_side=True)
    theirs = client.wrap_bio(to_client, to_server)
    left = [theirs, ours]
    while left:
        for end in list(left):
            try:
                end.do_handshake()
                left.remove(end)
            except ssl.SSLWantReadError:
                pass
    to_client.read()
    return ours, to_client


def cpu_us_a_mb(folder: Path, seconds: float, take: Callable[[bytes], object]) -> float:
    """CPU time to encrypt answers of 4 MB, and to give what comes out to `take`."""
    tls, out = shaken_hands(folder)
    count, until, began = 0, time.monotonic() + seconds, time.process_time()
    while time.monotonic() < until:
        for piece in range(0, len(_ANSWER), _AT_ONCE):
            tls.write(_ANSWER[piece : piece + _AT_ONCE])
            take(out.read())
        count += 1
    return (time.process_time() - began) / (count * len(_ANSWER) / 1e6) * 1e6


@contextmanager
def reader() -> Iterator[socket.socket]:
    """A socket to a process that reads and forgets."""

    def read() -> None:
        theirs.close()
        space = bytearray(1 << 20)
        while ours.recv_into(space):
            pass

    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as theirs:
        ours, _ = listener.accept()
        process = multiprocessing.get_context("fork").Process(target=read)
        process.start()
        ours.close()
        yield theirs
    process.join()


def answer_log_ins(port: int) -> None:
    """The loop: accept, answer two requests of each connection, close it when its client does."""
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    connections: dict[int, tuple[socket.socket, list[bytes]]] = {}
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == listener.fileno():
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connections[connection.fileno()] = connection, [_LOGGED_IN, _MECHANISM]
                poll.register(connection, select.EPOLLIN)
                continue
            connection, answers = connections[descriptor]
            try:
                request = connection.recv(65536)
            except ConnectionResetError:
                request = b""
            if request and answers:
                answer = request[8:12] + answers.pop()
                connection.send(struct.pack(">i", len(answer)) + answer)
            else:
                del connections[descriptor]
                connection.close()


class LoginLoop(Side):
    """The loop in a process of its own."""

    name = "loop"
    load_options = LOGIN_LOAD

    def __init__(self) -> None:
        (self.port,) = free_ports(1)
        began = time.monotonic()
        self.process = subprocess.Popen([sys.executable, "-m", "tests.bench.bench_floors", "--serve", str(self.port)])
        self.start_seconds = wait_for(self.process, self.port, began, answers=False)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(20)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_floors", description="what nobody can avoid")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", type=int, help="only the loop of log-ins, on this port")
    options = parser.parse_args(arguments)
    if options.serve:
        answer_log_ins(options.serve)
    program = go_program("load")
    other_work = OtherWork()
    print(f"{machine()}, {ssl.OPENSSL_VERSION}; medians of {options.rounds}", flush=True)
    with tempfile.TemporaryDirectory(prefix="odradek-bench-") as name, reader() as theirs:
        for title, take in (("encrypted", len), ("encrypted and sent", theirs.sendall)):
            found = [cpu_us_a_mb(Path(name), options.seconds, take) for _ in range(options.rounds)]
            print(f"{title:<30}{statistics.median(found):>10,.0f} us of CPU a MB", flush=True)
    loop = LoginLoop()
    try:
        logins = [run_case(program, "login-plain", loop, options.seconds, 0.3) for _ in range(options.rounds)]
    finally:
        loop.stop()
    rate, cpu = (
        statistics.median(column) for column in zip(*((m.per_second, m.broker_us) for m in logins), strict=True)
    )
    print(f"{'log-ins by PLAIN':<30}{rate:>10,.0f} a second, {cpu:.0f} us of CPU each", flush=True)
    print(f"other work took {other_work.share():.0%} of the machine", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
