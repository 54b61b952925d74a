"""Keys from files and servers: when they are read, and what happens when they cannot be."""

from __future__ import annotations

import base64
import io
import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from joserfc.jwk import RSAKey

from odradek.broker.clock import BrokerClock
from odradek.broker.config.definition import ConfigError
from odradek.broker.security.sasl import jwks
from odradek.broker.security.sasl.jwks import FileKeys, HttpKeys, Pace, key_source, parse_jwks
from tests.fakes.clocks import clock_at

KEY = RSAKey.generate_key(2048)


def key_set(*kids: str) -> bytes:
    keys = [dict(KEY.as_dict(private=False)) | {"kid": kid} for kid in kids]
    return json.dumps({"keys": keys}).encode()


def kids(source: FileKeys | HttpKeys) -> list[str | None]:
    if isinstance(source, FileKeys):
        trio.run(source.prepare)
    known = source.keys()
    return [key.kid for key in known]


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# --- sets -------------------------------------------------------------------------------------------------------------


def test_keys_that_cannot_be_used_are_left_out() -> None:
    good = dict(KEY.as_dict(private=False))
    entries = [
        good | {"kid": "good", "use": "sig", "alg": "RS256", "x5c": ["?"]},
        good | {"kid": 5},
        {"kty": "RSA", "n": b64(b"\xff" * 128), "e": "AQAB"},
        {"kty": "oct", "k": b64(b"x" * 31)},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "RSA"},
        {"kty": "new"},
        "no object",
    ]
    found = parse_jwks(json.dumps({"keys": entries}).encode())
    assert [(key.kid, key.use, key.alg) for key in found] == [("good", "sig", "RS256")]
    assert str(good["n"]) not in repr(found)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"keys":{}}', b"\xff", b'{"keys":NaN}'])
def test_what_is_no_set_of_keys(data: bytes) -> None:
    with pytest.raises(ConfigError, match="no JWKS"):
        parse_jwks(data)


# --- files ------------------------------------------------------------------------------------------------------------


def write(path: Path, data: bytes, age: int) -> None:
    path.write_bytes(data)
    os.utime(path, (age, age))


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    write(path, key_set("a"), 1)
    source = FileKeys(path)
    assert kids(source) == ["a"]
    write(path, key_set("b"), 2)
    assert kids(source) == ["b"]


def test_a_file_that_went_bad_leaves_the_old_keys(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "jwks.json"
    write(path, key_set("a"), 1)
    source = FileKeys(path)
    write(path, b"{", 2)
    assert kids(source) == ["a"]
    assert "no JWKS" in caplog.text
    path.unlink()
    assert kids(source) == ["a"]
    assert "cannot be read" in caplog.text
    write(path, key_set("b"), 3)
    assert kids(source) == ["b"]


@pytest.mark.parametrize("name", ["file", "server"])
def test_keys_are_made_in_a_thread(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "jwks.json"
    write(path, key_set("a"), 1)
    clock = clock_at(0)
    source = FileKeys(path) if name == "file" else HttpKeys("http://a", path.read_bytes, Pace(), clock)
    write(path, key_set("b"), 2)
    threads: list[threading.Thread] = []

    def parse(data: bytes) -> list[jwks.Jwk]:
        threads.append(threading.current_thread())
        return parse_jwks(data)

    monkeypatch.setattr(jwks, "parse_jwks", parse)
    trio.run(source.prepare, clock=clock)
    assert [key.kid for key in source.keys()] == ["b"]  # noqa: SIM118
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


# --- servers ----------------------------------------------------------------------------------------------------------


class Server:
    """What a fetch gets: bytes, or an error. Counts the fetches."""

    def __init__(self, *answers: bytes | Exception) -> None:
        self.answers = list(answers)
        self.fetches = 0

    def __call__(self) -> bytes:
        self.fetches += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def run(test: Callable[[BrokerClock], Any]) -> None:
    """Run an async test on a broker's clock that stands still."""
    clock = clock_at(1_700_000_000_000)
    trio.run(test, clock, clock=clock)


def test_keys_are_fetched_when_they_are_needed_and_when_they_are_old() -> None:
    async def test(clock: BrokerClock) -> None:
        server = Server(key_set("a"), key_set("b"))
        source = HttpKeys("http://keys", server, Pace(refresh_ms=60_000), clock)
        assert server.fetches == 0
        await source.prepare()
        await source.prepare()
        assert (kids(source), server.fetches) == (["a"], 1)
        clock.advance(59.999)
        await source.prepare()
        assert server.fetches == 1
        clock.advance(0.001)
        await source.prepare()
        assert (kids(source), server.fetches) == (["b"], 2)

    run(test)


def test_a_failed_fetch_is_tried_again_after_growing_pauses(caplog: pytest.LogCaptureFixture) -> None:
    async def test(clock: BrokerClock) -> None:
        server = Server(key_set("a"), OSError("down"))
        source = HttpKeys("http://keys", server, Pace(1000, retry_ms=100, retry_max_ms=250), clock)
        await source.prepare()
        clock.advance(1)
        for pause_s in (0.1, 0.2, 0.25, 0.25):
            before = server.fetches
            await source.prepare()
            clock.advance(pause_s - 0.001)
            await source.prepare()
            assert server.fetches == before + 1
            clock.advance(0.001)
        assert kids(source) == ["a"]
        server.answers = [key_set("b")]
        await source.prepare()
        assert kids(source) == ["b"]

    run(test)
    assert "http://keys could not be fetched: down" in caplog.text


def test_an_unknown_key_id_fetches_once_a_minute() -> None:
    async def test(clock: BrokerClock) -> None:
        server = Server(key_set("a"))
        source = HttpKeys("http://keys", server, Pace(), clock)
        await source.prepare()
        await source.missing("x")
        await source.missing("x")
        assert server.fetches == 2
        await source.missing("y")
        await source.missing("k" * 1001)
        assert server.fetches == 3
        clock.advance(60)
        await source.missing("x")
        assert server.fetches == 4
        for number in range(20):
            await source.missing(f"k{number}")
        await source.missing("x")  # forgotten: sixteen others have come since
        assert server.fetches == 25

    run(test)


def test_a_key_id_that_was_found_may_be_missed_again() -> None:
    async def test(clock: BrokerClock) -> None:
        server = Server(key_set("a"), key_set("a", "x"), key_set("a"))
        source = HttpKeys("http://keys", server, Pace(refresh_ms=1000), clock)
        await source.prepare()
        await source.missing("x")
        assert kids(source) == ["a", "x"]
        clock.advance(1)
        await source.prepare()
        assert kids(source) == ["a"]
        await source.missing("x")
        assert server.fetches == 4

    run(test)


def test_while_keys_are_fetched_others_go_on_with_those_that_are_known() -> None:
    async def test(clock: BrokerClock) -> None:
        go = threading.Event()
        fetches = 0

        def slow() -> bytes:
            nonlocal fetches
            fetches += 1
            if fetches > 1:
                go.wait(30)
            return key_set(str(fetches))

        source = HttpKeys("http://keys", slow, Pace(refresh_ms=1000), clock)
        await source.prepare()
        clock.advance(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(source.prepare)
            await trio.testing.wait_all_tasks_blocked()
            await source.prepare()
            await source.missing("x")
            assert kids(source) == ["1"]
            go.set()
        assert kids(source) == ["2"]

    run(test)


def test_the_first_log_ins_wait_for_one_fetch() -> None:
    async def test(clock: BrokerClock) -> None:
        server = Server(key_set("a"))
        source = HttpKeys("http://keys", server, Pace(), clock)
        seen: list[list[str | None]] = []

        async def log_in() -> None:
            await source.prepare()
            seen.append(kids(source))

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(log_in)
        assert (seen, server.fetches) == ([["a"]] * 5, 1)

    run(test)


def test_a_server_that_does_not_answer_is_left_after_a_while(caplog: pytest.LogCaptureFixture) -> None:
    go = threading.Event()

    def hanging() -> bytes:
        go.wait(30)
        return b""

    async def test(clock: BrokerClock) -> None:
        source = HttpKeys("http://keys", hanging, Pace(), clock)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(source.prepare)
            await trio.testing.wait_all_tasks_blocked()
            clock.advance(20)
        assert kids(source) == []

    run(test)
    go.set()
    assert "no answer within 20 s" in caplog.text


@pytest.fixture
def http() -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    """The address of a server, and what it answers: (status, body), the last one for ever."""
    answers: list[tuple[int, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            if status == 302:
                self.send_header("Location", body.decode())
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/keys", answers
        server.shutdown()
        thread.join()


def test_jwks_are_fetched_from_a_server(
    http: tuple[str, list[tuple[int, bytes]]], caplog: pytest.LogCaptureFixture
) -> None:
    url, answers = http
    answers += [(500, b"no"), (200, b"{"), (200, key_set("a"))]

    async def test(clock: BrokerClock) -> None:
        def unused() -> Any:
            raise AssertionError("http needs no TLS")

        source = key_source(url, Pace(), clock, unused)
        assert isinstance(source, HttpKeys)
        for _ in range(3):
            await source.prepare()
            clock.advance(1)
        assert kids(source) == ["a"]

    run(test)
    assert "HTTP Error 500" in caplog.text
    assert "no JWKS" in caplog.text


# --- servers that mean ill --------------------------------------------------------------------------------------------


def fetched(url: str) -> list[str | None]:
    """The keys that one log-in finds at an address."""
    found: list[str | None] = []

    async def test(clock: BrokerClock) -> None:
        source = key_source(url, Pace(), clock, lambda: None)  # type: ignore[arg-type, return-value]
        assert isinstance(source, HttpKeys)
        await source.prepare()
        found.extend(kids(source))

    run(test)
    return found


def test_a_redirect_leads_to_no_file(
    http: tuple[str, list[tuple[int, bytes]]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "keys").write_bytes(key_set("planted"))
    url, answers = http
    for location in ((tmp_path / "keys").as_uri(), "ftp://127.0.0.1/keys", "https://127.0.0.1:1/keys"):
        answers[:] = [(302, location.encode()), (200, key_set("unexpected"))]
        assert fetched(url) == []
    assert caplog.text.count("could not be fetched: HTTP Error 302") == 3
    answers[:] = [(302, url.encode()), (200, key_set("a"))]
    assert fetched(url) == ["a"]


def test_a_set_that_does_not_end_is_left(
    http: tuple[str, list[tuple[int, bytes]]], caplog: pytest.LogCaptureFixture
) -> None:
    url, answers = http
    answers[:] = [(200, b" " * 5_000_000)]
    assert fetched(url) == []
    assert "more than 4194304 bytes" in caplog.text


def test_a_thread_that_gets_a_byte_now_and_then_ends_when_its_fetch_is_given_up(
    http: tuple[str, list[tuple[int, bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, answers = http
    answers[:] = [(200, key_set("a"))]

    async def test(clock: BrokerClock) -> None:
        source = key_source(url, Pace(), clock, lambda: None)  # type: ignore[arg-type, return-value]
        assert isinstance(source, HttpKeys)
        with monkeypatch.context() as patched:
            patched.setattr("urllib.request.OpenerDirector.open", lambda *_, **__: io.BufferedReader(_Dripping()))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(source.prepare)
                await trio.testing.wait_all_tasks_blocked()
                clock.advance(20)
        clock.advance(1)
        await source.prepare()  # waits for the one thread
        assert kids(source) == ["a"]

    run(test)


class _Dripping(io.RawIOBase):
    """A byte now and then, for ever."""

    def readable(self) -> bool:
        return True

    def readinto(self, space: Any) -> int:
        space[0] = 32
        return 1


def test_a_server_that_hangs_takes_one_thread_that_nobody_else_needs() -> None:
    go, started = threading.Event(), threading.Event()
    calls: list[int] = []

    def hanging() -> bytes:
        calls.append(1)
        started.set()
        go.wait(30)
        return b""

    async def test(clock: BrokerClock) -> None:
        source = HttpKeys("http://keys", hanging, Pace(retry_ms=1, retry_max_ms=1), clock)
        for _ in range(5):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(source.prepare)
                await trio.testing.wait_all_tasks_blocked()
                clock.advance(20)
            clock.advance(1)
        await trio.to_thread.run_sync(started.wait)
        assert trio.to_thread.current_default_thread_limiter().borrowed_tokens == 0
        assert len(calls) == 1
        go.set()

    run(test)


def test_a_modulus_that_costs_seconds_is_left_out() -> None:
    huge = dict(KEY.as_dict(private=False)) | {"n": b64(b"\xff" * 4096)}
    assert parse_jwks(json.dumps({"keys": [huge]}).encode()) == []
