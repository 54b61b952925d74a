"""Tokens: given, made, read from a file, fetched from an OAuth server."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from odradek.client_security.options import AuthenticationError, ClientSecurity, SecurityOptionError
from odradek.client_security.tokens import token_for


def token(**options: str) -> tuple[str, dict[str, str]]:
    """What `sasl.oauthbearer.<name>` (with __ for dots) and `sasl.jaas.config` as `jaas` give."""
    given = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
    if jaas := options.pop("jaas", None):
        given["sasl.jaas.config"] = f"x.OAuthBearerLoginModule required {jaas};"
    given |= {f"sasl.oauthbearer.{name.replace('__', '.')}": value for name, value in options.items()}
    sasl = ClientSecurity.parse(given).sasl
    assert sasl is not None
    return token_for(sasl)


def read(text: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    head, body, signature = text.split(".")
    parts = [json.loads(base64.urlsafe_b64decode(part + "==")) for part in (head, body)]
    return parts[0], parts[1], signature


def test_a_given_token_goes_as_it_is() -> None:
    assert token(token="abc.def.ghi") == ("abc.def.ghi", {})
    assert token(token="a", extensions="logicalCluster=lkc-1, pool=p") == (
        "a",
        {"logicalCluster": "lkc-1", "pool": "p"},
    )


def test_an_unsecured_token_from_javas_options() -> None:
    jaas = (
        'unsecuredLoginStringClaim_sub="alice" unsecuredLoginListClaim_scope=",a,b" unsecuredLoginNumberClaim_n="1.5" '
        'unsecuredLoginLifetimeSeconds="60" unsecuredLoginExtension_traceId="7"'
    )
    before = time.time()
    text, extensions = token(jaas=jaas)
    head, claims, signature = read(text)
    assert head == {"alg": "none"}
    assert signature == ""
    assert extensions == {"traceId": "7"}
    assert (claims["sub"], claims["scope"], claims["n"]) == ("alice", ["a", "b"], 1.5)
    assert before - 1 <= claims["iat"] <= time.time()
    assert before + 60 <= claims["exp"] <= time.time() + 60


def test_an_unsecured_token_from_librdkafkas_option() -> None:
    text, extensions = token(config="principalClaimName=azp principal=alice scope=a,b lifeSeconds=9 extension_x=y")
    _, claims, _ = read(text)
    assert (claims["azp"], claims["scope"], extensions) == ("alice", ["a", "b"], {"x": "y"})


def test_a_token_from_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    file = tmp_path / "my token"
    for text in ("first", "second"):
        file.write_text(f"{text}\n")
        assert token(token__endpoint__url=file.as_uri())[0] == text


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, dict[str, list[str]]]]]]:
    """The address of an OAuth server, and what it was asked: (authorization, form). A wrong secret is a 401."""
    asked: list[tuple[str, dict[str, list[str]]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            asked.append((self.headers["Authorization"], form))
            good = self.headers["Authorization"] == "Basic " + base64.b64encode(b"me:hush").decode()
            self.send_response(200 if good else 401)
            self.end_headers()
            self.wfile.write(b'{"access_token": "fetched", "expires_in": 60}')

        def log_message(self, format: str, *args: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}/token", asked
        listening.shutdown()
        thread.join()


def test_a_token_from_an_oauth_server(server: tuple[str, list[tuple[str, dict[str, list[str]]]]]) -> None:
    url, asked = server
    assert token(token__endpoint__url=url, client__id="me", client__secret="hush", scope="a b")[0] == "fetched"
    assert asked[0][1] == {"grant_type": ["client_credentials"], "scope": ["a b"]}
    java = {"client__credentials__client__id": "me", "client__credentials__client__secret": "hush"}
    assert token(token__endpoint__url=url, **java)[0] == "fetched"
    assert token(token__endpoint__url=url, jaas='clientId="me" clientSecret="hush"')[0] == "fetched"


def test_a_server_that_gives_no_token_is_named_without_the_secret(
    server: tuple[str, list[tuple[str, dict[str, list[str]]]]],
) -> None:
    with pytest.raises(AuthenticationError, match=r"/token gave no token: .*401") as caught:
        token(token__endpoint__url=server[0], client__id="me", client__secret="wrong-hush")
    assert "hush" not in str(caught.value)


def test_what_gives_no_token_is_refused(tmp_path: Path) -> None:
    for options, message in (
        ({}, "OAUTHBEARER needs a token"),
        ({"config": "lifeSeconds=3"}, "principal=NAME is missing"),
        ({"config": "principal"}, "NAME=VALUE"),
        ({"jaas": 'unsecuredLoginStringClaim_sub="a" unsecuredLoginLifetimeSeconds="x"'}, "a number, not 'x'"),
        ({"token": "two words"}, "characters that no token has"),
        ({"token__endpoint__url": (tmp_path / "none").as_uri()}, "No such file"),
        ({"token__endpoint__url": "ftp://x/y"}, "neither file: nor http"),
        ({"token__endpoint__url": "http://x/y"}, "needs a client id"),
    ):
        with pytest.raises(SecurityOptionError, match=message):
            token(**options)
