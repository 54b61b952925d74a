"""An application of HTTP in a thread: from its start to its end, and who may ask it."""

from __future__ import annotations

import http.client
from typing import Any
from urllib.parse import urlsplit

import pytest

from odradek.http_server import HttpRequest, HttpResponse
from odradek.http_thread import HttpThread, checked, shows, wrong_host


async def hello(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b"hello")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_it_answers_from_start_to_close(host: str) -> None:
    server = HttpThread("odradek.test", (host, 0), lambda: hello)
    assert repr(server) == "<HttpThread at no address yet>"
    with server:
        assert repr(server) == f"<HttpThread at {server.url}>"
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"hello"
        connection.close()
    server.close()
    with pytest.raises(OSError, match="refused"):
        connection.connect()


def test_what_keeps_it_from_starting_is_raised() -> None:
    def broken() -> Any:
        raise RuntimeError("no application")

    with pytest.raises(RuntimeError, match="no application"):
        HttpThread("odradek.test", ("127.0.0.1", 0), broken).start()


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("localhost", {"localhost", "127.0.0.1", "::1"}),
        ("127.0.0.2", {"localhost", "127.0.0.1", "::1", "127.0.0.2"}),
        ("0.0.0.0", None),
        ("kafka.example", None),
    ],
)
def test_names_of_a_server(host: str, names: set[str] | None) -> None:
    assert checked("a server", ["json"], "extra", host, "token") == names


def test_what_cannot_be_served() -> None:
    with pytest.raises(ImportError, match=r'a server needs more: pip install "odradek\[extra\]"'):
        checked("a server", ["no_such_package"], "extra", "localhost", None)
    with pytest.raises(ValueError, match="others can reach kafka"):
        checked("a server", [], "extra", "kafka", None)
    with pytest.raises(ValueError, match="printable"):
        checked("a server", [], "extra", "localhost", " ")


def test_names_in_a_host_header() -> None:
    hosts = frozenset({"localhost", "::1"})
    assert [wrong_host(hosts, each) for each in ("localhost:80", "LOCALHOST", "[::1]:80", "[::1]")] == [None] * 4
    assert wrong_host(hosts, "evil.example:80") == "evil.example"
    assert wrong_host(hosts, None) == ""
    assert wrong_host(None, "anything") is None


def test_tokens() -> None:
    assert shows("t", "Bearer t")
    assert not shows("t", "Bearer ä")
    assert not shows("t", "")
