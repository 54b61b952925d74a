"""An application of HTTP in a thread: from its start to its end."""

from __future__ import annotations

import http.client
from typing import Any
from urllib.parse import urlsplit

import pytest

from odradek.http_access import HttpRequest
from odradek.http_server import HttpResponse
from odradek.http_thread import HttpThread


async def hello(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b"hello")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_an_http_thread_answers_from_start_to_close(host: str) -> None:
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


def test_http_thread_raises_what_keeps_it_from_starting() -> None:
    def broken() -> Any:
        raise RuntimeError("no application")

    with pytest.raises(RuntimeError, match="no application"):
        HttpThread("odradek.test", ("127.0.0.1", 0), broken).start()
