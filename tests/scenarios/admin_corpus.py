"""The requests of the recorded exchanges of the administration APIs, sent to a real Kafka in the same situations.

``tests/vectors/corpus.jsonl.gz`` has the requests, and what Kafka 4.3.1 answered. This writes what a Kafka 4.4.0
answers:

    python -m tests.scenarios.admin_corpus tests/vectors/admin_corpus.json.gz
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.generated.messages import incremental_alter_configs as incremental
from odradek.protocol.generated.messages.alter_configs import AlterConfigsRequest, AlterConfigsResource
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_log_dirs import DescribeLogDirsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.json_form import from_json, to_json
from odradek.protocol.uuids import uuid_to_text
from tests.conformance.real_kafka import CLUSTER_ID, RealKafka
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until

CORPUS = Path(__file__).parents[1] / "vectors" / "corpus.jsonl.gz"
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
STATIC = {
    "auto.create.topics.enable": "true",
    "log.retention.ms": "-1",
    "num.partitions": "1",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
}
"""What the recording brokers were started with, as far as it shows."""
TOPICS = {"g-lat": 1, "g-grp2": 2, "g-txn": 2, "g-col.lide": 1, "g-dt-v5": 1, "g-dt-v6": 1}
OWN_CLUSTER_ID, OWN_PORT = "MkU3OEVBNTcwNTJENDM2Qk", 19392
DATA_ID = "1EP9I171T2a1q0Xd1olHHg"
"""The id of the topic `g-data` in the requests."""
CONFIGS: Sequence[tuple[int, str, Mapping[str, str]]] = (
    (2, "g-cfg", {"cleanup.policy": "compact", "max.message.bytes": "2000000"}),
    (4, "1", {"log.cleaner.threads": "2"}),
    (32, "g-cg-cfg", {"consumer.session.timeout.ms": "50000"}),
    (32, "g-sg", {"share.auto.offset.reset": "earliest"}),
    (16, "g-cm", {"interval.ms": "5000", "metrics": "*"}),
)
"""Types and names of resources with the configs that they have where a request `asks_for_configs`."""
_NONE_THERE = ((2, "g-cfg", "retention.ms"), (4, "", "log.retention.ms"))
"""What other requests have set, or `_make`."""


def recorded() -> list[dict[str, Any]]:
    """The rows of the corpus that one broker was asked without a log-in."""
    rows = [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).splitlines()]
    return [row for row in rows if row["api"] in APIS and row["instance"] == "o1" and not row.get("principal")]


def topics_of(row: Mapping[str, Any]) -> dict[str, int]:
    """The topics that there are when a request is sent, with their partitions."""
    topics = {"g-data": 2, "g-cfg": 1, **TOPICS}
    case, version = row["case"], row["version"]
    if row["api"] == "CreatePartitions":
        topics[f"g-cp-v{version}"] = {"ok": 2, "assignment-bad-broker": 4}.get(case.split(".")[2], 3)
    elif case.endswith("mixed-errors"):
        topics[f"g-ct-v{version}-a"] = 3
    elif case == "CreateTopics.v7.name-too-long":
        del topics["g-col.lide"]
    elif case == "DeleteTopics.v6.again":
        del topics["g-dt-v6"]
    return topics


def asks_for_configs(row: Mapping[str, Any]) -> bool:
    """Whether a request shows `CONFIGS`."""
    case: str = row["case"]
    return case.startswith("ListConfigResources.") or case == "DescribeConfigs.v4.after-incremental-0"


def _configure(client: WireClient) -> None:
    changes = {(kind, name): [(key, 0, value) for key, value in configs.items()] for kind, name, configs in CONFIGS}
    for kind, name, key in _NONE_THERE:
        changes.setdefault((kind, name), []).append((key, 1, ""))
    resources = [
        incremental.AlterConfigsResource(*resource, [incremental.AlterableConfig(*row) for row in rows])
        for resource, rows in changes.items()
    ]
    answers = client.request(incremental.IncrementalAlterConfigsRequest(resources), 1).responses
    assert not any(each.error_code for each in answers), answers
    look = DescribeConfigsRequest([DescribeConfigsResource(4, "1", ["log.cleaner.threads"])])
    wait_until("the configs", lambda: client.request(look, 4).results[0].configs[0].value == "2")


def _make(client: WireClient, topics: Mapping[str, int]) -> str:
    """Make these topics in place of all others, and no configs of brokers; returns the id of `g-data`."""

    def present() -> dict[str, Any]:
        found = client.request(MetadataRequest(topics=None), 12).topics
        return {topic.name: topic for topic in found if not topic.is_internal}

    while names := list(present()):
        client.request(DeleteTopicsRequest([DeleteTopicState(name) for name in names], timeout_ms=10_000), 6)
    retention = [CreatableTopicConfig("retention.ms", "777777")]
    new = [CreatableTopic(name, n, 1, configs=retention if name == "g-cfg" else []) for name, n in topics.items()]
    client.request(CreateTopicsRequest(new, 10_000), 7)
    for node in ("", "1"):
        client.request(AlterConfigsRequest([AlterConfigsResource(4, node, [])]), 1)
    while True:
        found = present()
        if set(found) == set(topics) and not any(part.error_code for t in found.values() for part in t.partitions):
            break
    wait_until("the logs", lambda: _logs(client) == topics)
    return uuid_to_text(bytes(found["g-data"].topic_id))


def _logs(client: WireClient) -> dict[str, int]:
    """The topics in the log directory, with their partitions; a topic that is deleted has none of that name."""
    [directory] = client.request(DescribeLogDirsRequest(None), 4).results
    return {topic.name: len(topic.partitions) for topic in directory.topics if not topic.name.startswith("__")}


def _told(row: Mapping[str, Any], port: int) -> Any:
    api, version = API_BY_NAME[row["api"]], row["version"]
    with WireClient("127.0.0.1", port) as client:
        topic_id = _make(client, topics_of(row))
        if asks_for_configs(row):
            _configure(client)
        form = json.loads(json.dumps(row["request_json"]).replace(DATA_ID, topic_id))
        text = json.dumps(to_json(client.request(from_json(api.request, version, form), version), version))
    return json.loads(
        text.replace(topic_id, DATA_ID).replace(CLUSTER_ID, OWN_CLUSTER_ID).replace(str(port), str(OWN_PORT))
    )


class NodeOne(RealKafka):
    """A real Kafka whose node is number 1, as the one that was recorded."""

    def properties(self) -> dict[str, str]:
        own = {"node.id": "1", "controller.quorum.voters": f"1@127.0.0.1:{self._controller_port}"}
        return {**super().properties(), **STATIC, **own}


if __name__ == "__main__":
    with NodeOne() as kafka:
        answers = {row["case"]: _told(row, kafka.port) for row in recorded()}
    Path(sys.argv[1]).write_bytes(gzip.compress(json.dumps(answers, sort_keys=True).encode(), mtime=0))
