"""`kafka-reassign-partitions.sh --throttle`, with Kafka's own tool: what it sets, what that does, what it removes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource

from odradek import KafkaBroker
from tests.fakes.brokers import broker_fixture
from tests.scenarios.java_host import JavaHost

pytestmark = pytest.mark.jdk

TOOL = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
VALUE = bytes(10_000)
broker = broker_fixture(nodes=3, topics={"t": {"partitions": 1, "replication_factor": 2}})


def throttles(broker: KafkaBroker) -> dict[str, str]:
    """The throttles that are set, by where and what."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    wanted = [ConfigResource("broker", str(node)) for node in (1, 2, 3)] + [ConfigResource("topic", "t")]
    found: dict[str, str] = {}
    for resource in wanted:
        for name, entry in admin.describe_configs([resource])[resource].result(30).items():
            if ".replication.throttled." in name and not entry.is_default and entry.value:
                found[f"{resource.name} {name}"] = entry.value
    return found


def test_the_tool_throttles_a_reassignment(broker: KafkaBroker, java: JavaHost, tmp_path: Path) -> None:
    for _ in range(10):
        broker.produce("t", VALUE)
    leader, follower = broker.topics["t"].partitions[0].replicas
    (other,) = {1, 2, 3} - {leader, follower}
    plan = tmp_path / "plan.json"
    moved = {"topic": "t", "partition": 0, "replicas": [leader, other]}
    plan.write_text(json.dumps({"version": 1, "partitions": [moved]}))

    def run(*args: str) -> str:
        servers = broker.bootstrap_servers
        result = java.tool(TOOL, "--bootstrap-server", servers, "--reassignment-json-file", str(plan), *args)
        assert result.status == 0, result
        return result.stdout

    broker.clock.freeze()
    run("--execute", "--throttle", "10000")
    rates = {f"{node} {side}.replication.throttled.rate" for node in (1, 2, 3) for side in ("leader", "follower")}
    lists = {
        "t leader.replication.throttled.replicas": f"0:{leader},0:{follower}",
        "t follower.replication.throttled.replicas": f"0:{other}",
    }
    assert throttles(broker) == dict.fromkeys(rates, "10000") | lists
    assert broker.topics["t"].partitions[0].replica_ends[other] == 1
    assert "is still in progress" in run("--verify", "--preserve-throttles")
    broker.clock.advance(seconds=5)
    assert broker.topics["t"].partitions[0].replica_ends[other] == 5
    broker.clock.advance(seconds=5)
    assert broker.topics["t"].partitions[0].replicas == (leader, other)
    assert "is completed" in run("--verify")
    assert throttles(broker) == {}
