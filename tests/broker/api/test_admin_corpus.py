"""The recorded exchanges of the administration APIs: the same request in the same situation gets the same answer.

The set-up calls are not recorded, so each case is put into its situation here. Compared is the whole answer but what
the server makes up (ids, times, sizes); lists of all topics and of deletions have no order of their own.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import DEFAULTS_OF_ODRADEK
from odradek.broker.metadata.image import ResourceType
from odradek.broker.metadata.topic_name_rules import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.json_form import from_json, to_json
from odradek.protocol.uuids import uuid_from_text
from tests.fakes.ask import ask
from tests.fakes.configs import set_configs

VECTORS = Path(__file__).parents[2] / "vectors" / "corpus.jsonl.gz"
APIS = {
    "AlterConfigs",
    "AlterPartitionReassignments",
    "CreatePartitions",
    "CreateTopics",
    "DeleteTopics",
    "DescribeCluster",
    "DescribeConfigs",
    "DescribeLogDirs",
    "DescribeQuorum",
    "DescribeTopicPartitions",
    "ElectLeaders",
    "IncrementalAlterConfigs",
    "ListConfigResources",
    "ListPartitionReassignments",
    "Metadata",
    "UpdateFeatures",
}
# What the recording broker, a Kafka 4.3.1, was started with, as far as it shows.
STATIC = {
    "odradek.kafka.version": "4.3",
    "auto.create.topics.enable": "true",
    "log.retention.ms": "-1",
    "num.partitions": "1",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
}
TOPICS = {"g-lat": 1, "g-grp2": 2, "g-txn": 2, "g-col.lide": 1, "g-dt-v5": 1, "g-dt-v6": 1}
MADE_UP = {"logDir", "partitionSize", "totalBytes", "usableBytes"}
OF_THE_QUORUM = {
    "highWatermark",
    "lastCaughtUpTimestamp",
    "lastFetchTimestamp",
    "leaderEpoch",
    "listeners",
    "logEndOffset",
    "replicaDirectoryId",
}
NO_ID = "A" * 22
OWN_DEFAULTS = {*DEFAULTS_OF_ODRADEK, *(name.removeprefix("group.") for name in DEFAULTS_OF_ODRADEK)}


def recorded() -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in gzip.decompress(VECTORS.read_bytes()).splitlines()]
    return [row for row in rows if row["api"] in APIS and row["instance"] == "o1" and not row.get("principal")]


def situation(row: dict[str, Any]) -> Cluster:
    """A cluster as the recording one was when it got this request, as far as the answer shows it."""
    cluster = Cluster(config=STATIC, cluster_id="MkU3OEVBNTcwNTJENDM2Qk")
    cluster.nodes[1].first.port = 19392
    case: str = row["case"]
    if case.endswith(".all") and row["api"] in ("Metadata", "DescribeLogDirs"):
        for topic in row["response_json"].get("topics") or row["response_json"]["results"][0]["topics"]:
            create_internal_or(cluster, topic["name"], len(topic["partitions"]))
        return cluster
    cluster.adopt_topic("g-data", uuid_from_text("1EP9I171T2a1q0Xd1olHHg"), [[1], [1]], {})
    cluster.create_topic("g-cfg", configs={"retention.ms": "777777"})
    for name, partitions in TOPICS.items():
        cluster.create_topic(name, partitions=partitions)
    version = row["version"]
    if row["api"] == "CreatePartitions":
        before = {"ok": 2, "assignment-bad-broker": 4}.get(case.split(".")[2], 3)
        cluster.create_topic(f"g-cp-v{version}", partitions=before)
    elif case.endswith("mixed-errors"):
        cluster.create_topic(f"g-ct-v{version}-a", partitions=3)
    elif case == "CreateTopics.v7.name-too-long":
        cluster.delete_topic("g-col.lide")
    elif case == "DeleteTopics.v6.again":
        cluster.delete_topic("g-dt-v6")
    elif case == "DescribeConfigs.v4.after-incremental-0" or row["api"] == "ListConfigResources":
        configure(cluster)
    return cluster


def create_internal_or(cluster: Cluster, name: str, partitions: int) -> None:
    if name in (CONSUMER_OFFSETS, TRANSACTION_STATE):
        cluster.ensure_topic(name)
    else:
        cluster.create_topic(name, partitions=partitions)


def configure(cluster: Cluster) -> None:
    changes = (
        (ResourceType.TOPIC, "g-cfg", {"cleanup.policy": "compact", "max.message.bytes": "2000000"}),
        (ResourceType.BROKER, "1", {"log.cleaner.threads": "2"}),
        (ResourceType.GROUP, "g-cg-cfg", {"consumer.session.timeout.ms": "50000"}),
        (ResourceType.GROUP, "g-sg", {"share.auto.offset.reset": "earliest"}),
        (ResourceType.CLIENT_METRICS, "g-cm", {"interval.ms": "5000", "metrics": "*"}),
    )
    for kind, name, values in changes:
        set_configs(cluster, kind, name, values)


def comparable(form: Any, made_up: set[str], key: str = "") -> Any:
    if key in made_up:
        return "made up"
    if isinstance(form, dict):
        if form.get("name") in OWN_DEFAULTS and "value" in form:
            form = {**form, "value": "our own"}
        return {name: comparable(value, made_up, name) for name, value in form.items()}
    if isinstance(form, list):
        items = [comparable(item, made_up) for item in form]
        if key in ("topics", "responses", "configResources", "partitions"):
            items.sort(key=lambda item: json.dumps(item, sort_keys=True))
        return items
    return "an id" if key == "topicId" and form != NO_ID else form


@pytest.mark.parametrize("row", recorded(), ids=lambda row: row["case"])
def test_the_answer_is_the_recorded_one(row: dict[str, Any]) -> None:
    cluster = situation(row)
    version = row["version"]
    request = from_json(API_BY_NAME[row["api"]].request, version, row["request_json"])
    made_up = MADE_UP | (OF_THE_QUORUM if row["case"] == "DescribeQuorum.v2.ok" else set())
    answer = comparable(to_json(ask(cluster, request, version), version), made_up)
    cluster.forget_log_levels(cluster.members)  # Python's loggers are the whole process's
    expected = comparable(row["response_json"], made_up)
    if row["case"] == "ListConfigResources.v1.all":
        # Which topics there were then does not matter; the other kinds do.
        for form in (answer, expected):
            form["configResources"] = [entry for entry in form["configResources"] if entry["resourceType"] != 2]
    assert answer == expected
