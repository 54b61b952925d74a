"""A broker whose clients log in by PLAIN and SCRAM, with TLS and without, from one `server.properties`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from odradek.client_security.options import AuthenticationError, ClientSecurity
from odradek.wire_client import WireClient
from tests.conformance.real_kafka import RealKafka, free_ports, properties_text
from tests.scenarios.authority import Authority
from tests.scenarios.login_conversation import add_scram_users
from tests.scenarios.sasl_broker import PLAIN_USERS, SCRAM_USERS, jaas, sasl_properties
from tests.scenarios.target import odradek_of_file, wait_until

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


def _properties(authority: Authority, ports: Mapping[str, int], controller: int) -> dict[str, str]:
    return {
        **sasl_properties(ports, ("CONTROLLER", controller)),
        "process.roles": "broker,controller",
        "node.id": "0",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "group.initial.rebalance.delay.ms": "0",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.issue("broker", "localhost", "127.0.0.1")),
    }


def _prepared(folder: Path) -> tuple[LogIns, dict[str, str]]:
    authority = Authority(folder / "certificates")
    controller, *others = free_ports(1 + len(LISTENERS))
    ports = dict(zip(LISTENERS, others, strict=True))
    return LogIns(ports, authority.ca), _properties(authority, ports, controller)


@contextmanager
def odradek_with_log_ins(folder: Path) -> Iterator[LogIns]:
    """`odradek serve --config-file`, with the users of SCRAM added."""
    broker, properties = _prepared(folder)
    file = folder / "server.properties"
    file.write_text(properties_text(properties))
    with odradek_of_file(file):
        _add_users(broker.ports)
        yield broker
    log = file.with_suffix(".log").read_text()
    assert not [
        secret for secret in (*PLAIN_USERS.values(), *SCRAM_USERS.values()) if len(secret) > 6 and secret in log
    ]


@contextmanager
def kafka_with_log_ins(folder: Path) -> Iterator[LogIns]:
    """A real Kafka with the same properties and users."""
    broker, properties = _prepared(folder)
    with RealKafka(port=broker.ports["PLAINTEXT"], config=properties):
        _add_users(broker.ports)
        yield broker
