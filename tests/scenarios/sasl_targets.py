"""A broker whose clients log in by PLAIN and SCRAM, with TLS and without, from one `server.properties`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from odradek.client_security.options import AuthenticationError, ClientSecurity
from odradek.wire_client import WireClient
from tests.conformance.real_kafka import free_ports
from tests.scenarios.authority import Authority
from tests.scenarios.login_conversation import add_scram_users
from tests.scenarios.sasl_broker import PLAIN_USERS, SCRAM_USERS, jaas, sasl_properties
from tests.scenarios.target import served, wait_until

LISTENERS = ("PLAINTEXT", "SASL", "SHORT", "TLS")
"""`SHORT`: sessions last `SHORT_MS`. `TLS`: of SASL_SSL."""
USER = "alice"


def password_of(mechanism: str, user: str = USER) -> str:
    """The right one."""
    return (PLAIN_USERS if mechanism == "PLAIN" else SCRAM_USERS)[user]


@dataclass(frozen=True)
class LogIns:
    """A running broker: its ports by listener, and who made its certificate."""

    ports: Mapping[str, int]
    ca: Path

    def address(self, listener: str) -> str:
        return f"127.0.0.1:{self.ports[listener]}"

    def java_properties(
        self, listener: str, mechanism: str, user: str, password: str, **options: str
    ) -> dict[str, str]:
        """What a Java client needs to log in; `options`: further ones of the log-in module."""
        properties = {
            "security.protocol": "SASL_SSL" if listener == "TLS" else "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": jaas(mechanism, username=user, password=password, **options),
        }
        if listener == "TLS":
            properties |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(self.ca)}
        return properties


def accepts(port: int, mechanism: str, user: str, password: str, **options: str) -> bool:
    """Whether a log-in without TLS goes through; `options`: further ones of the log-in module."""
    login = {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": jaas(mechanism, username=user, password=password, **options),
    }
    security = ClientSecurity.parse({"security.protocol": "SASL_PLAINTEXT", **login})
    try:
        with WireClient("127.0.0.1", port, timeout_s=60, security=security):
            return True
    except AuthenticationError:
        return False


def _add_users(ports: Mapping[str, int]) -> None:
    """Add those of SCRAM, and wait until they may log in."""
    add_scram_users(ports["PLAINTEXT"])
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        for user in ("alice", "bob", "a=b,c"):
            known = partial(accepts, ports["SASL"], mechanism, user, SCRAM_USERS[user])
            wait_until(f"{user} may log in", known)


@contextmanager
def with_log_ins(side: str, folder: Path) -> Iterator[LogIns]:
    """A broker of a side, with the users of SCRAM added."""
    authority = Authority(folder / "certificates")
    ports = dict(zip(LISTENERS, free_ports(len(LISTENERS)), strict=True))
    properties = {
        **sasl_properties(ports),
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "group.initial.rebalance.delay.ms": "0",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.issue("broker", "localhost", "127.0.0.1")),
    }
    secrets = [secret for secret in (*PLAIN_USERS.values(), *SCRAM_USERS.values()) if len(secret) > 6]
    with served(side, properties, secrets=secrets):
        _add_users(ports)
        yield LogIns(ports, authority.ca)
