"""franz-go and kafkajs log in by each mechanism, with TLS or not: good and bad passwords, tokens and certificates."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.conformance.real_kafka import free_ports
from tests.fakes.certificates import issued_by, new_authority
from tests.scenarios.fixtures import create_topic
from tests.scenarios.sasl_broker import jaas
from tests.scenarios.sasl_targets import accepts
from tests.scenarios.secured_listeners import PASSWORDS, add_users, java_jaas, without_signature
from tests.scenarios.target import served, wait_until
from tests.scenarios.test_other_clients import go_program, js_folder

TOPIC, USER = "logins", "alice"
LISTENERS = ("PLAINTEXT", "SASL", "TLS", "MUTUAL", "FOREIGN", "LATE")
"""All but the first two are of SASL_SSL. MUTUAL wants a certificate too; FOREIGN shows one of an authority that nobody
knows, LATE one that has expired."""
PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = (*PASSWORD_MECHANISMS, "OAUTHBEARER")


@dataclass(frozen=True)
class Doors:
    """A running broker: its ports by listener, and a folder of certificates."""

    ports: Mapping[str, int]
    folder: Path


@dataclass(frozen=True, slots=True)
class Attempt:
    """One log-in. The programs read the fields by these names; a file that is "" is not used."""

    name: str
    address: str
    mechanism: str
    user: str = ""
    password: str = ""
    token: str = ""
    authority: str = ""
    certificate: str = ""
    topic: str = TOPIC


def _write_certificates(folder: Path) -> None:
    authority, foreign = new_authority("Test CA"), new_authority("Foreign CA")
    (folder / "ca.pem").write_text(authority.pem)
    for name, each in {
        "broker": issued_by(authority, "broker", hosts=["127.0.0.1"]),
        "foreign-broker": issued_by(foreign, "broker", hosts=["127.0.0.1"]),
        "late-broker": issued_by(authority, "broker", hosts=["127.0.0.1"], days=(-9, -1)),
        "alice": issued_by(authority, "alice"),
        "mallory": issued_by(foreign, "mallory"),
        "late": issued_by(authority, "late", days=(-9, -1)),
    }.items():
        (folder / f"{name}.pem").write_text(each.key_pem + each.chain_pem)


def _properties(folder: Path, ports: Mapping[str, int]) -> dict[str, str]:
    protocols = dict.fromkeys(LISTENERS, "SASL_SSL") | {"PLAINTEXT": "PLAINTEXT", "SASL": "SASL_PLAINTEXT"}
    properties = {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "connection.failed.authentication.delay.ms": "20",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "group.initial.rebalance.delay.ms": "0",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "broker.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.foreign.ssl.keystore.location": str(folder / "foreign-broker.pem"),
        "listener.name.late.ssl.keystore.location": str(folder / "late-broker.pem"),
    }
    plain = {f"user_{name}": password for name, password in PASSWORDS.items()}
    logins = {
        mechanism: jaas(mechanism, **(plain if mechanism == "PLAIN" else {})) for mechanism in PASSWORD_MECHANISMS
    }
    logins["OAUTHBEARER"] = java_jaas("oauthbearer.OAuthBearerLoginModule", unsecuredLoginStringClaim_sub="broker")
    for name in LISTENERS[1:]:
        for mechanism, login in logins.items():
            properties[f"listener.name.{name}.{mechanism}".lower() + ".sasl.jaas.config"] = login
    return properties


def _add_users_and_topic(ports: Mapping[str, int]) -> None:
    add_users(ports["PLAINTEXT"])
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        known = partial(accepts, ports["SASL"], mechanism, USER, PASSWORDS[USER])
        wait_until(f"{USER} may log in", known)
    plain: dict[str, str | int | float | bool] = {
        "bootstrap.servers": f"127.0.0.1:{ports['PLAINTEXT']}",
        "log_level": 0,
    }
    create_topic(AdminClient(plain), TOPIC, 1)
    # kafkajs gives up where a coordinator has to be made or loaded first
    consumer = Consumer({**plain, "group.id": "first"})
    wait_until("a coordinator", lambda: _commits(consumer))
    consumer.close()


def _commits(consumer: Consumer) -> bool:
    try:
        return bool(consumer.commit(offsets=[TopicPartition(TOPIC, 0, 0)], asynchronous=False))
    except KafkaException:
        return False


@pytest.fixture(scope="module")
def doors(side: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    folder = tmp_path_factory.mktemp("doors")
    _write_certificates(folder)
    ports = dict(zip(LISTENERS, free_ports(len(LISTENERS)), strict=True))
    with served(side, _properties(folder, ports)):
        _add_users_and_topic(ports)
        yield Doors(ports, folder)


def _token(lifetime_s: float) -> str:
    now = time.time()
    return without_signature(json.dumps({"sub": USER, "iat": now - 60, "exp": now + lifetime_s}).encode())


def _attempts(doors: Doors) -> Iterator[Attempt]:
    def attempt(name: str, listener: str, mechanism: str, *, good: bool = True, certificate: str = "") -> Attempt:
        return Attempt(
            name,
            f"127.0.0.1:{doors.ports[listener]}",
            mechanism,
            user=USER,
            password=PASSWORDS[USER] if good else "guess",
            token=_token(3600 if good else -30) if mechanism == "OAUTHBEARER" else "",
            authority="" if listener == "SASL" else str(doors.folder / "ca.pem"),
            certificate=str(doors.folder / f"{certificate}.pem") if certificate else "",
        )

    for listener in ("SASL", "TLS"):
        for mechanism in MECHANISMS:
            yield attempt(f"good {mechanism} at {listener}", listener, mechanism)
            yield attempt(f"bad {mechanism} at {listener}", listener, mechanism, good=False)
    yield attempt("good certificate", "MUTUAL", "SCRAM-SHA-512", certificate="alice")
    yield attempt("no certificate", "MUTUAL", "PLAIN")
    yield attempt("foreign certificate", "MUTUAL", "PLAIN", certificate="mallory")
    yield attempt("late certificate", "MUTUAL", "PLAIN", certificate="late")
    yield attempt("foreign broker", "FOREIGN", "PLAIN")
    yield attempt("late broker", "LATE", "PLAIN")


Outcomes = Callable[[str], str]


def _outcomes(command: Sequence[str], doors: Doors) -> Outcomes:
    """What a program says of an attempt: the error, or an empty text. All are made at once."""
    told = "".join(json.dumps(asdict(each)) + "\n" for each in _attempts(doors))
    done = subprocess.run(command, input=told, capture_output=True, text=True, timeout=200, check=False)
    errors = {each["scenario"]: str(each["error"]) for each in map(json.loads, done.stdout.splitlines())}
    return lambda name: errors.get(name, f"no report: {done.stderr[-2000:]}")


@pytest.fixture(scope="module")
def outcomes(doors: Doors) -> Callable[[str], Outcomes]:
    """What `franz-go` or `kafkajs` says, whose program runs once."""

    @functools.cache
    def of(client: str) -> Outcomes:
        if client == "franz-go":
            return _outcomes([str(go_program("logins/main.go"))], doors)
        node, folder = js_folder()
        return _outcomes([node, str(folder / "logins.mjs")], doors)

    return of


# What each client tells its user, word by word the same of both brokers but for the alerts about certificates.
_GO_FAILED = "SASL_AUTHENTICATION_FAILED: SASL Authentication failed.: "
_INVALID = "Authentication failed during authentication due to invalid credentials with SASL mechanism "
_WRONG_PLAIN = "Authentication failed: Invalid username or password"
GO_REFUSED = {
    "PLAIN": _GO_FAILED + _WRONG_PLAIN,
    "SCRAM-SHA-256": f"{_GO_FAILED}{_INVALID}SCRAM-SHA-256",
    "SCRAM-SHA-512": f"{_GO_FAILED}{_INVALID}SCRAM-SHA-512",
    "OAUTHBEARER": "unexpected data in oauth response",
}
_JS_FAILED = "KafkaJSSASLAuthenticationError: SASL "
JS_REFUSED = {
    "PLAIN": f"{_JS_FAILED}PLAIN authentication failed: {_WRONG_PLAIN}",
    "SCRAM-SHA-256": f"{_JS_FAILED}SCRAM SHA256 authentication failed: {_INVALID}SCRAM-SHA-256",
    "SCRAM-SHA-512": f"{_JS_FAILED}SCRAM SHA512 authentication failed: {_INVALID}SCRAM-SHA-512",
    # it goes on where the broker waits for the end of the failed exchange
    "OAUTHBEARER": "KafkaJSNonRetriableError: Request is not valid given the current SASL state",
}
GO_CERTIFICATES = {
    "no certificate": r"remote error: tls: (certificate required|bad certificate)",
    "foreign certificate": r"remote error: tls: (unknown certificate authority|unknown certificate)",
    "late certificate": r"remote error: tls: (expired certificate|unknown certificate)",
    "foreign broker": r"unable to dial: tls: .* x509: certificate signed by unknown authority",
    "late broker": r"unable to dial: tls: .* x509: certificate has expired or is not yet valid: .*",
}
_JS_ALERT = r"KafkaJSNumberOfRetriesExceeded: Connection error: \w+:error:\w+:SSL routines:ssl3_read_bytes:"
JS_CERTIFICATES = {
    "no certificate": rf"{_JS_ALERT}\w+ alert (certificate required|bad certificate):.*",
    "foreign certificate": rf"{_JS_ALERT}\w+ alert (unknown ca|certificate unknown):.*",
    "late certificate": rf"{_JS_ALERT}\w+ alert (certificate expired|certificate unknown):.*",
    "foreign broker": r".*Connection error: self-signed certificate in certificate chain",
    "late broker": r".*Connection error: certificate has expired",
}
GOOD = [f"good {mechanism} at {listener}" for mechanism in MECHANISMS for listener in ("SASL", "TLS")]
PROTOCOLS = pytest.mark.parametrize("listener", ["SASL", "TLS"])


CLIENTS = pytest.mark.parametrize("client", ["franz-go", "kafkajs"])
REFUSED = {"franz-go": GO_REFUSED, "kafkajs": JS_REFUSED}
CERTIFICATES = {"franz-go": GO_CERTIFICATES, "kafkajs": JS_CERTIFICATES}


@CLIENTS
@pytest.mark.parametrize("attempt", [*GOOD, "good certificate"])
def test_a_log_in_with_the_right_secret_succeeds(
    outcomes: Callable[[str], Outcomes], client: str, attempt: str
) -> None:
    assert outcomes(client)(attempt) == ""


@CLIENTS
@PROTOCOLS
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_log_in_with_a_wrong_secret_is_refused(
    outcomes: Callable[[str], Outcomes], client: str, listener: str, mechanism: str
) -> None:
    assert outcomes(client)(f"bad {mechanism} at {listener}") == REFUSED[client][mechanism]


@CLIENTS
@pytest.mark.parametrize("attempt", GO_CERTIFICATES)
def test_a_wrong_certificate_is_refused(outcomes: Callable[[str], Outcomes], client: str, attempt: str) -> None:
    assert re.fullmatch(CERTIFICATES[client][attempt], outcomes(client)(attempt).strip())
