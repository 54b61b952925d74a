"""Directories with access control entries go both ways between odradek and a real Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

import odradek
from tests.conformance.real_kafka import RealKafka
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk
CONFIG = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
ANYTHING: Any = None
EVERYTHING = AclBindingFilter(
    ResourceType.ANY, ANYTHING, ResourcePatternType.ANY, ANYTHING, ANYTHING, AclOperation.ANY, AclPermissionType.ANY
)


def entry(name: str, pattern: ResourcePatternType = ResourcePatternType.LITERAL, host: str = "*") -> AclBinding:
    kind, operation, permission = ResourceType.TOPIC, AclOperation.READ, AclPermissionType.ALLOW
    return AclBinding(kind, name, pattern, "User:alice", host, operation, permission)


OURS = {entry("ours"), entry("o", ResourcePatternType.PREFIXED), entry("*", host="10.0.0.7")}
THEIRS = {entry("theirs"), entry("t", ResourcePatternType.PREFIXED)}


def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})


def create(bootstrap: str, entries: set[AclBinding]) -> None:
    client = admin(bootstrap)
    for future in client.create_acls(list(entries)).values():
        future.result(60)


def delete(bootstrap: str, gone: AclBinding) -> None:
    one = AclBindingFilter(
        gone.restype,
        gone.name,
        gone.resource_pattern_type,
        gone.principal,
        gone.host,
        gone.operation,
        gone.permission_type,
    )
    client = admin(bootstrap)
    assert list(client.delete_acls([one])[one].result(60)) == [gone]


def expect(bootstrap: str, entries: set[AclBinding]) -> None:
    client = admin(bootstrap)
    wait_until("the entries", lambda: set(client.describe_acls(EVERYTHING).result(60)) == entries)


def test_entries_go_there_and_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with odradek.KafkaBroker(data_dir=data, config={"node.id": 0, **CONFIG}) as broker:
        create(broker.bootstrap_servers, OURS)
        delete(broker.bootstrap_servers, entry("ours"))
    kept = OURS - {entry("ours")}
    kafka = RealKafka(folder=tmp_path, config=CONFIG)
    with kafka.running():
        expect(kafka.bootstrap_servers, kept)
        create(kafka.bootstrap_servers, THEIRS)
        delete(kafka.bootstrap_servers, entry("*", host="10.0.0.7"))
    with odradek.KafkaBroker(data_dir=data, config={"node.id": 0, **CONFIG}) as broker:
        expect(broker.bootstrap_servers, THEIRS | {entry("o", ResourcePatternType.PREFIXED)})
        create(broker.bootstrap_servers, {entry("ours")})
    with odradek.KafkaBroker(data_dir=data, config={"node.id": 0, **CONFIG}) as broker:
        expect(broker.bootstrap_servers, THEIRS | {entry("o", ResourcePatternType.PREFIXED), entry("ours")})


def test_a_directory_of_kafka_is_taken_over_with_its_entries(tmp_path: Path) -> None:
    kafka = RealKafka(folder=tmp_path, config=CONFIG)
    with kafka.running():
        create(kafka.bootstrap_servers, THEIRS)
    with odradek.KafkaBroker(data_dir=tmp_path / "data", config={"node.id": 0, **CONFIG}) as broker:
        expect(broker.bootstrap_servers, THEIRS)
