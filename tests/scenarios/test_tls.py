"""TLS as clients see it, on a broker started with one properties file: the same on odradek and on a real Kafka."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aiokafka
import confluent_kafka
import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from odradek.broker.security.tls.stores import read_jks, to_pem
from tests.broker.security.tls.vectors import store_bytes, write_store
from tests.conformance.real_kafka import free_ports, run_tool
from tests.fakes.certificates import Certificate, issued_by, new_authority
from tests.scenarios.python_clients import kafka
from tests.scenarios.target import served, unique, wait_until

LISTENERS = ("PLAINTEXT", "SSL", "MUTUAL", "WANTED", "STORES")
_API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 7, -1)


class Secured(NamedTuple):
    """A broker with a listener of each kind. `folder` has PEM files of key and chain by the certificate's name."""

    ports: dict[str, int]
    folder: Path

    def address(self, listener: str) -> str:
        return f"127.0.0.1:{self.ports[listener]}"

    def path(self, name: str) -> str:
        return str(self.folder / f"{name}.pem")

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.address("PLAINTEXT"), "log_level": 2})


@pytest.fixture(scope="module")
def secured(side: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("stores")
    _write_certificates(folder)
    ports = dict(zip(LISTENERS, free_ports(len(LISTENERS)), strict=True))
    with served(side, _properties(folder, ports), secrets=["storepass"]):
        yield Secured(ports, folder)


def _write_certificates(folder: Path) -> None:
    authority, foreign = new_authority("Test CA"), new_authority("Foreign CA")
    hosts = ["localhost", "127.0.0.1"]
    made: dict[str, Certificate] = {
        "broker": issued_by(authority, "broker", hosts=hosts),
        "renewed": issued_by(authority, "broker", hosts=hosts),
        "other": issued_by(authority, "other", hosts=hosts),
        "alice": issued_by(authority, "alice", organisation="Odradek, Inc."),
        "bob": issued_by(authority, "bob"),
        "mallory": issued_by(foreign, "mallory"),
        "late": issued_by(authority, "late", days=(-9, -1)),
    }
    for name, each in made.items():
        (folder / f"{name}.pem").write_text(each.key_pem + each.chain_pem)
        (folder / f"{name}.crt").write_text(each.pem)
    (folder / "ca.pem").write_text(authority.pem)
    (folder / "live.pem").write_text((folder / "broker.pem").read_text())
    vector = dict(read_jks(store_bytes("rsa.jks"), None, None).trusted)["ca"]
    (folder / "vector-ca.pem").write_text(to_pem("CERTIFICATE", vector))
    write_store("rsa.jks", folder)
    write_store("trust.PKCS12", folder)


def _properties(folder: Path, ports: dict[str, int]) -> dict[str, str]:
    protocols = {name: "PLAINTEXT" if name == "PLAINTEXT" else "SSL" for name in LISTENERS}
    return {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:ALICE",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "live.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.mutual.ssl.principal.mapping.rules": "RULE:^CN=(alice),.*$/$1/U",
        "listener.name.wanted.ssl.client.auth": "requested",
        "listener.name.stores.ssl.keystore.type": "JKS",
        "listener.name.stores.ssl.keystore.location": str(folder / "rsa.jks"),
        "listener.name.stores.ssl.keystore.password": "storepass",
        "listener.name.stores.ssl.key.password": "keypass1",
        "listener.name.stores.ssl.truststore.type": "PKCS12",
        "listener.name.stores.ssl.truststore.location": str(folder / "trust.PKCS12"),
        "listener.name.stores.ssl.truststore.password": "trustpass",
        "listener.name.stores.ssl.enabled.protocols": "TLSv1.2",
        "listener.name.stores.ssl.cipher.suites": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    }


def _context(secured: Secured, certificate: str | None = None, version: str | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=secured.path("ca"))
    if certificate is not None:
        context.load_cert_chain(secured.path(certificate))
    if version is not None:
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    return context


def _connected(secured: Secured, listener: str, context: ssl.SSLContext) -> ssl.SSLSocket:
    plain = socket.create_connection(("127.0.0.1", secured.ports[listener]), 60)
    try:
        return context.wrap_socket(plain, server_hostname="127.0.0.1")
    except OSError:
        plain.close()
        raise


def _outcome(secured: Secured, listener: str, context: ssl.SSLContext) -> str:
    """`served`, `alert` or `closed`: what becomes of a client that asks for the versions."""
    try:
        with _connected(secured, listener, context) as tls:
            tls.sendall(_API_VERSIONS)
            return "served" if tls.recv(100) else "closed"
    except ssl.SSLError as error:
        return "alert" if "ALERT" in str(error.reason) else f"closed: {error.reason}"
    except ConnectionError:
        return "closed"


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
@pytest.mark.parametrize(
    ("listener", "certificate", "outcome"),
    [
        ("SSL", None, "served"),
        ("SSL", "mallory", "served"),
        ("MUTUAL", None, "alert"),
        ("MUTUAL", "alice", "served"),
        ("MUTUAL", "mallory", "alert"),
        ("MUTUAL", "late", "alert"),
        ("MUTUAL", "bob", "closed"),  # no rule has a name for it
        ("WANTED", None, "served"),
        ("WANTED", "bob", "served"),
        ("WANTED", "mallory", "alert"),
        ("WANTED", "late", "alert"),
    ],
)
def test_tls_listeners_let_in_certificates_and_versions_as_configured(
    secured: Secured, version: str, listener: str, certificate: str | None, outcome: str
) -> None:
    assert _outcome(secured, listener, _context(secured, certificate, version)) == outcome


def test_stores_versions_and_suites_of_a_listener(secured: Secured) -> None:
    context = ssl.create_default_context(cafile=secured.path("vector-ca"))
    with _connected(secured, "STORES", context) as tls:
        assert tls.cipher() == ("ECDHE-RSA-AES128-GCM-SHA256", "TLSv1.2", 128)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    assert _outcome(secured, "STORES", context) == "alert"


def test_a_client_that_speaks_plain_text_gets_an_alert(secured: Secured) -> None:
    with socket.create_connection(("127.0.0.1", secured.ports["SSL"])) as plain:
        plain.sendall(_API_VERSIONS)
        answer = b""
        while piece := plain.recv(100):
            answer += piece
    assert answer.hex() == "15030300020250"


def test_a_tls_client_of_a_plain_listener_is_cut(secured: Secured) -> None:
    assert _outcome(secured, "PLAINTEXT", _context(secured)).startswith("closed")


def test_principals_are_the_names_of_certificates(secured: Secured) -> None:
    """Each principal may see the topic of its own name alone; ALICE is a super user and sees all."""
    principals = {"User:CN=bob": unique("bob"), "User:CN=alice,O=Odradek\\, Inc.": unique("alice")}
    admin = secured.admin()
    for topic in principals.values():
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    bindings = [
        AclBinding(
            ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, principal, "*", AclOperation.DESCRIBE,
            AclPermissionType.ALLOW,
        )
        for principal, topic in principals.items()
    ]  # fmt: skip
    for future in admin.create_acls(bindings).values():
        future.result(60)
    topics = set(principals.values())

    def seen(listener: str, certificate: str) -> set[str]:
        client = AdminClient(_librdkafka(secured, listener, certificate))
        return set(client.list_topics(timeout=60).topics) & topics

    wait_until("bob sees his topic", lambda: seen("WANTED", "bob") == {principals["User:CN=bob"]})
    assert seen("WANTED", "alice") == topics - {principals["User:CN=bob"]}
    assert seen("MUTUAL", "alice") == topics  # a rule made her ALICE


def _librdkafka(secured: Secured, listener: str, certificate: str | None = None, **more: Any) -> dict[str, Any]:
    given = {
        "bootstrap.servers": secured.address(listener),
        "security.protocol": "SSL",
        "ssl.ca.location": secured.path("ca"),
        "log_level": 2,
        **more,
    }
    if certificate is not None:
        given |= {"ssl.certificate.location": secured.path(certificate), "ssl.key.location": secured.path(certificate)}
    return given


def _topic(secured: Secured) -> str:
    name = unique("tls")
    admin = secured.admin()
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(60)
    return name


WAYS = [("SSL", None), ("MUTUAL", "alice")]
VALUES = [bytes([number]) * size for number, size in enumerate([1, 100, 20_000, 700_000, 3])]


@pytest.mark.parametrize(("listener", "certificate"), WAYS)
def test_confluent_kafka_connects_with_tls(secured: Secured, listener: str, certificate: str | None) -> None:
    topic = _topic(secured)
    producer = confluent_kafka.Producer(_librdkafka(secured, listener, certificate))
    for value in VALUES:
        producer.produce(topic, value)
    assert producer.flush(60) == 0
    reading = {"group.id": unique("g"), "auto.offset.reset": "earliest"}
    consumer = confluent_kafka.Consumer(_librdkafka(secured, listener, certificate, **reading))
    consumer.subscribe([topic])
    found: list[bytes] = []
    while len(found) < len(VALUES):
        for message in consumer.consume(10, 1):
            assert message.error() is None
            found.append(message.value() or b"")
    consumer.close()
    assert found == VALUES


@pytest.mark.parametrize(("listener", "certificate"), WAYS)
def test_kafka_python_connects_with_tls(secured: Secured, listener: str, certificate: str | None) -> None:
    topic = _topic(secured)
    way: dict[str, Any] = {
        "bootstrap_servers": secured.address(listener),
        "security_protocol": "SSL",
        "ssl_context": _context(secured, certificate),
    }
    producer = kafka.KafkaProducer(**way)
    for value in VALUES:
        producer.send(topic, value).get(60)
    producer.close()
    consumer = kafka.KafkaConsumer(topic, **way, auto_offset_reset="earliest", consumer_timeout_ms=60_000)
    found = [next(consumer).value for _ in VALUES]
    consumer.close()
    assert found == VALUES


@pytest.mark.parametrize(("listener", "certificate"), WAYS)
def test_aiokafka_connects_with_tls(secured: Secured, listener: str, certificate: str | None) -> None:
    topic = _topic(secured)
    way: dict[str, Any] = {
        "bootstrap_servers": secured.address(listener),
        "security_protocol": "SSL",
        "ssl_context": _context(secured, certificate),
    }

    async def run() -> list[bytes | None]:
        async with aiokafka.AIOKafkaProducer(**way) as producer:
            for value in VALUES:
                await producer.send_and_wait(topic, value)
        async with aiokafka.AIOKafkaConsumer(topic, **way, auto_offset_reset="earliest") as consumer:
            return [(await consumer.getone()).value for _ in VALUES]

    assert asyncio.run(run()) == VALUES


@pytest.mark.jdk
def test_the_java_client(secured: Secured, tmp_path: Path) -> None:
    topic = _topic(secured)

    def tool(name: str, certificate: str, *arguments: str, stdin: str | None = None) -> str:
        properties = tmp_path / f"{certificate}.properties"
        properties.write_text(
            "security.protocol=SSL\nssl.truststore.type=PEM\nssl.keystore.type=PEM\n"
            f"ssl.truststore.location={secured.path('ca')}\nssl.keystore.location={secured.path(certificate)}\n"
        )
        address = ["--bootstrap-server", secured.address("MUTUAL"), "--command-config", str(properties)]
        done = run_tool(name, *address, *arguments, stdin=stdin)
        return done.stdout + done.stderr

    tool("org.apache.kafka.tools.ConsoleProducer", "alice", "--topic", topic, stdin="one\ntwo\n")
    reading = ["--topic", topic, "--from-beginning", "--max-messages", "2"]
    assert "one\ntwo\n" in tool("org.apache.kafka.tools.consumer.ConsoleConsumer", "alice", *reading)
    refused = tool("org.apache.kafka.tools.TopicCommand", "mallory", "--list")
    assert "SslAuthenticationException" in refused


def test_certificates_are_replaced_while_the_broker_runs(secured: Secured) -> None:
    admin = secured.admin()
    own = "listener.name.ssl.ssl.keystore.location"

    def served() -> str:
        with _connected(secured, "SSL", _context(secured)) as tls:
            certificate = tls.getpeercert(binary_form=True)
        assert certificate is not None
        return ssl.DER_cert_to_PEM_cert(certificate)

    def alter(value: str | None) -> None:
        kind = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        change = ConfigResource(
            ConfigResource.Type.BROKER, "0", incremental_configs=[ConfigEntry(own, value, incremental_operation=kind)]
        )
        admin.incremental_alter_configs([change])[change].result(60)

    def pem(name: str) -> str:
        return (secured.folder / f"{name}.crt").read_text()

    def refused(name: str) -> str:
        with pytest.raises(confluent_kafka.KafkaException) as caught:
            alter(secured.path(name))
        error = caught.value.args[0]
        assert error.name() == "INVALID_REQUEST"
        return str(error.str())

    assert served() == pem("broker")
    alter(secured.path("renewed"))
    wait_until("the new certificate", lambda: served() == pem("renewed"))
    assert "Keystore DistinguishedName does not match" in refused("other")
    assert "Failed to load PEM SSL keystore" in refused("nothing")
    assert "Failed to load PEM SSL keystore" in refused("ca")
    assert served() == pem("renewed")
    alter(secured.path("live"))
    wait_until("the first certificate", lambda: served() == pem("broker"))
    shutil.copy(secured.path("renewed"), secured.path("live"))
    alter(secured.path("live"))  # the same value: the file is read again
    wait_until("the file's new certificate", lambda: served() == pem("renewed"))
    alter(None)


def test_secrets_are_never_told(secured: Secured) -> None:
    resource = ConfigResource(ConfigResource.Type.BROKER, "0")
    admin = secured.admin()
    entries = admin.describe_configs([resource])[resource].result(60)
    for name in ("listener.name.stores.ssl.keystore.password", "listener.name.stores.ssl.key.password"):
        entry = entries[name]
        assert (entry.value, entry.is_sensitive) == (None, True)
        assert {synonym.value for synonym in entry.synonyms.values()} == {None}
