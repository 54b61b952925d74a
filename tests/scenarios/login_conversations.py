"""Log-ins by SASL as raw frames in every odd order, written down so that two brokers can be compared.

A transcript is a list of [what was sent, what came back]: an answer in JSON form, the bytes of a raw token, or that the
connection was closed. Server nonces are random and written as `<nonce>`. The transcripts of a real Kafka 4.4.0 lie in
``tests/vectors/login_conversations.json.gz``.
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any

from odradek.broker.releases.release import DEFAULT
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.describe_acls import DescribeAclsRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.produce import ProduceRequest
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from tests.fakes.versions import highest_of
from tests.scenarios.login_conversation import Login, Ports, Transcript, add_scram_users, plain, remove_scram_users
from tests.scenarios.sasl_broker import PLAIN_USERS, SCRAM_USERS, SHORT_MS
from tests.scenarios.scram_client import ScramClient
from tests.scenarios.transcripts import conversations, held

# -- before the log-in


def with_headers(c: Login) -> None:
    """SaslHandshake v1, then SaslAuthenticate in all versions; the connection serves after that and not before."""
    for version in (0, 1, 2):
        c.opens()
        c.handshakes("PLAIN")
        c.authenticates(plain("alice"), version, "right")
        c.is_served()
        c.opens()
        c.handshakes("PLAIN")
        c.authenticates(plain("alice", "wrong"), version, "wrong")
        c.hears_the_end()


def raw_tokens(c: Login) -> None:
    """SaslHandshake v0: tokens follow without Kafka headers."""
    c.opens()
    c.handshakes("PLAIN", 0)
    c.sends_token(plain("alice"), "right")
    c.is_served()
    c.opens()
    c.handshakes("PLAIN", 0)
    c.sends_token(plain("alice", "wrong"), "wrong")
    c.opens()
    c.handshakes("PLAIN", 0)
    c.authenticates(plain("alice"), 0, "though raw tokens were agreed")
    c.opens("REAUTH")
    c.handshakes("PLAIN", 0)
    c.sends_token(plain("alice"), "right")
    c.is_served()
    for password in ("pencil", "wrong"):
        c.opens()
        c.handshakes("SCRAM-SHA-256", 0)
        client = ScramClient("alice", password)
        first = c.sends_token(client.first(), "first")
        assert first is not None
        final = c.sends_token(client.final(first), "final")
        if final is not None:
            c.is_served()


def versions_first(c: Login) -> None:
    """One ApiVersions may come before the handshake; after one that was answered with an error, another."""
    asked = ApiVersionsRequest("login", "1.0")
    for version in (0, 3, 4):
        c.opens()
        c.asks(asked, version)
        c.handshakes("PLAIN")
        c.authenticates(plain("alice"))
        c.is_served()
    c.opens()
    c.asks(asked, 3)
    c.asks(asked, 3, "again")
    c.opens()
    c.asks(ApiVersionsRequest("login", "a version"), 3, "with odd software")
    c.asks(asked, 3)
    c.handshakes("PLAIN")
    c.authenticates(plain("alice"))
    c.is_served()
    c.opens()
    c.sends("ApiVersions v99", _unknown_version(18, 99))
    c.transcript[-1].append(_opened(c.frame_heard()))
    c.sends("ApiVersions v99 again", _unknown_version(18, 99))
    c.transcript[-1].append(_opened(c.frame_heard()))
    c.asks(asked, 3)
    c.handshakes("PLAIN")
    c.authenticates(plain("alice"))
    c.is_served()
    c.opens()
    c.handshakes("PLAIN")
    c.asks(asked, 3, "after the handshake")
    c.hears_the_end()
    c.opens()
    c.handshakes("PLAIN")
    c.sends("ApiVersions v99 after the handshake", _unknown_version(18, 99))
    c.transcript[-1].append(_opened(c.frame_heard()))
    c.hears_the_end()


def _unknown_version(key: int, version: int) -> bytes:
    header = struct.pack(">hhih", key, version, 77, 5) + b"login" + b"\0"
    return struct.pack(">i", len(header)) + header


def _opened(frame: bytes | None) -> Any:
    """An answer to `_unknown_version`: correlation id, error code, and how many bytes follow."""
    if frame is None:
        return "closed"
    correlation_id, code = struct.unpack_from(">ih", frame)
    return {"correlationId": correlation_id, "errorCode": code, "more": "some" if len(frame) > 14 else frame[6:].hex()}


def handshakes(c: Login) -> None:
    """Mechanisms that are not there, versions that are not there, two handshakes."""
    for mechanism in ("GSSAPI", "", "plain", "SCRAM-SHA-1", "OAUTHBEARER"):
        for version in (0, 1):
            c.opens()
            c.handshakes(mechanism, version)
            c.hears_the_end()
    for key, version in ((17, 2), (17, 99), (17, -1)):
        c.opens()
        c.sends(f"SaslHandshake v{version}", _unknown_version(key, version))
        c.hears_the_end()
    c.opens()
    c.handshakes("PLAIN")
    c.handshakes("PLAIN")
    c.hears_the_end()
    c.opens()
    c.handshakes("PLAIN", 0)
    c.handshakes("PLAIN", 0)
    for what, body in (
        ("a null mechanism", b"\xff\xff"),
        ("a cut mechanism", b"\0\5PLA"),
        ("bytes behind it", b"\0\5PLAINmore"),
        ("an empty body", b""),
    ):
        c.opens()
        header = struct.pack(">hhih", 17, 1, 1, 5) + b"login" + body
        c.sends(f"SaslHandshake v1 with {what}", struct.pack(">i", len(header)) + header)
        c.correlation_id = 1
        c.hears(SaslHandshakeRequest(), 1)


def not_a_log_in(c: Login) -> None:
    """First frames that are something else."""
    for what, data in (
        ("nothing in a frame", struct.pack(">i", 0)),
        ("one byte", struct.pack(">ib", 1, 0)),
        ("a Kerberos token", struct.pack(">i", 20) + b"\x60" + bytes(19)),
        ("an unknown API", _unknown_version(999, 0)),
        ("a negative API", _unknown_version(-1, 0)),
        ("a client id longer than its frame", struct.pack(">ihhih", 10, 18, 0, 1, 500)),
        ("a negative size", struct.pack(">i", -5)),
        ("a size of one more than is allowed", struct.pack(">i", 524_289)),
        ("HTTP", b"GET / HTTP/1.1\r\n\r\n"),
        ("TLS", bytes.fromhex("16030100f8010000f40303") + bytes(60)),
    ):
        c.opens()
        c.sends(what, data)
        c.hears_the_end()
    for request, version in (
        (ListGroupsRequest(), 4),
        (FindCoordinatorRequest("g"), 1),
        (SaslAuthenticateRequest(plain("alice")), 2),
    ):
        c.opens()
        c.asks(request, version, "first")
    c.opens()
    c.asks(ApiVersionsRequest("login", "1.0"), 3)
    c.asks(SaslAuthenticateRequest(plain("alice")), 2, "without a handshake")


def large_frames(c: Login) -> None:
    """The largest frame before the log-in, and one that is a byte larger; after the log-in the limit is another."""
    for size in (524_288, 524_289):
        c.opens()
        c.handshakes("PLAIN")
        room = size - (len(c.frame(SaslAuthenticateRequest(b""), 1)) - 4)
        c.authenticates(plain("alice", "x" * (room - len(plain("alice", "")))), 1, f"in {size} bytes")
        c.hears_the_end()
    c.logs_in()
    c.asks(ListGroupsRequest(["x" * 30_000] * 20), 4, "of 600,000 bytes")
    c.is_served()


def other_requests(c: Login) -> None:
    """Every API between the handshake and the log-in, in its lowest and highest version: refused in its own answer."""
    for _, spec in sorted(API_BY_KEY.items()):
        highest = highest_of(spec, c.release)
        if spec.name == "SaslAuthenticate" or highest < 0:
            continue
        for version in sorted({spec.min_version, highest}):
            c.opens()
            c.handshakes("PLAIN")
            c.asks(_READABLE.get(spec.name) or spec.request(), version)
            c.hears_the_end()


_READABLE: Mapping[str, Any] = {
    "AlterUserScramCredentials": AlterUserScramCredentialsRequest(
        [ScramCredentialDeletion("b", 1)], [ScramCredentialUpsertion("a", 1), ScramCredentialUpsertion("b", 2)]
    ),
    "DescribeAcls": DescribeAclsRequest(2, "t", 3, "User:a", "*", 2, 3),
    "Produce": ProduceRequest(acks=1),
}
"""Requests that Kafka refuses, or cannot answer, as they are by default."""


def odd_tokens_requests(c: Login) -> None:
    """SaslAuthenticate in unknown versions, cut short, with more behind it, without a token."""
    for version in (3, 99, -1):
        c.opens()
        c.handshakes("PLAIN")
        c.sends(f"SaslAuthenticate v{version}", _unknown_version(36, version))
        c.hears_the_end()
    token = plain("alice")
    sized = struct.pack(">i", len(token)) + token
    for what, body in (
        ("no body", b""),
        ("a null token", struct.pack(">i", -1)),
        ("an empty token", struct.pack(">i", 0)),
        ("a cut token", sized[:-1]),
        ("bytes behind it", sized + b"more"),
    ):
        c.opens()
        c.handshakes("PLAIN")
        header = struct.pack(">hhih", 36, 0, 9, 5) + b"login" + body
        c.correlation_id = 9
        c.sends(f"SaslAuthenticate v0 with {what}", struct.pack(">i", len(header)) + header)
        c.hears(SaslAuthenticateRequest(), 0)
    c.opens()
    c.handshakes("PLAIN")
    c.sends("one byte", struct.pack(">ib", 1, 0))
    c.hears_the_end()


def after_it(c: Login) -> None:
    """Once more after the log-in, where sessions have no end: refused, and the connection goes on."""
    c.logs_in()
    c.handshakes("PLAIN")
    c.handshakes("nonesuch", 0)
    for version in (0, 1, 2):
        c.authenticates(plain("bob"), version)
    c.asks(ApiVersionsRequest("login", "1.0"), 3)
    c.asks(ApiVersionsRequest("login", "1.0"), 3)
    c.is_served()
    c.sends("SaslHandshake v2", _unknown_version(17, 2))
    c.hears_the_end()


def on_a_plain_listener(c: Login) -> None:
    """Where nobody logs in."""
    c.opens("PLAINTEXT")
    for version in (0, 1):
        c.handshakes("PLAIN", version)
    for version in (0, 1, 2):
        c.authenticates(plain("alice"), version)
    c.is_served()


def at_once(c: Login) -> None:
    """All frames in one packet: they are answered one by one, up to the first that ends the connection."""
    for password in (PLAIN_USERS["alice"], "wrong"):
        c.opens()
        handshake, token, groups = (
            SaslHandshakeRequest("PLAIN"),
            SaslAuthenticateRequest(plain("alice", password)),
            ListGroupsRequest(),
        )
        frames = [c.frame(handshake, 1), c.frame(token, 2), c.frame(groups, 4)]
        c.sends("handshake, token and request", b"".join(frames))
        c.correlation_id -= 2
        c.hears(handshake, 1)
        c.correlation_id += 1
        c.hears(token, 2)
        c.correlation_id += 1
        c.hears(groups, 4)


def byte_by_byte(c: Login) -> None:
    """A slow client."""
    c.opens()
    for request, version in ((SaslHandshakeRequest("PLAIN"), 1), (SaslAuthenticateRequest(plain("alice")), 2)):
        c.transcript.append([type(request).__name__])
        for byte in c.frame(request, version):
            assert c.socket is not None
            c.socket.sendall(bytes([byte]))
        c.hears(request, version)
    c.is_served()


# -- PLAIN


def plain_tokens(c: Login) -> None:
    """What PLAIN takes and refuses."""
    secret = PLAIN_USERS["alice"]
    for what, token in {
        "with the name to act as": plain("alice", authzid="alice"),
        "with another name to act as": plain("alice", authzid="bob"),
        "with another name to act as and a wrong password": plain("alice", "wrong", authzid="bob"),
        "of an unknown user": plain("nobody", secret),
        "with another user's password": plain("alice", PLAIN_USERS["bob"]),
        "with a password and more": plain("alice", secret + " "),
        "with part of a password": plain("alice", secret[:-1]),
        "in capitals": plain("ALICE", secret),
        "without a name": plain("", secret),
        "without a password": plain("alice", ""),
        "without both": plain("", ""),
        "of one part": b"alice",
        "of two parts": b"alice\0secret",
        "of four parts": plain("alice") + b"\0",
        "of five parts": plain("alice") + b"\0more\0",
        "of odd names": plain("zoë"),
        "of odd names in another form": plain("zoe\u0308", PLAIN_USERS["zoë"]),
        "of bad UTF-8": b"\0\xff\xfe\0secret",
        "with bad UTF-8 behind the password": plain("alice") + b"\xff",
        "of a bell": plain("\a", "\a"),
        "of a name with a quote": plain('"', "x"),
        "of a long name": plain("x" * 70_000, "x"),
    }.items():
        c.opens()
        c.handshakes("PLAIN")
        if c.authenticates(token, 2, what) is not None:
            c.is_served()
    for name in PLAIN_USERS:
        c.logs_in(name)


# -- SCRAM


def scram_users(c: Login) -> None:
    """Who may log in."""
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        for name, password in SCRAM_USERS.items():
            c.begins_scram(mechanism)
            c.scram(ScramClient(name, password, mechanism), f"of {name}")
            c.is_served()
        for name, password in (
            ("alice", "wrong"),
            ("nobody", "pencil"),
            ("Alice", "pencil"),
            ("zoë", "x"),
            ("alice", ""),
        ):
            c.begins_scram(mechanism)
            c.scram(ScramClient(name, password, mechanism), f"of {name} with another password")
            c.hears_the_end()
    c.begins_scram("SCRAM-SHA-512")
    c.scram(ScramClient("alice", "pencil", "SCRAM-SHA-256"), "with the hashes of the other mechanism")


def scram_first(c: Login) -> None:
    """First messages."""
    for message in (
        "n,,n=alice,r=abcdefgh",
        "n,a=alice,n=alice,r=abcdefgh",
        "n,a=bob,n=alice,r=abcdefgh",
        "n,a=bob,n=nobody,r=abcdefgh",
        "n,a=,n=alice,r=abcdefgh",
        "y,,n=alice,r=abcdefgh",
        "p=tls-unique,,n=alice,r=abcdefgh",
        "p=tls-server-end-point,,n=alice,r=abcdefgh",
        "n,,n=,r=abcdefgh",
        "n,,n=alice,r=",
        "n,,n=alice",
        "n,,r=abcdefgh,n=alice",
        "n,,n=alice,r=abcdefgh,",
        "n,,n=alice,r=abc\u00e4",
        "n,,n=alice,r=abc defgh",
        "n,,m=what,n=alice,r=abcdefgh",
        "n,,m=,n=alice,r=abcdefgh",
        "n,,n=alice,r=abcdefgh,ext=value",
        "n,,n=alice,r=abcdefgh,ext=",
        "n,,n=alice,r=abcdefgh,e1=value",
        "n,,n=alice,r=abcdefgh,x=a=b",
        "n,,n=alice,r=abcdefgh,tokenauth=true",
        "n,,n=alice,r=abcdefgh,tokenauth=TRUE",
        "n,,n=alice,r=abcdefgh,tokenauth=false",
        "n,,n=alice,r=abcdefgh,tokenauth=1",
        "n,,n=a=3Db=2Cc,r=abcdefgh",
        "n,,n=a=3db=2cc,r=abcdefgh",
        "n,,n=a=41lice,r=abcdefgh",
        "n,,n=a=b,r=abcdefgh",
        "n,,n==,r=abcdefgh",
        "n,,n=ada lovelace,r=abcdefgh",
        "n,,n=al\u0000ice,r=abcdefgh",
        "n,,n=al\u007fice,r=abcdefgh",
        "n,,n=zo\u00eb,r=abcdefgh",
        "n,,n=alice\n,r=abcdefgh",
        "n,,n=alice,r=abcdefgh\n",
        "",
        "n",
        "n,,",
        "c=biws,r=abcdefgh,p=AAAA",
    ):
        c.begins_scram()
        c.authenticates(message.encode(), 2, repr(message))
    c.begins_scram()
    c.authenticates(b"n,,n=\xff\xfe,r=abcdefgh", 2, "bad UTF-8")


def scram_final(c: Login) -> None:
    """Final messages: each part wrong in turn."""
    changes: dict[str, Callable[[ScramClient, str], str]] = {
        "right": lambda _, text: text,
        "with a cut nonce": lambda _, text: re.sub(r"r=([^,]+).,", r"r=\1,", text),
        "with a longer nonce": lambda _, text: re.sub(r"r=([^,]+),", r"r=\1x,", text),
        "with the client's nonce only": lambda _, text: re.sub(r"r=([^,]+),", "r=abcdefgh,", text),
        "without a nonce": lambda _, text: re.sub(r"r=([^,]+),", "r=,", text),
        "with another proof": lambda _, text: re.sub(r"p=.{4}", "p=AAAA", text),
        "with a proof of three bytes": lambda _, text: re.sub(r"p=.*", "p=AAAA", text),
        "with an empty proof": lambda _, text: re.sub(r"p=.*", "p=", text),
        "with a longer proof": lambda _, text: re.sub(r"p=.*", "p=" + "A" * 88, text),
        "with a proof that is no base64": lambda _, text: re.sub(r"p=.*", "p=!!!!", text),
        "with a proof of a wrong length in base64": lambda _, text: text + "A",
        "without a proof": lambda _, text: re.sub(r",p=.*", "", text),
        "with an extension": lambda client, text: client.sealed(re.sub(r",p=.*", ",ext=1", text)),
        "with an extension that is not proved": lambda _, text: text.replace(",p=", ",ext=1,p="),
        "with something behind it": lambda _, text: text + ",x=y",
        "with another channel, proved": lambda client, text: client.sealed(re.sub(r",p=.*", "", "c=eSws" + text[6:])),
        "with a channel of bytes, proved": lambda client, text: client.sealed(
            re.sub(r",p=.*", "", "c=AAECAw==" + text[6:])
        ),
        "with an empty channel, proved": lambda client, text: client.sealed(re.sub(r",p=.*", "", "c=" + text[6:])),
        "with another channel, not proved": lambda _, text: "c=eSws" + text[6:],
        "with a channel that is no base64": lambda _, text: "c=biw" + text[6:],
        "empty": lambda _, text: "",
        "the first again": lambda client, _: client.first().decode(),
    }
    for what, change in changes.items():
        c.begins_scram()
        client = ScramClient("alice", "pencil")
        first = c.authenticates(client.first(), 2, "first")
        assert first is not None
        final = client.final(first).decode()
        if c.authenticates(change(client, final).encode(), 2, f"final, {what}") is not None:
            c.is_served()
    c.begins_scram()
    c.scram(ScramClient("alice", "pencil"))
    c.authenticates(b"n,,n=alice,r=abcdefgh", 2, "once more after it")
    c.is_served()
    c.begins_scram()
    client = ScramClient("alice", "pencil")
    assert c.authenticates(client.first(), 2, "first") is not None
    c.handshakes("PLAIN")
    c.hears_the_end()
    c.begins_scram()
    c.scram(ScramClient("alice", "pencil", extensions=",ext=value"), "with an extension")
    c.begins_scram()
    c.scram(ScramClient("alice", "pencil", authzid="alice"), "with the name to act as")
    c.begins_scram()
    c.scram(ScramClient("alice", "pencil", reserved="m=what,"), "with a reserved part, proved")


# -- sessions with an end


def session_lifetime(c: Login) -> None:
    """What the client is told."""
    for version in (0, 1, 2):
        c.opens("REAUTH")
        c.handshakes("PLAIN")
        c.authenticates(plain("alice"), version)
        c.is_served()
    c.begins_scram(listener="REAUTH")
    c.scram(ScramClient("alice", "pencil"))
    c.is_served()


def again(c: Login) -> None:
    """Authentication again: at once after the log-in, but not twice within a second."""
    c.logs_in(listener="REAUTH")
    c.handshakes("PLAIN")
    c.authenticates(plain("alice"))
    c.is_served()
    c.handshakes("PLAIN")
    c.authenticates(plain("alice"))
    c.is_served()
    c.wait(1.1)
    c.handshakes("PLAIN")
    c.authenticates(plain("alice"))
    c.is_served()
    c.wait(1.1)
    c.handshakes("PLAIN")
    c.is_served()
    c.hears_the_end()


def again_wrongly(c: Login) -> None:
    """Authentication again as somebody else, by another mechanism, with a wrong password, in another form."""
    c.logs_in(listener="REAUTH")
    c.handshakes("PLAIN")
    c.authenticates(plain("bob"))
    c.hears_the_end()
    c.logs_in(listener="REAUTH")
    c.handshakes("PLAIN")
    c.authenticates(plain("alice", "wrong"))
    c.hears_the_end()
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        c.logs_in(listener="REAUTH")
        c.handshakes(mechanism)
        c.authenticates(ScramClient("alice", "pencil").first(), 2)
        c.hears_the_end()
    c.logs_in(listener="REAUTH")
    c.handshakes("nonesuch")
    c.hears_the_end()
    c.logs_in(listener="REAUTH")
    c.handshakes("PLAIN", 0)
    c.authenticates(plain("alice"), 0, "with a header, after a handshake without")
    c.is_served()
    c.opens("REAUTH")
    c.handshakes("PLAIN", 0)
    c.sends_token(plain("alice"))
    c.handshakes("PLAIN", 0)
    c.sends_token(plain("bob"), "of another")
    c.opens("REAUTH")
    c.handshakes("PLAIN", 0)
    c.sends_token(plain("alice"))
    c.handshakes("PLAIN", 0)
    c.sends_token(plain("alice"))
    c.is_served()
    c.begins_scram(listener="REAUTH")
    c.scram(ScramClient("alice", "pencil"))
    c.handshakes("SCRAM-SHA-256")
    c.scram(ScramClient("bob", "eraser"), "of another")
    c.hears_the_end()
    c.begins_scram(listener="REAUTH")
    c.scram(ScramClient("alice", "pencil"))
    c.handshakes("SCRAM-SHA-256")
    c.scram(ScramClient("alice", "wrong"), "wrong")
    c.hears_the_end()
    c.begins_scram(listener="REAUTH")
    c.scram(ScramClient("alice", "pencil"))
    c.handshakes("SCRAM-SHA-256")
    c.scram(ScramClient("alice", "pencil"), "right")
    c.is_served()
    c.logs_in(listener="REAUTH")
    c.authenticates(plain("alice"), 2, "without a handshake")
    c.is_served()
    c.sends("SaslHandshake v2", _unknown_version(17, 2))
    c.hears_the_end()
    c.logs_in(listener="REAUTH")
    c.handshakes("PLAIN")
    c.sends("one byte", struct.pack(">ib", 1, 0))
    c.hears_the_end()
    c.logs_in(listener="REAUTH")
    c.handshakes("PLAIN")
    c.asks(ApiVersionsRequest("login", "1.0"), 3)
    c.hears_the_end()


def end_of_session(c: Login) -> None:
    """A request after the session's end closes; a handshake does not, and gives a new session."""
    c.logs_in(listener="SHORT")
    c.is_served()
    c.wait(SHORT_MS / 1000 + 0.3)
    c.is_served()
    c.logs_in(listener="SHORT")
    c.wait(SHORT_MS / 1000 + 0.3)
    c.handshakes("PLAIN")
    c.authenticates(plain("alice"))
    c.is_served()
    c.logs_in(listener="SHORT")
    c.wait(SHORT_MS / 1000 + 0.3)
    c.asks(ApiVersionsRequest("login", "1.0"), 3)
    c.logs_in(listener="SHORT")
    c.handshakes("PLAIN")
    c.wait(SHORT_MS / 1000 + 0.3)
    c.authenticates(plain("alice"), 2, "after the end of the first session")
    c.is_served()
    c.logs_in(listener="SHORT")
    c.wait(SHORT_MS / 1000 + 0.3)
    c.authenticates(plain("alice"), 2, "without a handshake")


CONVERSATIONS = conversations(__name__)


def transcribe(
    name: str, ports: Ports, wait: Callable[[float], object] = time.sleep, release: str = DEFAULT
) -> Transcript:
    """Hold one conversation with a broker of `sasl_properties`. It has the users of `add_scram_users` meanwhile."""
    add_scram_users(ports["PLAINTEXT"])
    try:
        return held(Login(ports, wait, release), CONVERSATIONS[name])
    finally:
        remove_scram_users(ports["PLAINTEXT"])
