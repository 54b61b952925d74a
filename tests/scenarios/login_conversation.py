"""One connection after another that logs in by SASL, frame by frame, and what was said on it."""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from odradek.broker.releases.release import DEFAULT
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from odradek.protocol.headers import decode_response_header
from odradek.protocol.json_form import to_json
from odradek.protocol.message_codec import codec
from odradek.wire_client import request_frame
from tests.fakes.wire_client import WireClient
from tests.scenarios.sasl_broker import PLAIN_USERS, SCRAM_USERS, SHORT_MS
from tests.scenarios.scram_client import ScramClient, salted_password

Transcript = list[Any]
Ports = Mapping[str, int]
SILENT_S = 20.0
"""An answer that takes longer is none: it would fail the comparison."""


class Login:
    """One connection after another to the listeners of one broker, and the transcript.

    `wait` lets time pass on the broker's clock. `release`: that of the broker.
    """

    def __init__(self, ports: Ports, wait: Callable[[float], object] = time.sleep, release: str = DEFAULT) -> None:
        self.release = release
        self._ports = ports
        self.socket: socket.socket | None = None
        self.correlation_id = 0
        self.wait = wait
        self.transcript: Transcript = []

    def opens(self, listener: str = "SASL") -> None:
        """Begin anew on another connection."""
        self.hang_up()
        self.socket = socket.create_connection(("127.0.0.1", self._ports[listener]), timeout=SILENT_S)
        self.transcript.append(["opens", listener])

    def close(self) -> None:
        self.hang_up()

    def hang_up(self) -> None:
        if self.socket is not None:
            self.socket.close()

    # -- what is sent

    def sends(self, what: str, data: bytes) -> None:
        """Bytes as they are."""
        assert self.socket is not None
        self.transcript.append([what])
        with suppress(OSError):  # closed by the broker already: what is heard next says so
            self.socket.sendall(data)

    def frame(self, request: Any, version: int) -> bytes:
        self.correlation_id += 1
        return request_frame(request, version, self.correlation_id, "login")

    def asks(self, request: Any, version: int, what: str = "") -> Any:
        """Send a request and write down its answer, which is returned; None if the connection is closed."""
        name = API_BY_KEY[request.API_KEY].name
        self.sends(f"{name} v{version} {what}".rstrip(), self.frame(request, version))
        return self.hears(request, version)

    def handshakes(self, mechanism: str, version: int = 1) -> Any:
        return self.asks(SaslHandshakeRequest(mechanism), version, mechanism)

    def authenticates(self, token: bytes, version: int = 2, what: str = "") -> bytes | None:
        """Send a token in a SaslAuthenticate; the token that came back, None if there was an error."""
        answer: SaslAuthenticateResponse | None = self.asks(SaslAuthenticateRequest(token), version, what)
        return None if answer is None or answer.error_code else bytes(answer.auth_bytes)

    def sends_token(self, token: bytes, what: str = "") -> bytes | None:
        """Send a token without a Kafka header; the token that came back, None if the connection is closed."""
        self.sends(f"raw token {what}".rstrip(), struct.pack(">i", len(token)) + token)
        frame = self.frame_heard()
        self._heard("closed" if frame is None else {"token": _masked(frame)})
        return frame

    # -- what is heard

    def hears(self, request: Any, version: int) -> Any:
        """The answer to a request, written down."""
        frame = self.frame_heard()
        if frame is None:
            self._heard("closed")
            return None
        spec = API_BY_KEY[request.API_KEY]
        header, offset = decode_response_header(frame, spec.response_header_version(version))
        response, end = codec(spec.response, version).decode(frame, offset)
        form = to_json(response, version)
        if spec.name == "SaslAuthenticate":
            assert isinstance(response, SaslAuthenticateResponse)
            form["authBytes"] = _masked(bytes(response.auth_bytes))
            if 0 < form.get("sessionLifetimeMs", 0) <= SHORT_MS:
                form["sessionLifetimeMs"] = "<short>"
        elif spec.name in _LONG_ANSWERS:
            form = {"errorCode": form.get("errorCode", 0), "fields": sorted(form)}
        ends = "" if end == len(frame) else f"{len(frame) - end} bytes behind the answer"
        self._heard({**form, "ends": ends} if ends else form)
        assert header.correlation_id == self.correlation_id
        return response

    def hears_the_end(self) -> None:
        """The broker closes without a word."""
        frame = self.frame_heard()
        self._heard("closed" if frame is None else {"frame": frame.hex()})

    def is_served(self, version: int = 4) -> None:
        """A request that needs no log-in state of its own: whether the connection goes on."""
        self.asks(ListGroupsRequest(), version)

    def _heard(self, outcome: Any) -> None:
        self.transcript[-1].append(outcome)

    def frame_heard(self) -> bytes | None:
        size = self._exactly(4)
        return None if size is None else self._exactly(struct.unpack(">i", size)[0])

    def _exactly(self, count: int) -> bytes | None:
        assert self.socket is not None
        data = b""
        while len(data) < count:
            try:
                chunk = self.socket.recv(count - len(data))
            except TimeoutError:
                raise
            except OSError:
                return None
            if not chunk:
                return None
            data += chunk
        return data

    # -- whole log-ins

    def logs_in(self, name: str = "alice", listener: str | None = "SASL") -> None:
        """Log in by PLAIN."""
        if listener is not None:
            self.opens(listener)
        self.handshakes("PLAIN")
        self.authenticates(plain(name))

    def begins_scram(self, mechanism: str = "SCRAM-SHA-256", listener: str = "SASL") -> None:
        self.opens(listener)
        self.handshakes(mechanism)

    def scram(self, client: ScramClient, what: str = "", version: int = 2) -> None:
        """Both steps of a SCRAM log-in as this client makes them; what the server proves is checked."""
        first = self.authenticates(client.first(), version, f"{what} first".lstrip())
        if first is None:
            return
        final = self.authenticates(client.final(first), version, "final")
        if final is not None:
            self.transcript.append(["the server's proof is right", client.server_is_right(final)])


_LONG_ANSWERS = ("ApiVersions", "Metadata")
_NONCE = re.compile(rb"(r=abcdefgh)[!-+\--~]+")


def _masked(token: bytes) -> str:
    """A server's token without what is random in it."""
    masked = _NONCE.sub(rb"\1<nonce>", token)
    masked = re.sub(rb"s=[A-Za-z0-9+/=]+,", b"s=<salt>,", masked)
    return re.sub(rb"v=[A-Za-z0-9+/=]+", b"v=<proof>", masked).decode("latin-1")


def plain(name: str, password: str | None = None, authzid: str = "") -> bytes:
    """A token of PLAIN; by default with the user's password."""
    return f"{authzid}\0{name}\0{PLAIN_USERS[name] if password is None else password}".encode()


def add_scram_users(port: int) -> None:
    """Give the broker at this plain port the users of `SCRAM_USERS`, and wait until both mechanisms know them."""
    with WireClient(port=port) as client:
        for mechanism, hash_name in ((1, "sha256"), (2, "sha512")):
            rows = [
                ScramCredentialUpsertion(name, mechanism, 4096, salt, salted_password(password, salt, 4096, hash_name))
                for name, password in SCRAM_USERS.items()
                for salt in [f"salt of {name}".encode()]
            ]
            answer = client.request(AlterUserScramCredentialsRequest([], rows), 0)
            assert [row.error_code for row in answer.results] == [0] * len(rows), answer


def remove_scram_users(port: int) -> None:
    """Take the users of `SCRAM_USERS` away again."""
    with WireClient(port=port) as client:
        for mechanism in (1, 2):
            rows = [ScramCredentialDeletion(name, mechanism) for name in SCRAM_USERS]
            answer = client.request(AlterUserScramCredentialsRequest(rows, []), 0)
            assert [row.error_code for row in answer.results] == [0] * len(rows), answer
