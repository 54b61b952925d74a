"""The ways into a broker that has everything on: TLS, log-ins, an authorizer, quotas."""

from __future__ import annotations

import random
import socket
import ssl
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.create_acls import AclCreation, CreateAclsRequest
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from tests.attack.mutation import mutate, mutate_bytes
from tests.broker.conftest import request_frame
from tests.broker.probes import Wire
from tests.fakes.certificates import Certificate, issued_by, new_authority
from tests.fakes.wire_client import WireClient
from tests.scenarios.sasl_broker import jaas

LISTENERS = ("PLAIN", "SSL", "SASL", "SASLSSL")
USERS: Mapping[str, str] = {"root": "root-secret", "guest": "guest-secret"}
"""PLAIN: `root` may do everything, `guest` what `_ACLS` say."""
_LIMIT_S = 20.0
_NO_TOKEN = b"n,,\x01auth=Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJndWVzdCIsImV4cCI6NDEwMjQ0NDgwMH0.\x01\x01"
_TOKENS = (
    b"\0root\0root-secret",
    b"guest\0guest\0guest-secret",
    b"n,,n=root,r=abcdefgh",
    b"n,a=root,n=r=2Cot,r=abcdefgh,tokenauth=true",
    b"c=biws,r=abcdefgh,p=" + b"A" * 43 + b"=",
    _NO_TOKEN,
    b"\x01",
)
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_AUTHORITY = new_authority("Fuzz CA")


@dataclass(frozen=True, slots=True)
class Door:
    """A listener, and how far a client has come before it sends what is bad.

    `user`: who has logged in, or whose certificate is shown; "" for nobody yet. `raw`: bad bytes instead of frames.
    """

    name: str
    listener: str
    tls: bool = False
    user: str = ""
    raw: bool = False

    @property
    def logs_in(self) -> bool:
        return self.listener.startswith("SASL")

    @property
    def side(self) -> str:
        """Which quarter of the ways in this is: one of `SIDES`."""
        outside = self.raw or (self.logs_in and not self.user)
        return f"{'tls' if self.listener.endswith('SSL') else 'plain'}-{'before' if outside else 'after'}"


SIDES = ("plain-before", "plain-after", "tls-before", "tls-after")
"""With TLS or without, before the log-in or after it."""
DOORS = (
    Door("plain", "PLAIN"),
    Door("mutual TLS as root", "SSL", tls=True, user="root"),
    Door("mutual TLS as guest", "SSL", tls=True, user="guest"),
    Door("a TLS handshake", "SSL", raw=True),
    Door("SASL before the log-in", "SASL"),
    Door("SASL as root", "SASL", user="root"),
    Door("SASL as guest", "SASL", user="guest"),
    Door("SASL over TLS before the log-in", "SASLSSL", tls=True),
    Door("SASL over TLS as root", "SASLSSL", tls=True, user="root"),
    Door("SASL over TLS as guest", "SASLSSL", tls=True, user="guest"),
)


@cache
def certificate(name: str) -> Certificate:
    """A certificate of the run's own authority."""
    return issued_by(_AUTHORITY, name, hosts=["127.0.0.1"])


def secured(ports: Mapping[str, int] = MappingProxyType({})) -> dict[str, str]:
    """The configuration of a broker with these doors. `ports`: by the name of the listener, any free one by default."""
    own = certificate("broker")
    config = {
        "listeners": ",".join(f"{name}://127.0.0.1:{ports.get(name, 0)}" for name in LISTENERS),
        "listener.security.protocol.map": "PLAIN:PLAINTEXT,SSL:SSL,SASL:SASL_PLAINTEXT,SASLSSL:SASL_SSL",
        "inter.broker.listener.name": "PLAIN",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:root;User:CN=root",
        "sasl.enabled.mechanisms": ",".join(_MECHANISMS),
        "connection.failed.authentication.delay.ms": "0",
        "delegation.token.secret.key": "fuzz-token-key",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": own.key_pem,
        "ssl.keystore.certificate.chain": own.chain_pem,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": _AUTHORITY.pem,
        "listener.name.ssl.ssl.client.auth": "required",
    }
    plain = {f"user_{name}": password for name, password in USERS.items()}
    for listener in ("sasl", "saslssl"):
        prefix = f"listener.name.{listener}"
        config[f"{prefix}.plain.sasl.jaas.config"] = jaas("PLAIN", **plain)
        for scram in ("scram-sha-256", "scram-sha-512"):
            config[f"{prefix}.{scram}.sasl.jaas.config"] = jaas("SCRAM-SHA-256")
        config[f"{prefix}.oauthbearer.sasl.jaas.config"] = (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
            'unsecuredLoginStringClaim_sub="broker";'
        )
    return config


def prepare(broker: KafkaBroker) -> dict[str, int]:
    """`grant` on a broker of this process; returns the listeners' ports."""
    (node,) = broker.cluster.nodes.values()
    ports = {name: endpoint.port for name, endpoint in node.endpoints.items()}
    grant(ports["PLAIN"])
    return ports


def grant(port: int) -> None:
    """Give `guest` some rights and everybody quotas that nobody reaches."""
    acls = [
        AclCreation(kind, "", 4, principal, "*", operation, 3)  # prefixed, allow
        for principal in ("User:guest", "User:CN=guest")
        for kind, operation in ((2, 3), (2, 4), (2, 8), (3, 3), (5, 4))  # TOPIC read, write, describe; GROUP; TXN
    ]
    for acl in acls:
        acl.resource_name = "p-" if acl.resource_type == 2 else "g"
    keys = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
    quotas = [EntryData([EntityData("user", None)], [OpData(key, 1e12, False) for key in keys])]
    with WireClient("127.0.0.1", port) as client:
        for request in (CreateAclsRequest(acls), AlterClientQuotasRequest(quotas)):
            answer = client.request(request)
            assert not any(each.error_code for each in getattr(answer, "results", None) or answer.entries), answer


def dial(door: Door, ports: Mapping[str, int]) -> Wire:
    """A connection that has come through the door; OSError if the broker does not let it."""
    wire = Wire(("127.0.0.1", ports[door.listener]))
    try:
        if door.tls:
            wire.wrap(_context(door.user))
        if door.logs_in and door.user:
            _log_in(wire, door.user)
    except BaseException:
        wire.close()
        raise
    return wire


@cache
def _context(user: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=_AUTHORITY.pem)
    if user:
        own = certificate(user)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pem"
            path.write_text(own.key_pem + own.chain_pem)
            context.load_cert_chain(path)
    return context


def _log_in(wire: Wire, user: str) -> None:
    wire.send(request_frame(SaslHandshakeRequest("PLAIN"), 1))
    handshake = wire.frame(_LIMIT_S)
    wire.send(request_frame(SaslAuthenticateRequest(f"\0{user}\0{USERS[user]}".encode()), 2))
    answer = wire.frame(_LIMIT_S)
    if handshake is None or answer is None or answer[5:7] != b"\0\0":
        raise ConnectionError(f"the log-in of {user} failed")


def bad_bytes(rng: random.Random) -> bytes:
    """A TLS ClientHello with faults, or plain text where TLS is expected."""
    if rng.random() < 0.2:
        return rng.choice((b"GET / HTTP/1.1\r\n\r\n", rng.randbytes(rng.randint(1, 100)), b"\0\0\0\x0a" + bytes(10)))
    return mutate_bytes(_client_hello(), [_client_hello(), rng.randbytes(300)], rng)


@cache
def _client_hello() -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = _context("").wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def log_in_frames(samples: list[bytes], rng: random.Random) -> list[bytes]:
    """The frames of a log-in (without sizes), one or two of which are bad."""
    raw = rng.random() < 0.3
    tokens = [rng.choice(_TOKENS) for _ in range(rng.randint(1, 3))]
    frames = []
    if rng.random() < 0.4:
        frames.append(request_frame(ApiVersionsRequest(), rng.randint(0, 3))[4:])
    frames.append(request_frame(SaslHandshakeRequest(rng.choice(_MECHANISMS)), 0 if raw else 1)[4:])
    if raw:
        frames += tokens
    else:
        frames += [request_frame(SaslAuthenticateRequest(token), rng.randint(0, 2))[4:] for token in tokens]
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(frames))
        frames[at] = mutate(frames[at] if rng.random() < 0.8 else rng.choice(samples), samples, rng)
    return frames


def sized(frame: bytes) -> bytes:
    """A frame as it is sent."""
    return struct.pack(">i", len(frame)) + frame


def hang_up_hard(wire: Wire) -> None:
    """Close so that the broker sees a reset."""
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()
