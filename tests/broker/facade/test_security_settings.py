"""Security settings: ACLs, users, TLS, and clients that use them."""

from __future__ import annotations

import builtins
import ssl
from typing import Any

import pytest

from odradek import Acl, KafkaBroker, Security
from odradek.broker.facade.security_settings import Certificates, Secured
from odradek.broker.security.acl import Acl as Entry
from odradek.broker.security.acl import Operation, Pattern, Permission, Resource
from odradek.client_security.options import AuthenticationError, ClientSecurity, security_options
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient


def test_a_right_on_a_topic() -> None:
    entry = Entry(Resource.TOPIC, "orders", Pattern.LITERAL, "User:alice", "*", Operation.READ, Permission.ALLOW)
    assert Acl("alice", "read", topic="orders").entries == [entry]
    assert Acl("User:alice", ["READ"], topic="orders").entries == [entry]


def test_several_operations_prefixes_hosts_and_denials() -> None:
    acl = Acl("*", ["WRITE", "CREATE"], topic="in-", prefixed=True, deny=True, host="10.0.0.1")
    assert [entry.operation for entry in acl.entries] == [Operation.WRITE, Operation.CREATE]
    assert {entry[1:5] for entry in acl.entries} == {("in-", Pattern.PREFIXED, "User:*", "10.0.0.1")}
    assert {entry.permission for entry in acl.entries} == {Permission.DENY}


@pytest.mark.parametrize(
    ("given", "resource", "name"),
    [
        ({"group": "g"}, Resource.GROUP, "g"),
        ({"transactional_id": "t"}, Resource.TRANSACTIONAL_ID, "t"),
        ({"delegation_token": "d"}, Resource.DELEGATION_TOKEN, "d"),
        ({"of_user": "bob"}, Resource.USER, "User:bob"),
        ({"cluster": True}, Resource.CLUSTER, "kafka-cluster"),
    ],
)
def test_acl_entries_are_made_for_every_kind_of_resource(given: dict[str, Any], resource: Resource, name: str) -> None:
    (entry,) = Acl("alice", "DESCRIBE", **given).entries
    assert (entry.resource, entry.name) == (resource, name)


@pytest.mark.parametrize(
    ("operations", "given", "message"),
    [
        ("READ", {}, "exactly one"),
        ("READ", {"topic": "a", "group": "b"}, "exactly one"),
        ("READ", {"topic": ""}, "exactly one"),
        ("ALTER", {"cluster": True, "prefixed": True}, "no prefix"),
        ("REED", {"topic": "a"}, r"unknown operation REED \(did you mean 'READ'\?\)"),
        ("ANY", {"topic": "a"}, "unknown operation ANY"),
        ([], {"topic": "a"}, "at least one operation"),
    ],
)
def test_mistakes_in_acls_are_named(operations: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Acl("alice", operations, **given)


def test_security_shows_what_it_says() -> None:
    assert "principal=User:alice" in repr(Acl("alice", "READ", topic="orders"))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"mechanisms": ["CRAM"]}, ValueError, "mechanisms"),
        ({"client_certificates": "maybe"}, ValueError, "none, requested or required"),
        ({"client_certificates": "required"}, ValueError, "tls=True"),
        ({"users": {"a": "b"}, "mechanisms": []}, ValueError, "at least one mechanism"),
        ({"acls": ["alice may read"]}, TypeError, r"odradek\.Acl"),
        ({"authorizer": False, "acls": [Acl("a", "READ", topic="t")]}, ValueError, "would have no effect"),
    ],
)
def test_security_with_mistakes_is_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Security(**given)


@pytest.mark.parametrize(
    ("given", "protocol"),
    [
        ({}, "PLAINTEXT"),
        ({"tls": True}, "SSL"),
        ({"users": {"a": "b"}}, "SASL_PLAINTEXT"),
        ({"users": {"a": "b"}, "tls": True}, "SASL_SSL"),
        ({"mechanisms": ["OAUTHBEARER"]}, "SASL_PLAINTEXT"),
    ],
)
def test_the_protocol_is_what_is_asked_for(given: dict[str, Any], protocol: str) -> None:
    assert Security(**given).protocol == protocol


def test_an_authorizer_comes_with_rights() -> None:
    assert not Security().authorizes
    assert Security(acls=[Acl("a", "READ", topic="t")]).authorizes
    assert Security(super_users=["admin"]).authorizes
    config = Secured(Security(authorizer=True, super_users=["admin", "User:CN=x"]), "127.0.0.1", 0).config({})
    assert config["super.users"] == "User:admin;User:CN=x"
    assert config["authorizer.class.name"].endswith("StandardAuthorizer")


def test_passwords_are_quoted_for_jaas_and_never_shown() -> None:
    security = Security(users={"alice": 'a"b\\c'}, mechanisms=["PLAIN"])
    config = Secured(security, "::1", 9092).config({})
    assert config["listeners"] == "SASL_PLAINTEXT://[::1]:9092"
    assert config["listener.name.sasl_plaintext.plain.sasl.jaas.config"].endswith('user_alice="a\\"b\\\\c";')
    assert 'a"b' not in repr(security)


def test_security_certificates_become_stores() -> None:
    config = Secured(Security(tls=True, client_certificates="required"), "127.0.0.1", 0).config({})
    assert config["ssl.keystore.key"].startswith("-----BEGIN PRIVATE KEY-----")
    assert config["listener.name.ssl.ssl.client.auth"] == "required"
    assert config["ssl.principal.mapping.rules"].startswith("RULE:")


def test_who_logs_in_must_be_known() -> None:
    security = Secured(Security(users={"alice": "x"}, mechanisms=["PLAIN", "SCRAM-SHA-256"]), "127.0.0.1", 0)
    assert security.access("a:1", "alice", None).mechanism == "PLAIN"
    assert security.access("a:1", "alice", "SCRAM-SHA-256").mechanism == "SCRAM-SHA-256"
    with pytest.raises(ValueError, match="needs a user: one of alice"):
        security.access("a:1", None, None)
    with pytest.raises(ValueError, match="no user bob"):
        security.access("a:1", "bob", None)
    with pytest.raises(ValueError, match="takes PLAIN, SCRAM-SHA-256"):
        security.access("a:1", "alice", "SCRAM-SHA-512")


USERS = {"alice": "a-secret", "bob": 'b"secret'}


def connect(config: dict[str, Any]) -> WireClient:
    """A raw client with what `client_config` says for librdkafka."""
    return WireClient.at(config["bootstrap.servers"], security=ClientSecurity.parse(security_options(config)))


def write(client: WireClient, topic: str = "orders") -> int:
    """The error code of a Produce."""
    batch = build_batch([Record(0, 1, None, b"v")])
    asked = TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch)])
    response = client.request(ProduceRequest(None, -1, 1000, [asked]), 9)
    code: int = response.responses[0].partition_responses[0].error_code
    return code


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("tls", [False, True])
def test_security_users_log_in(mechanism: str, tls: bool) -> None:
    with KafkaBroker(topics=["orders"], security=Security(tls=tls, users=USERS)) as broker:
        for user in USERS:
            with connect(broker.client_config(user, mechanism=mechanism)) as client:
                assert write(client) == 0
        assert len(list(broker.records("orders"))) == 2
        assert not broker.denied


def test_rights_are_checked_and_refusals_told() -> None:
    security = Security(users=USERS, acls=[Acl("alice", "WRITE", topic="orders")], mechanisms=["PLAIN"])
    with KafkaBroker(topics=["orders"], security=security) as broker:
        with connect(broker.client_config("alice")) as alice:
            assert write(alice) == 0
        with connect(broker.client_config("bob")) as bob:
            assert write(bob) == ErrorCode.TOPIC_AUTHORIZATION_FAILED
        (denied,) = broker.denied
        assert (denied.principal, denied.operation, denied.resource_name, denied.api) == (
            "User:bob",
            "WRITE",
            "orders",
            "Produce",
        )


def test_a_wrong_password_is_refused_and_told() -> None:
    with KafkaBroker(security=Security(users=USERS, mechanisms=["PLAIN"])) as broker:
        config = broker.client_config("alice") | {"sasl.password": "guess"}
        with pytest.raises(AuthenticationError):
            connect(config)
        assert [denial.operation for denial in broker.denied] == ["LOGIN"]
        assert "guess" not in str(broker.denied)


def test_certificates_of_clients_are_users() -> None:
    security = Security(tls=True, client_certificates="required", acls=[Acl("alice", "WRITE", topic="orders")])
    with KafkaBroker(topics=["orders"], security=security) as broker:
        with connect(broker.client_config("alice")) as alice:
            assert write(alice) == 0
        with connect(broker.client_config("bob")) as bob:
            assert write(bob) == ErrorCode.TOPIC_AUTHORIZATION_FAILED
        assert broker.denied[0].principal == "User:bob"


def test_every_node_of_a_cluster_is_secured() -> None:
    with KafkaBroker(nodes=3, security=Security(tls=True, users=USERS)) as broker:
        with connect(broker.client_config("alice")) as client:
            found = client.request(MetadataRequest(topics=None), 12)
        ports = [int(address.rpartition(":")[2]) for address in broker.bootstrap_servers.split(",")]
        assert sorted(each.port for each in found.brokers) == sorted(ports)
        for port in ports:
            servers = {"bootstrap.servers": f"127.0.0.1:{port}"}
            connect(broker.client_config("bob") | servers).close()


def test_a_broker_without_security_gives_its_address() -> None:
    with KafkaBroker() as broker:
        assert broker.client_config() == {"bootstrap.servers": broker.bootstrap_servers}
        assert broker.client_config(client="java") == {"bootstrap.servers": broker.bootstrap_servers}
        assert broker.denied == []


def test_security_beside_configured_listeners_is_refused() -> None:
    with pytest.raises(ValueError, match="do not set listeners in config"):
        KafkaBroker(config={"listeners": "PLAINTEXT://:0"}, security=Security(tls=True))


def test_the_servers_certificate_is_good_for_localhost_and_its_address() -> None:
    certificates = Certificates("127.0.0.9")
    client = ssl.create_default_context(cafile=str(certificates.authority_file))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    folder = certificates.authority_file.parent
    (folder / "chain.pem").write_text(certificates.server_chain)
    (folder / "key.pem").write_text(certificates.server_key)
    server.load_cert_chain(folder / "chain.pem", folder / "key.pem")
    for name in ("localhost", "127.0.0.1", "::1", "127.0.0.9"):
        _handshake(client, server, name)
    with pytest.raises(ssl.SSLCertVerificationError):
        _handshake(client, server, "127.0.0.8")


def test_a_user_has_one_certificate_with_its_name() -> None:
    certificates = Certificates("127.0.0.1")
    certificate, key = certificates.files_of("alice")
    assert certificates.files_of("alice") == (certificate, key)
    assert certificates.files_of("bob")[0] != certificate
    assert "BEGIN PRIVATE KEY" in key.read_text(), "Java reads PKCS#8 only"
    assert (key.stat().st_mode & 0o077) == 0
    assert "PRIVATE" not in repr(certificates)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "trustme":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'odradek\[security\]'"):
        Certificates("127.0.0.1")


def _handshake(client: ssl.SSLContext, server: ssl.SSLContext, name: str) -> None:
    """A handshake in memory; SSLError if either side refuses the other."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname=name)
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    waiting = [ours, theirs]
    while waiting:
        for side in list(waiting):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            waiting.remove(side)
