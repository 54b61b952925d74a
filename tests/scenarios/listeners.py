"""What a broker says to the clients of each of its listeners, and how many connections it takes."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.wire_client import WireClient, request_frame
from tests.scenarios.target import wait_until

HOST = "127.0.0.1"
ELSEWHERE = "127.0.0.2"
TOPIC = "seen-from-each-side"
_BROKER = 4
_SET, _DELETE = 0, 1
_SHOWN = (
    "advertised.listeners",
    "broker.id",
    "broker.rack",
    "controller.listener.names",
    "inter.broker.listener.name",
    "jmx.port",
    "listener.name.inside.max.connections",
    "listener.security.protocol.map",
    "listeners",
    "node.id",
    "process.roles",
)


def properties(inside: int, outside: int, hidden: int, controller: int) -> dict[str, str]:
    """A broker of both roles with three listeners on these ports, as a compose file writes it down."""
    return {
        "listeners": f"INSIDE://{HOST}:{inside},OUTSIDE://{HOST}:{outside},HIDDEN://{HOST}:{hidden},"
        f"CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"OUTSIDE://localhost:{outside},INSIDE://{HOST}:{inside}",
        "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,HIDDEN:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "INSIDE",
        "controller.quorum.voters": f"0@{HOST}:{controller}",
        "broker.rack": "r1",
        "listener.name.inside.max.connections": "1000",
        "jmx.port": "9101",
        "zookeeper.connect": "zookeeper:2181",
    }


def told_through(port: int) -> dict[str, Any]:
    """What a client of the listener at this port is told of brokers, the topic and a coordinator."""
    with WireClient(HOST, port) as client:
        told: dict[str, Any] = {}
        for version in (1, 5, 12):
            request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
            answer = client.request(request, max_version=version)
            told[f"metadata v{version}"] = (
                [(each.node_id, each.host, each.port, each.rack) for each in answer.brokers],
                [_partition(each) for topic in answer.topics for each in topic.partitions],
            )
        cluster = client.request(DescribeClusterRequest())
        told["cluster"] = cluster.controller_id, [(each.broker_id, each.host, each.port) for each in cluster.brokers]
        described = client.request(DescribeTopicPartitionsRequest(topics=[TopicRequest(TOPIC)]))
        told["partitions"] = [_partition(each) for topic in described.topics for each in topic.partitions]
        one = client.request(FindCoordinatorRequest(key="g"), max_version=3)
        told["coordinator v3"] = one.error_code, one.error_message, one.host, one.port
        [one] = client.request(FindCoordinatorRequest(coordinator_keys=["g"])).coordinators
        told["coordinator"] = one.error_code, one.error_message, one.node_id, one.host, one.port
        return told


def _partition(each: Any) -> tuple[Any, ...]:
    return each.error_code, each.leader_id, each.replica_nodes, each.isr_nodes, each.offline_replicas


def await_coordinator(port: int) -> None:
    """Wait until a group has its coordinator."""

    def found() -> bool:
        with WireClient(HOST, port) as client:
            [one] = client.request(FindCoordinatorRequest(coordinator_keys=["g"])).coordinators
            return bool(one.error_code == ErrorCode.NONE)

    wait_until("a coordinator", found)


def shown(port: int) -> dict[str, Any]:
    """The configs of node 0 that say where it listens."""
    with WireClient(HOST, port) as client:
        request = DescribeConfigsRequest([DescribeConfigsResource(_BROKER, "0", None)], include_synonyms=True)
        [result] = client.request(request).results
    return {
        each.name: (each.value, each.config_source, each.is_sensitive, each.read_only, each.config_type, _behind(each))
        for each in result.configs
        if each.name in _SHOWN or each.name.startswith("my.")
    }


def _behind(each: Any) -> list[tuple[str, str | None, int]]:
    return [(synonym.name, synonym.value, synonym.source) for synonym in each.synonyms]


def alter(port: int, resource: str, name: str, value: str | None) -> tuple[int, str | None]:
    """Set a config of the broker, or delete it (None); the answer."""
    config = AlterableConfig(name, _DELETE if value is None else _SET, value)
    with WireClient(HOST, port) as client:
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(_BROKER, resource, [config])])
        [answer] = client.request(request).responses
    return answer.error_code, answer.error_message


def await_config(port: int, resource: str, name: str, value: str | None) -> None:
    """Wait until the broker has taken up a config (None: one that it does not show), or forgotten it ("")."""

    def taken_up() -> bool:
        with WireClient(HOST, port) as client:
            request = DescribeConfigsRequest([DescribeConfigsResource(_BROKER, resource, None)])
            [result] = client.request(request).results
        found = {each.name: each.value for each in result.configs}
        return name not in found if value == "" else name in found and found[name] == value

    wait_until(f"{name}={value}", taken_up)


def changes(port: int) -> list[tuple[int, str | None]]:
    """Changes of names that nobody knows, and of limits: what is answered."""
    answers = [alter(port, "0", "my.dynamic", "1"), alter(port, "", "my.default", "1")]
    await_config(port, "0", "my.dynamic", None)
    await_config(port, "", "my.default", None)
    return [
        *answers,
        alter(port, "", "listener.name.inside.unknown", "1"),
        alter(port, "", "listener.name.inside.max.connections", "0"),
        alter(port, "0", "max.connections", "0"),
        alter(port, "0", "max.connection.creation.rate", "0"),
        alter(port, "0", "max.connections.per.ip", "0"),
        alter(port, "", "max.connections.per.ip.overrides", "a@b:3"),
        alter(port, "0", "advertised.listeners", "OUTSIDE://a:1"),
    ]


@contextmanager
def _dialled(port: int, host: str = HOST) -> Iterator[socket.socket]:
    with socket.create_connection((HOST, port), timeout=60, source_address=(host, 0)) as connection:
        yield connection


def _ask(connection: socket.socket) -> None:
    connection.sendall(request_frame(ApiVersionsRequest(), 0, 1))


def _is_answered(connection: socket.socket) -> bool:
    """False if the broker closed instead."""
    try:
        head = connection.recv(4, socket.MSG_WAITALL)
        return len(head) == 4 and bool(connection.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL))
    except ConnectionError:
        return False


def limits(inside: int, outside: int) -> dict[str, Any]:
    """How many connections are taken, once there are limits; `outside` must have none."""
    found: dict[str, Any] = {}
    alter(inside, "", "max.connections.per.ip.overrides", f"{ELSEWHERE}:2")
    alter(inside, "", "listener.name.outside.max.connections", "3")
    await_config(inside, "", "max.connections.per.ip.overrides", f"{ELSEWHERE}:2")
    await_config(inside, "", "listener.name.outside.max.connections", "3")
    with ExitStack() as stack:
        same = [stack.enter_context(_dialled(outside, ELSEWHERE)) for _ in range(3)]
        found["of one address"] = [_answered(each) for each in same]
    with ExitStack() as stack:
        first, *others = (stack.enter_context(_dialled(outside)) for _ in range(3))
        found["of the listener"] = [_answered(each) for each in (first, *others)]
        late = stack.enter_context(_dialled(outside))
        _ask(late)
        late.settimeout(0.5)
        try:
            found["one more"] = _is_answered(late)
        except TimeoutError:
            found["one more"] = "waits"
        first.close()
        late.settimeout(60)
        found["one more, when there is room"] = _is_answered(late)
    alter(inside, "", "listener.name.outside.max.connections", None)
    await_config(inside, "", "listener.name.outside.max.connections", "")
    return found


def _answered(connection: socket.socket) -> bool:
    try:
        _ask(connection)
    except ConnectionError:
        return False
    return _is_answered(connection)
