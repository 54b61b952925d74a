"""Log-ins with GSSAPI by tickets of a KDC that runs for the test."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from odradek.client_security.options import AuthenticationError, ClientSecurity
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from odradek.wire_client import ConnectionClosed, WireClient, WireConnection
from tests.conformance.real_kafka import free_ports, java_command
from tests.scenarios.kdc import REALM, Kdc, NoKdc
from tests.scenarios.secured_listeners import java_jaas
from tests.scenarios.target import served
from tests.scenarios.token_cases import INVALID

MODULE = "com.sun.security.auth.module.Krb5LoginModule"
RULES = "RULE:[2:$1](svc)s/^svc$/service/,DEFAULT"
"""`svc/...` becomes `service`; `other/...` of the default realm keeps its first part."""


@dataclass(frozen=True)
class Kerberized:
    """A running broker with a listener for GSSAPI on `localhost`, its KDC, and keytabs by the principals' names."""

    port: int
    kdc: Kdc
    keytabs: Mapping[str, Path]


@pytest.fixture(scope="module")
def kerberized(side: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberized]:
    folder = tmp_path_factory.mktemp("kerberos")
    plain, port = free_ports(2)
    with running_kdc(folder / "kdc") as (kdc, keytabs):
        keytab = keytabs["kafka/localhost"]
        jaas = f'{MODULE} required useKeyTab=true storeKey=true keyTab="{keytab}" principal="kafka/localhost@{REALM}";'
        properties = {
            "listeners": f"PLAINTEXT://127.0.0.1:{plain},KERBEROS://localhost:{port}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,KERBEROS:SASL_PLAINTEXT",
            "listener.name.kerberos.sasl.enabled.mechanisms": "GSSAPI",
            "listener.name.kerberos.gssapi.sasl.jaas.config": jaas,
            "sasl.kerberos.service.name": "kafka",
            "listener.name.kerberos.sasl.kerberos.principal.to.local.rules": RULES,
        }
        with served(side, properties, jvm_options=[f"-Djava.security.krb5.conf={kdc.config}"]):
            yield Kerberized(port, kdc, keytabs)


@contextmanager
def running_kdc(folder: Path) -> Iterator[tuple[Kdc, dict[str, Path]]]:
    """A KDC with the broker and some clients; this process finds it until the end of the block."""
    pytest.importorskip("gssapi", reason="needs MIT Kerberos and the package gssapi", exc_type=ImportError)
    folder.mkdir()
    try:
        kdc = Kdc(folder)
    except NoKdc as missing:
        pytest.skip(str(missing))
    with kdc.running(), pytest.MonkeyPatch.context() as patch:
        keytabs = {name: kdc.principal(name) for name in ("kafka/localhost", "alice", "svc/host.test", "svc/a/b")}
        for name, value in kdc.environment.items():
            patch.setenv(name, value)
        yield kdc, keytabs


def options(kerberized: Kerberized, name: str, **changes: str) -> ClientSecurity:
    given = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.kerberos.principal": f"{name}@{REALM}",
        "sasl.kerberos.keytab": str(kerberized.keytabs[name]),
    }
    return ClientSecurity.parse(given | {key.replace("__", "."): value for key, value in changes.items()})


def logs_in(kerberized: Kerberized, security: ClientSecurity) -> bool:
    with WireClient("localhost", kerberized.port, timeout_s=30, security=security) as client:
        return [broker.port for broker in client.request(MetadataRequest(topics=[])).brokers] == [kerberized.port]


def test_a_keytab_logs_in(kerberized: Kerberized) -> None:
    for name in ("alice", "svc/host.test", "alice"):
        assert logs_in(kerberized, options(kerberized, name))


def test_a_ticket_of_kinit_logs_in(kerberized: Kerberized) -> None:
    subprocess.run(["kinit", "-k", "-t", str(kerberized.keytabs["alice"]), f"alice@{REALM}"], check=True)
    given = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI", "sasl.kerberos.service.name": "kafka"}
    assert logs_in(kerberized, ClientSecurity.parse(given))
    subprocess.run(["kdestroy"], check=True)


def test_a_principal_without_a_user_is_cut(kerberized: Kerberized) -> None:
    with pytest.raises(ConnectionClosed):
        logs_in(kerberized, options(kerberized, "svc/a/b"))


def test_what_the_kdc_refuses_is_told(kerberized: Kerberized) -> None:
    with pytest.raises(AuthenticationError, match=r"log-in with GSSAPI failed: .*not found in Kerberos database"):
        logs_in(kerberized, options(kerberized, "alice", sasl__kerberos__service__name="other"))
    with pytest.raises(AuthenticationError, match="log-in with GSSAPI failed"):
        logs_in(kerberized, options(kerberized, "alice", sasl__kerberos__principal=f"mallory@{REALM}"))


@pytest.mark.parametrize("token", [b"nonsense", b"\x60\x03abc", b"\0" * 100])
def test_what_is_no_ticket_is_refused_without_a_reason(kerberized: Kerberized, token: bytes) -> None:
    with WireConnection("localhost", kerberized.port) as connection:
        shake = SaslHandshakeRequest("GSSAPI")
        assert connection.receive(shake, 1, connection.send(shake, 1)).error_code == 0
        request = SaslAuthenticateRequest(token)
        answer = connection.receive(request, 2, connection.send(request, 2))
    assert (answer.error_code, answer.error_message) == (58, INVALID.replace("OAUTHBEARER", "GSSAPI"))


def test_the_java_client_logs_in(kerberized: Kerberized, tmp_path: Path) -> None:
    keytab = {"useKeyTab": "true", "storeKey": "true", "keyTab": str(kerberized.keytabs["alice"])}
    jaas = java_jaas("x", principal=f"alice@{REALM}", **keytab).split(" ", 1)[1]
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=GSSAPI\nsasl.kerberos.service.name=kafka\n"
        f"sasl.jaas.config={MODULE} {jaas}\n"
    )
    command = java_command(
        "org.apache.kafka.tools.BrokerApiVersionsCommand",
        *("--bootstrap-server", f"localhost:{kerberized.port}", "--command-config", str(file)),
        extra=[f"-Djava.security.krb5.conf={kerberized.kdc.config}"],
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert f"localhost:{kerberized.port} (id:" in done.stdout, done.stderr
