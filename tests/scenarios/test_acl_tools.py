"""Access control entries through Kafka's clients: kafka-acls, the Java admin client, librdkafka's.

The broker has an authorizer, and everybody may use what no entry concerns: so its one listener needs no log-in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

from tests.conformance.real_kafka import RealKafka
from tests.scenarios.java_host import JavaHost, scenario_names
from tests.scenarios.target import SCENARIO_CONFIG, Target, odradek_target, unique, wait_until
from tests.scenarios.test_console_tools import Shell

CONFIG: Mapping[str, str] = {
    **SCENARIO_CONFIG,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


@pytest.fixture(scope="module")
def guarded(side: str) -> Iterator[Target]:
    if side == "kafka":
        with RealKafka(config=CONFIG) as node:
            yield Target(side, node.bootstrap_servers)
    else:
        with odradek_target(config=CONFIG) as started:
            yield started
            assert not started.complaints()


@pytest.mark.jdk
@pytest.mark.parametrize("scenario", scenario_names("Acls"))
def test_the_java_admin_client_manages_acls(scenario: str, java: JavaHost, guarded: Target) -> None:
    result = java.scenario(scenario, guarded.bootstrap)
    assert result["ok"], result["error"]


@pytest.mark.jdk
def test_the_acls_tool_adds_lists_and_removes_acls(java: JavaHost, guarded: Target) -> None:
    shell, topic = Shell(java, guarded.bootstrap), unique("acl")
    who = ("--allow-principal", "User:alice")
    added = shell.run("AclCommand", "--add", *who, "--consumer", "--topic", topic, "--group", "g").stdout
    assert "Adding ACLs for resource" in added
    denied = ("--deny-principal", "User:bob", "--deny-host", "10.0.0.7")
    shell.run("AclCommand", "--add", *denied, "--operation", "Write", "--topic", topic[:-2])
    prefix = ("--topic", topic[:-1], "--resource-pattern-type", "prefixed")
    shell.run("AclCommand", "--add", *who, "--operation", "All", *prefix)

    def listed(*args: str) -> list[str]:
        return [line.strip() for line in shell.lines("AclCommand", "--list", "--topic", topic, *args)]

    wait_until("the entries", lambda: len(listed()) >= 3)
    lines = listed()
    assert (
        f"Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name={topic}, patternType=LITERAL)`:" in lines
    )
    for operation in ("READ", "DESCRIBE"):
        assert f"(principal=User:alice, host=*, operation={operation}, permissionType=ALLOW)" in lines
    match = ("--resource-pattern-type", "match")
    wait_until("matching entries", lambda: len(listed(*match)) >= 5)
    assert "(principal=User:alice, host=*, operation=ALL, permissionType=ALLOW)" in listed(*match)
    assert not any("User:bob" in line for line in listed(*match))
    shell.run("AclCommand", "--remove", "--force", "--topic", topic, "--resource-pattern-type", "match")
    wait_until("no entries", lambda: not listed("--resource-pattern-type", "match"))


def test_librdkafka_manages_acls(guarded: Target) -> None:
    admin = AdminClient({"bootstrap.servers": guarded.bootstrap, "log_level": 2})
    name = unique("acl")
    entry = AclBinding(
        ResourceType.TOPIC,
        name,
        ResourcePatternType.LITERAL,
        "User:alice",
        "*",
        AclOperation.READ,
        AclPermissionType.ALLOW,
    )
    admin.create_acls([entry])[entry].result(60)
    anybody: Any = None
    wanted = AclBindingFilter(
        ResourceType.ANY, name, ResourcePatternType.ANY, anybody, anybody, AclOperation.ANY, AclPermissionType.ANY
    )
    wait_until("the entry", lambda: admin.describe_acls(wanted).result(60) == [entry])
    assert list(admin.delete_acls([wanted])[wanted].result(60)) == [entry]
    wait_until("no entry", lambda: admin.describe_acls(wanted).result(60) == [])
