"""Hosts of access control entries: what a real Kafka 4.4.0 took, and which entries let a client of 127.0.0.1 write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.controller.acl_control import NETWORKS_FROM, AclControl
from odradek.broker.controller.commands import CreateAcls
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.acl import Acl, Operation, Pattern, Permission, Resource
from odradek.broker.security.acl_hosts import contains, is_network, parse_network
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from tests.scenarios.acl_hosts import ADDRESSES, CONFIG, HOSTS, allowed, ask

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "acl_hosts.json").read_text(encoding="utf-8")
)


def entry(host: str) -> Acl:
    return Acl(Resource.TOPIC, "t", Pattern.LITERAL, "User:a", host, Operation.WRITE, Permission.ALLOW)


def told(error: KafkaError | None) -> list[Any]:
    return [0, ""] if error is None else [error.code, error.message]


def test_as_a_real_kafka_answered() -> None:
    with KafkaBroker(kafka_version="4.4", config=CONFIG) as broker:
        host, port = broker.bootstrap_servers.split(":")
        assert ask(host, int(port)) == RECORDED["4.4-IV2"]
        assert broker.bugs == []


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_client_of_either_family_has_its_own_address_on_one_listener(address: str) -> None:
    with KafkaBroker(kafka_version="4.4", config={**CONFIG, "listeners": "PLAINTEXT://[::]:0"}) as broker:
        assert allowed(address, broker.cluster.nodes[1].port) == ADDRESSES[address]
        assert broker.bugs == []


def test_below_the_level_no_network_is_taken() -> None:
    writer = ImageWriter()
    writer.replay(FeatureLevelRecord("metadata.version", NETWORKS_FROM - 1), 0, 1)
    _, results = AclControl(writer.image, knows_networks=True).create(CreateAcls([entry(host) for host in HOSTS]))
    recorded = RECORDED["4.4-IV0"]["hosts"]
    assert [told(result) for result in results] == [recorded[host][:2] for host in HOSTS]


def test_before_4_4_a_network_is_any_text() -> None:
    with KafkaBroker(kafka_version="4.3", config=CONFIG) as broker:
        host, port = broker.bootstrap_servers.split(":")
        answers = ask(host, int(port))["hosts"]
        assert {text: answer for text, answer in answers.items() if answer[0]} == {}
        assert [text for text, answer in answers.items() if answer[2]] == ["*", "127.0.0.1"]


@pytest.mark.parametrize(
    ("network", "inside", "outside"),
    [
        ("10.1.2.3/8", "10.255.0.1", "11.0.0.0"),
        ("0.0.0.0/0", "255.255.255.255", "::1"),
        ("fe80::/10", "febf::1", "fec0::"),
        ("::/0", "2001:db8::1", "127.0.0.1"),
        ("[2001:DB8::1]/127", "2001:db8::", "2001:db8::2"),
    ],
)
def test_addresses_in_networks(network: str, inside: str, outside: str) -> None:
    assert is_network(network)
    assert contains(network, inside)
    assert not contains(network, outside)
    assert not contains(network, "nobody")


def test_a_text_that_is_no_network_contains_nothing() -> None:
    assert not contains("10.0.0.0/33", "10.0.0.1")
    with pytest.raises(ValueError, match="not in range"):
        parse_network("10.0.0.0/33")
