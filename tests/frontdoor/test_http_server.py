"""HTTP/1.1 on a connection: requests, answers, and clients that hang up or break the rules."""

from __future__ import annotations

import gc
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest
import trio
import trio.testing

from odradek.http_access import HttpError, HttpRequest
from odradek.http_server import Application, ClientGoneError, HttpConnection, HttpResponse, Routes

Client = Callable[[trio.SocketStream], Awaitable[None]]


def talk(application: Application, client: Client, clock: trio.abc.Clock | None = None) -> None:
    """Let a client and a connection of the server talk, until the connection is served."""

    async def main() -> None:
        ends = [trio.SocketStream(each) for each in trio.socket.socketpair()]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(HttpConnection(ends[0], application, logging.getLogger("odradek.test")).serve)
            async with ends[1]:
                await client(ends[1])

    trio.run(main, clock=clock)


def answers(application: Application, sent: bytes) -> bytes:
    """All that is answered, without the lines of dates, until the server hangs up."""
    received = bytearray()

    async def client(stream: trio.SocketStream) -> None:
        await stream.send_all(sent)
        async for piece in stream:
            received.extend(piece)

    talk(application, client)
    return b"\r\n".join(each for each in received.split(b"\r\n") if not each.startswith(b"Date: "))


def asked(path: str, *, method: str = "GET", headers: str = "", body: str = "", close: bool = True) -> bytes:
    end = "Connection: close\r\n" if close else ""
    return f"{method} {path} HTTP/1.1\r\nHost: h\r\n{end}{headers}\r\n{body}".encode()


async def echo(request: HttpRequest) -> HttpResponse:
    body = await request.body(10)
    told = f"{request.method} {request.path} {request.query} {request.headers.get('x')} {request.content_type} "
    return HttpResponse(told.encode() + body, media_type="text/plain")


async def pieces(request: HttpRequest) -> HttpResponse:
    async def two() -> AsyncGenerator[str, None]:
        yield "one "
        yield "two"

    return HttpResponse(two())


def test_a_request_is_told_to_the_application() -> None:
    headers = "X: 1\r\nx: 2\r\nContent-Type: Text/Plain; charset=utf-8\r\nContent-Length: 4\r\n"
    found = answers(echo, asked("/a%2Fb?n=1&n=2&m=", method="POST", headers=headers, body="body"))
    told = b"POST /a%2Fb [('n', '1'), ('n', '2'), ('m', '')] 1, 2 text/plain body"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    assert found == head % len(told) + told


async def unread(request: HttpRequest) -> HttpResponse:
    """Answers without a look at the body."""
    return HttpResponse(request.target.encode())


@pytest.mark.parametrize("application", [echo, unread])
def test_requests_come_one_after_the_other_on_a_connection(application: Application) -> None:
    found = answers(application, asked("/1", close=False) + asked("/2", close=False) + asked("/3"))
    assert found.index(b"/1") < found.index(b"/2") < found.index(b"/3")
    assert found.count(b"Connection: close") == 1


def test_a_client_that_offers_http_2_keeps_its_connection() -> None:
    offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n"
    found = answers(unread, asked("/1", headers=offer, close=False) + asked("/2"))
    assert found.index(b"/1") < found.index(b"/2")
    assert found.count(b"Connection: close") == 1


def test_a_body_that_nobody_asked_for_ends_the_connection() -> None:
    sent = asked("/1", method="PUT", headers="Content-Length: 4\r\n", body="body", close=False)
    head, _, body = answers(unread, sent).partition(b"\r\n\r\n")
    assert head.endswith(b"Connection: close")
    assert body == b"/1"


def test_an_answer_has_a_date() -> None:
    received = bytearray()

    async def client(stream: trio.SocketStream) -> None:
        await stream.send_all(asked("/"))
        async for piece in stream:
            received.extend(piece)

    talk(echo, client)
    assert b" GMT\r\n" in received


def test_http_answer_204_has_no_content() -> None:
    async def nothing(request: HttpRequest) -> HttpResponse:
        return HttpResponse(status=204)

    assert answers(nothing, asked("/")) == b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("application", [echo, pieces])
def test_head_has_the_head_of_get_alone(application: Application) -> None:
    found = answers(application, asked("/", method="HEAD"))
    assert found.startswith(b"HTTP/1.1 200 OK\r")
    assert found.partition(b"\r\n\r\n")[2] == b""


def test_a_stream_comes_in_pieces() -> None:
    found = answers(pieces, asked("/"))
    assert found.endswith(b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: h\r\nLong: " + b"x" * 100_000, b"431"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", b"400"),
    ],
)
def test_http_server_answers_and_cuts_what_is_no_request(sent: bytes, status: bytes) -> None:
    assert answers(echo, sent).startswith(b"HTTP/1.1 %s " % status)


def test_a_client_that_waits_for_leave_to_send_its_body_gets_it() -> None:
    received = []

    async def client(stream: trio.SocketStream) -> None:
        headers = "Expect: 100-continue\r\nContent-Length: 4\r\n"
        await stream.send_all(asked("/", method="PUT", headers=headers))
        received.append(await stream.receive_some())
        await stream.send_all(b"body")
        received.append(await stream.receive_some())

    talk(echo, client)
    assert received[0] == b"HTTP/1.1 100 \r\n\r\n"
    assert received[1].startswith(b"HTTP/1.1 200 OK\r")


async def refusing(request: HttpRequest) -> HttpResponse:
    """Tells what was wrong with the body."""
    try:
        await request.body(10)
    except HttpError as error:
        return HttpResponse(str(error).encode(), error.status)
    raise AssertionError("the body was taken")


def test_a_body_that_is_too_large_is_refused_and_its_sender_gets_to_the_answer() -> None:
    large = asked("/", method="PUT", headers="Content-Length: 10000000\r\n", body="x" * 10_000_000, close=False)
    head, _, body = answers(refusing, large).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    assert head.endswith(b"Connection: close")
    assert body == b"the body is larger than 10 bytes"


def test_a_body_that_breaks_the_rules_is_refused() -> None:
    broken = asked("/", method="PUT", headers="Transfer-Encoding: chunked\r\n", body="no size\r\n", close=False)
    assert answers(refusing, broken).startswith(b"HTTP/1.1 400 ")


def test_a_client_that_goes_before_its_body_is_complete_is_told_to_the_application() -> None:
    seen = []

    async def application(request: HttpRequest) -> HttpResponse:
        try:
            return await echo(request)
        except ClientGoneError:
            seen.append("gone")
            raise

    async def client(stream: trio.SocketStream) -> None:
        await stream.send_all(asked("/", method="PUT", headers="Content-Length: 4\r\n", body="bo"))

    talk(application, client)
    assert seen == ["gone"]


class Counted:
    """A stream that never ends by itself."""

    def __init__(self) -> None:
        self.state = "not begun"
        self.ended = 0

    async def pieces(self, *, quiet: bool) -> AsyncGenerator[str, None]:
        self.state = "begun"
        try:
            while True:
                yield "piece"
                if quiet:
                    await trio.sleep_forever()
        finally:
            self.state = "closed"

    async def end(self) -> None:
        await trio.lowlevel.checkpoint()
        self.ended += 1


@pytest.mark.parametrize("quiet", [True, False])
def test_a_reader_that_hangs_up_ends_the_stream(quiet: bool) -> None:
    counted = Counted()

    async def application(request: HttpRequest) -> HttpResponse:
        return HttpResponse(counted.pieces(quiet=quiet), end=counted.end)

    async def client(stream: trio.SocketStream) -> None:
        await stream.send_all(asked("/"))
        await stream.receive_some()

    talk(application, client)
    gc.collect()  # a generator that is left to the collector is warned of, which fails this test
    assert (counted.state, counted.ended) == ("closed", 1)


def test_a_reader_of_the_head_alone_ends_the_stream() -> None:
    counted = Counted()

    async def application(request: HttpRequest) -> HttpResponse:
        return HttpResponse(counted.pieces(quiet=True), end=counted.end)

    answers(application, asked("/", method="HEAD"))
    gc.collect()
    assert (counted.state, counted.ended) == ("not begun", 1)


def test_a_bug_ends_its_connection_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def application(request: HttpRequest) -> HttpResponse:
        raise ValueError("a bug")

    with caplog.at_level(logging.ERROR, "odradek.test"):
        assert answers(application, asked("/")) == b""
    assert "a bug" in caplog.text


@pytest.mark.parametrize("said", [b"", b"GET / HT", asked("/", close=False)])
def test_a_client_that_says_no_more_is_cut_after_a_while(said: bytes) -> None:
    clock = trio.testing.MockClock(autojump_threshold=0)

    async def client(stream: trio.SocketStream) -> None:
        await stream.send_all(said)
        async for _ in stream:
            pass
        assert clock.current_time() == 30

    talk(echo, client, clock)


def test_http_requests_find_their_route() -> None:
    routes = Routes(
        [("GET", "/", 1), ("GET", "/a/{name}", 2), ("PUT", "/a/{name}", 3), ("GET", "/a/{name}/b/{other}", 4)]
    )
    assert routes.find("GET", "/") == (1, {})
    assert routes.find("GET", "/a/x%2Fy") == (2, {"name": "x/y"})
    assert routes.find("HEAD", "/a/x/") == (2, {"name": "x"})
    assert routes.find("PUT", "/a/%C3%A4") == (3, {"name": "ä"})
    assert routes.find("GET", "/a//b/2") == (4, {"name": "", "other": "2"})
    with pytest.raises(HttpError, match="there is no /a") as missing:
        routes.find("GET", "/a")
    assert (missing.value.status, missing.value.headers) == (404, {})
    with pytest.raises(HttpError, match="/a/x takes GET, HEAD, PUT, not DELETE") as other:
        routes.find("DELETE", "/a/x")
    assert (other.value.status, other.value.headers) == (405, {"Allow": "GET, HEAD, PUT"})


def test_an_answer_that_waits_ends_with_its_client() -> None:
    ended: list[str] = []

    async def waits(request: HttpRequest) -> HttpResponse:
        async def wait() -> None:
            try:
                await trio.sleep_forever()
            finally:
                ended.append("cancelled")

        try:
            await request.attended(wait)
        except ClientGoneError:
            ended.append("gone")
            raise
        raise AssertionError

    async def client(stream: trio.SocketStream) -> None:
        await stream.send_all(asked("/"))
        await trio.testing.wait_all_tasks_blocked()
        assert ended == []

    talk(waits, client)
    assert ended == ["cancelled", "gone"]


def test_what_an_attended_function_gives_or_raises_is_as_without_attention() -> None:
    async def result() -> bytes:
        return b"result"

    async def failure() -> bytes:
        raise HttpError(418, "why")

    async def both(request: HttpRequest) -> HttpResponse:
        with pytest.raises(HttpError, match="why"):
            await request.attended(failure)
        return HttpResponse(await request.attended(result))

    found = answers(both, asked("/1", close=False) + asked("/2"))
    assert found.count(b"\r\n\r\nresult") == 2
