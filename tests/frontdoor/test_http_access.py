"""Who may ask a server: hosts, tokens, and what a web page of another server can send."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from odradek import http_access
from odradek.http_access import Access, HttpError, HttpRequest, checked, json_of, text_bytes

KIND = "application/json"


async def no_body() -> bytes:
    return b""


async def unattended(function: Callable[[], Awaitable[Any]]) -> Any:
    return await function()


def refusal(access: Access, method: str = "POST", path: str = "/", **headers: str) -> int | None:
    """The status with which a request is refused, None if it is not."""
    names = {"host": "localhost:80", **{name.replace("_", "-"): each for name, each in headers.items()}}
    request = HttpRequest(method, path, names, ("127.0.0.1", 80), ("127.0.0.1", 4000), no_body, unattended)
    try:
        access.check(request)
    except HttpError as error:
        return error.status
    return None


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("localhost", {"localhost", "127.0.0.1", "::1"}),
        ("127.0.0.2", {"localhost", "127.0.0.1", "::1", "127.0.0.2"}),
        ("0.0.0.0", None),
        ("kafka.example", None),
    ],
)
def test_http_access_knows_the_names_of_a_server(host: str, names: set[str] | None) -> None:
    assert checked("a server", ["json"], "extra", host, "token") == names


def test_http_access_that_cannot_be_served_is_refused() -> None:
    with pytest.raises(ImportError, match=r'a server needs more: pip install "odradek\[extra\]"'):
        checked("a server", ["no_such_package"], "extra", "localhost", None)
    with pytest.raises(ValueError, match="others can reach kafka"):
        checked("a server", [], "extra", "kafka", None)
    with pytest.raises(ValueError, match="printable"):
        checked("a server", [], "extra", "localhost", " ")


@pytest.mark.long
def test_what_to_install_is_said_where_the_package_of_http_is_missing() -> None:
    program = """
import sys
sys.modules["h11"] = None  # as if it were not installed
from odradek import KafkaBroker
from odradek.__main__ import main
from odradek.control.server import ControlServer
for start in (lambda: ControlServer(KafkaBroker()), lambda: KafkaBroker(registry=True).start()):
    try:
        start()
    except ImportError as error:
        print(error)
for option in ("--control-port", "--registry-port"):
    sys.stderr = sys.stdout
    print(main(["serve", "--port", "0", option, "0"]))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    told = ran.stdout.splitlines()
    assert [line.partition(" (")[0] for line in told] == [
        'a control API needs more: pip install "odradek[control]"',
        'a schema registry needs more: pip install "odradek[registry]"',
        'odradek serve: a control API needs more: pip install "odradek[control]"',
        "2",
        'odradek serve: a schema registry needs more: pip install "odradek[registry]"',
        "2",
    ]


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"])
def test_a_page_whose_name_leads_to_this_machine_is_refused(method: str) -> None:
    access = Access(frozenset({"localhost", "::1"}), None, [KIND])
    for host in ("localhost:80", "LOCALHOST", "[::1]:80", "[::1]"):
        assert refusal(access, method, host=host, content_type=KIND) is None, host
    for host in ("evil.example:80", "localhost.evil.example", "localhost:80.evil.example", "127.0.0.1@evil", ""):
        assert refusal(access, method, host=host, content_type=KIND) == 421, host
    assert refusal(Access(None, "t", [KIND]), method, host="any", authorization="Bearer t", content_type=KIND) is None


@pytest.mark.parametrize(
    "page", [{"origin": "http://evil.example"}, {"origin": "null"}, {"sec_fetch_site": "cross-site"}]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_page_of_another_server_changes_nothing(method: str, page: dict[str, str]) -> None:
    """The three content types that the Fetch standard lets a page send to any server, and a Blob without one."""
    access = Access(frozenset({"localhost"}), None, [KIND])
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        assert refusal(access, method, **page, **({"content_type": kind} if kind else {})) == 415, kind
        assert refusal(access, method, **page, content_type=kind.upper()) == 415, kind
    assert refusal(access, method, **page, content_type="text/plain, application/json") == 415


def test_what_clients_send_is_taken() -> None:
    access = Access(frozenset({"localhost"}), None, ["application/vnd.schemaregistry.v1+json", KIND])
    for kind in (KIND, "Application/JSON; charset=utf-8", "application/vnd.schemaregistry.v1+json"):
        assert refusal(access, content_type=kind) is None
        assert refusal(access, content_type=kind, origin="http://localhost:80", sec_fetch_site="same-origin") is None
    assert refusal(access) is None
    assert refusal(access, "DELETE") is None


def test_curl_is_told_what_to_send() -> None:
    headers = {"host": "localhost", "content-type": "application/x-www-form-urlencoded"}
    request = HttpRequest("POST", "/", headers, ("127.0.0.1", 80), ("127.0.0.1", 4000), no_body, unattended)
    access = Access(None, None, [KIND])
    with pytest.raises(HttpError, match=r"send application/json; curl -d needs -H 'Content-Type: "):
        access.check(request)


def test_a_token_is_shown_as_clients_can() -> None:
    access = Access(None, "t", [KIND], free=["/page"])
    basic = {
        name: f"Basic {base64.b64encode(each).decode()}"
        for name, each in {"right": b"any:t", "wrong": b"any:u", "no": b"\xff"}.items()
    }
    for shown in ("Bearer t", "bearer t", basic["right"]):
        assert refusal(access, "GET", authorization=shown) is None, shown
    for shown in ("", "t", "Bearer", "Bearer u", "Bearer \xe4", "Digest t", basic["wrong"], basic["no"], "Basic \xe4"):
        assert refusal(access, "GET", authorization=shown) == 401, shown
        assert refusal(access, "GET", "/page", authorization=shown) is None


def test_http_body_of_json_is_read() -> None:
    assert json_of(b'{"a": ["\\u00e4", "\\ud83d\\ude00", 1.5, null]}') == {"a": ["ä", "😀", 1.5, None]}
    assert json_of("\ufeff1".encode()) == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b"NaN", "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5000, "Exceeds the limit"),
        (b'"\xff"', "can't decode byte 0xff"),
        (b'"\xed\xa0\x80"', "can't decode byte 0xed"),
        ('"a"'.encode("utf-16"), "can't decode byte"),
        (b'"\\ud800"', "surrogates not allowed"),
        (b'{"a": {"\\uDFff": 1}}', "surrogates not allowed"),
        (b'"\\ud83d\\ud83d"', "surrogates not allowed"),
    ],
)
def test_http_body_that_is_no_json_is_refused(body: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=f"the body is not JSON: .*{why}"):
        json_of(body)


def test_a_body_has_so_many_values_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_access, "_MOST_MARKS", 4)
    assert json_of(b"[1, 2, 3, 4]") == [1, 2, 3, 4]
    for body in (b"[1, 2, 3, 4, 5]", b"[[], [], []]", b'{"a": {"b": {"c": 1}}}'):
        with pytest.raises(ValueError, match="more than 4 commas, colons and brackets: send it in parts"):
            json_of(body)


def test_half_a_character_can_be_told_of() -> None:
    assert text_bytes("ä") == b"\xc3\xa4"
    answer = text_bytes(json.dumps({"message": "no topic \ud800"}, ensure_ascii=False))
    assert json.loads(answer) == {"message": "no topic \ud800"}
