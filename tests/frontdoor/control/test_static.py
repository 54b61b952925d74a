"""The files of the page."""

from __future__ import annotations

import http.client
import re
from importlib.resources import files

import pytest

import odradek
from odradek.control.server import ControlServer
from odradek.control.static import SCRIPTS


def fetch(url: str, path: str) -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection(url.partition("//")[2], timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


@pytest.mark.parametrize("path", ["?x", "//", "/page.css/", "/favicon.ico/"])
def test_a_file_is_served_by_each_path_that_finds_it(broker: odradek.KafkaBroker, path: str) -> None:
    with ControlServer(broker) as server:
        assert fetch(server.url, path)[0].status in (200, 204)


@pytest.mark.parametrize(
    ("path", "kind", "part"),
    [
        ("/", "text/html", "<title>odradek"),
        ("/page.css", "text/css", ":root"),
        ("/page.js", "text/javascript", "VIEWS"),
    ],
)
def test_they_are_served_without_a_token_and_with_a_policy(
    broker: odradek.KafkaBroker, path: str, kind: str, part: str
) -> None:
    with ControlServer(broker, token="s3cret") as server:
        answer, text = fetch(server.url, path)
        assert answer.status == 200
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert part in text
        assert fetch(server.url, "/v1/overview")[0].status == 401
        assert fetch(server.url, "/favicon.ico")[0].status == 204


def test_the_page_needs_nothing_from_elsewhere(broker: odradek.KafkaBroker) -> None:
    with ControlServer(broker) as server:
        page = fetch(server.url, "/")[1]
        assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == {"/page.css", *(f"/{each}.js" for each in SCRIPTS)}
        for name in SCRIPTS:
            script = fetch(server.url, f"/{name}.js")[1]
            assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script) == [], name
            assert set(re.findall(r'from "([^"]*)"', script)) <= {f"./{each}.js" for each in SCRIPTS}
            assert script.count("\n") < 300


def test_each_module_of_the_page_is_served() -> None:
    there = {each.name.removesuffix(".js") for each in files("odradek.control.page").iterdir() if ".js" in each.name}
    assert there == set(SCRIPTS)
