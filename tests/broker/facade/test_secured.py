"""Brokers started with `Security`, and clients that log in, or do not."""

from __future__ import annotations

from typing import Any

import pytest

from odradek import Acl, KafkaBroker, Security
from odradek.client_security.errors import AuthenticationError
from odradek.client_security.options import ClientSecurity, security_options
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient

USERS = {"alice": "a-secret", "bob": 'b"secret'}


def connect(config: dict[str, Any]) -> WireClient:
    """A raw client with what `client_config` says for librdkafka."""
    host, _, port = config["bootstrap.servers"].partition(",")[0].rpartition(":")
    return WireClient(host, int(port), security=ClientSecurity.parse(security_options(config)))


def write(client: WireClient, topic: str = "orders") -> int:
    """The error code of a Produce."""
    batch = build_batch([Record(0, 1, None, b"v")])
    asked = TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch)])
    response = client.request(ProduceRequest(None, -1, 1000, [asked]), 9)
    code: int = response.responses[0].partition_responses[0].error_code
    return code


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("tls", [False, True])
def test_users_log_in(mechanism: str, tls: bool) -> None:
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
        assert broker.client_config("anyone", "java") == {"bootstrap.servers": broker.bootstrap_servers}
        assert broker.denied == []


def test_listeners_are_given_once() -> None:
    with pytest.raises(ValueError, match="no listeners in config"):
        KafkaBroker(config={"listeners": "PLAINTEXT://:0"}, security=Security(tls=True))
