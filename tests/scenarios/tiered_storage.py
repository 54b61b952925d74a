"""Tiered storage as a client sees it: offsets, both kinds of retention, refusals.

`tests/vectors/tiered_storage.json` has what a real Kafka said, whose tier was that of its own tests.
`python -m tests.conformance.test_tiered_storage` records it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from odradek.broker.metadata.image import ResourceType
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from odradek.protocol.generated.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient

PACKAGE = "org.apache.kafka.server.log.remote.storage."
EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -4, -5, -6
SPECIAL = (-1, -2, -3, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD)
START_MS = 1_700_000_000_000
PATIENCE_S = 30
BROKER = {
    "remote.log.storage.system.enable": "true",
    "remote.log.manager.task.interval.ms": "100",
    "log.retention.check.interval.ms": "100",
    "log.initial.task.delay.ms": "100",
    "log.retention.ms": "-1",
    "remote.log.metadata.manager.listener.name": "PLAINTEXT",
}
KEEPS = {"remote.log.storage.manager.class.name": f"{PACKAGE}LocalTieredStorage"}
FORGETS = {
    "remote.log.storage.manager.class.name": f"{PACKAGE}NoOpRemoteStorageManager",
    "remote.log.metadata.manager.class.name": f"{PACKAGE}NoOpRemoteLogMetadataManager",
}
TIERED = {"remote.storage.enable": "true", "internal.segment.bytes": "100"}
Tell = Callable[[str, Any], None]
Story = Callable[[WireClient, Tell], None]


def create(client: WireClient, name: str, **configs: str) -> tuple[int, str | None]:
    """The error of CreateTopics; `retention_ms` stands for `retention.ms`."""
    settings = {**TIERED, **{key.replace("_", "."): value for key, value in configs.items()}}
    topic = CreatableTopic(name, 1, 1, [], [CreatableTopicConfig(*item) for item in settings.items()])
    answer = client.request(CreateTopicsRequest([topic]), 7).topics[0]
    return answer.error_code, answer.error_message


def alter(client: WireClient, topic: str, **configs: str) -> tuple[int, str | None]:
    return _altered(client, ResourceType.TOPIC, topic, configs)


def alter_brokers(client: WireClient, configs: Mapping[str, str]) -> tuple[int, str | None]:
    return _altered(client, ResourceType.BROKER, "", configs)


def _altered(client: WireClient, kind: int, name: str, configs: Mapping[str, str]) -> tuple[int, str | None]:
    settings = [AlterableConfig(key.replace("_", "."), 0, value) for key, value in configs.items()]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, settings)])
    answer = client.request(request, 1).responses[0]
    return answer.error_code, answer.error_message


def produce(client: WireClient, topic: str, count: int, first: int = 0) -> None:
    """Batches of one record, each of which fills a segment; the record at offset N has the timestamp START_MS + N."""
    for number in range(first, first + count):
        batch = build_batch([Record(0, START_MS + number, b"k", b"v" * 20)])
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch)])
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = client.request(ProduceRequest(None, -1, 5000, [data]), 12).responses[0].partition_responses[0]
            if answer.error_code == ErrorCode.NONE:
                break
            assert time.monotonic() < deadline, answer
            time.sleep(0.05)


def offsets(client: WireClient, topic: str, *asked: int) -> list[tuple[int, ...]]:
    """(error, timestamp, offset, leader epoch) of each question."""
    found: list[tuple[int, ...]] = []
    for timestamp in asked or SPECIAL:
        question = ListOffsetsTopic(topic, [ListOffsetsPartition(0, -1, timestamp)])
        answer = client.request(ListOffsetsRequest(-1, 0, [question], 5000), 11).topics[0].partitions[0]
        found.append((answer.error_code, answer.timestamp, answer.offset, answer.leader_epoch))
    return found


def fetched(client: WireClient, topic: str, offset: int) -> tuple[int, int, list[int]]:
    """(error, log start, offsets of the batches) of a fetch of one batch or more."""
    wanted = FetchTopic(topic, partitions=[FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)])
    answer = (
        client.request(FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=1 << 20, topics=[wanted]), 12)
        .responses[0]
        .partitions[0]
    )
    batches = iter_batches(answer.records or b"")
    return answer.error_code, answer.log_start_offset, [batch.base_offset for batch in batches]


def size(client: WireClient, topic: str) -> int:
    answer = client.request(DescribeLogDirsRequest([DescribableLogDirTopic(topic, [0])]), 4)
    return sum(part.partition_size for row in answer.results for named in row.topics for part in named.partitions)


def until(told: Callable[[], Any], expected: Any) -> None:
    """Wait for what the tasks in the background lead to."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := told()) != expected:
        assert time.monotonic() < deadline, f"{found} instead of {expected}"
        time.sleep(0.05)


def settle(client: WireClient, topic: str, local: int, tiered: int) -> None:
    """Wait until the local log starts at `local`, and the tier ends at `tiered`."""
    want = [(0, -1, local), (0, -1, tiered)]
    until(lambda: [found[:3] for found in offsets(client, topic, EARLIEST_LOCAL, LATEST_TIERED)], want)


def delete_before(client: WireClient, topic: str, offset: int) -> int:
    deleted = DeleteRecordsTopic(topic, [DeleteRecordsPartition(0, offset)])
    answer = client.request(DeleteRecordsRequest([deleted], 5000)).topics[0].partitions[0]
    return int(answer.low_watermark)


def offsets_of_a_tiered_log(client: WireClient, tell: Tell) -> None:
    tell("created", create(client, "t", local_retention_bytes="1"))
    tell("empty", offsets(client, "t"))
    produce(client, "t", 1)
    tell("one record", offsets(client, "t"))
    produce(client, "t", 3, 1)
    settle(client, "t", 3, 2)
    tell("tiered", offsets(client, "t"))
    tell("by time", offsets(client, "t", *range(START_MS, START_MS + 5)))
    tell("fetched", [fetched(client, "t", offset) for offset in range(5)])
    tell("local bytes", size(client, "t"))
    tell("records deleted", delete_before(client, "t", 2))
    tell("behind the new start", offsets(client, "t"))
    tell("fetched then", [fetched(client, "t", offset) for offset in (1, 2, 3)])
    tell("all deleted", delete_before(client, "t", 4))
    tell("nothing left", offsets(client, "t"))
    produce(client, "t", 2, 4)
    settle(client, "t", 5, 4)
    tell("tiered again", offsets(client, "t"))


def retention_of_the_whole_log(client: WireClient, tell: Tell) -> None:
    create(client, "r", local_retention_bytes="1")
    produce(client, "r", 6)
    settle(client, "r", 5, 4)
    tell("limited", alter(client, "r", retention_bytes=str(3 * size(client, "r"))))
    until(lambda: offsets(client, "r", -2)[0][2], 3)
    tell("by size", offsets(client, "r"))
    tell("aged", alter(client, "r", retention_ms="1000", local_retention_ms="1000"))
    until(lambda: offsets(client, "r", -2)[0][2], 6)
    tell("by time", offsets(client, "r"))


def copying_disabled(client: WireClient, tell: Tell) -> None:
    create(client, "c", local_retention_bytes="1")
    produce(client, "c", 4)
    settle(client, "c", 3, 2)
    whole = {"remote_log_copy_disable": "true", "local_retention_bytes": "-2"}
    tell("disabled", alter(client, "c", **whole))
    produce(client, "c", 3, 4)
    tell("nothing is copied", offsets(client, "c"))
    tell("fetched", [fetched(client, "c", offset) for offset in (0, 4)])
    tell("enabled", alter(client, "c", remote_log_copy_disable="false", local_retention_bytes="1"))
    settle(client, "c", 6, 5)


def tiering_disabled(client: WireClient, tell: Tell) -> None:
    create(client, "d", local_retention_bytes="1")
    produce(client, "d", 4)
    settle(client, "d", 3, 2)
    tell("refused", alter(client, "d", remote_storage_enable="false"))
    tell("disabled", alter(client, "d", remote_storage_enable="false", remote_log_delete_on_disable="true"))
    until(lambda: offsets(client, "d", -2)[0][2], 3)
    tell("offsets", offsets(client, "d"))
    tell("fetched", [fetched(client, "d", offset) for offset in (0, 2, 3)])


def refusals(client: WireClient, tell: Tell) -> None:
    for number, configs in enumerate(REFUSED):
        tell(f"created with {configs}", create(client, f"no-{number}", **configs))
    create(client, "plain", remote_storage_enable="false")
    for configs in REFUSED:
        tell(f"altered to {configs}", alter(client, "plain", **{"remote_storage_enable": "true", **configs}))
    for configs in REFUSED_FOR_BROKERS:
        tell(f"brokers altered to {configs}", alter_brokers(client, configs))


REFUSED: list[dict[str, str]] = [
    {"cleanup_policy": "compact"},
    {"cleanup_policy": "compact,delete"},
    {"cleanup_policy": ""},
    {"retention_ms": "200", "local_retention_ms": "201"},
    {"retention_ms": "200", "local_retention_ms": "-1"},
    {"retention_ms": "-1", "local_retention_ms": "-1"},
    {"retention_bytes": "512", "local_retention_bytes": "1024"},
    {"retention_bytes": "512", "local_retention_bytes": "-1"},
    {"retention_bytes": "512", "local_retention_bytes": "1024", "retention_ms": "2", "local_retention_ms": "3"},
    {"local_retention_ms": "-3"},
    {"remote_log_copy_disable": "true", "retention_ms": "1000", "local_retention_ms": "100"},
    {"remote_log_copy_disable": "true", "retention_bytes": "1000", "local_retention_bytes": "100"},
    {"remote_log_copy_disable": "true", "retention_bytes": "1000", "local_retention_bytes": "1000"},
    {"remote_log_copy_disable": "true", "retention_bytes": "1000", "retention_ms": "5", "local_retention_bytes": "-2"},
    {"remote_storage_enable": "maybe"},
]
REFUSED_FOR_BROKERS: list[dict[str, str]] = [
    {"log_retention_ms": "1000", "log_local_retention_ms": "1001"},
    {"log_retention_ms": "1000", "log_local_retention_ms": "-1"},
    {"log_retention_bytes": "1000", "log_local_retention_bytes": "1001"},
    {"log_retention_bytes": "1000", "log_local_retention_bytes": "-1"},
]
STORIES = [offsets_of_a_tiered_log, retention_of_the_whole_log, copying_disabled, tiering_disabled, refusals]


def a_tier_that_forgets(client: WireClient, tell: Tell) -> None:
    create(client, "n", local_retention_bytes="1")
    produce(client, "n", 4)
    settle(client, "n", 3, 2)
    tell("offsets", offsets(client, "n"))
    tell("by time", offsets(client, "n", *range(START_MS, START_MS + 5)))
    tell("fetched", [fetched(client, "n", offset) for offset in range(5)])


def no_tier(client: WireClient, tell: Tell) -> None:
    tell("created", create(client, "no"))
    create(client, "plain", remote_storage_enable="false", local_retention_ms="100000")
    tell("altered", alter(client, "plain", remote_storage_enable="true"))
    for configs in REFUSED_FOR_BROKERS:
        tell(f"brokers altered to {configs}", alter_brokers(client, configs))


CASES: dict[str, tuple[dict[str, str], Sequence[Story]]] = {
    "keeps": (KEEPS, STORIES),
    "forgets": (FORGETS, [a_tier_that_forgets]),
    "none": ({"remote.log.storage.system.enable": "false"}, [no_tier]),
}
"""Name -> what the broker sets beside `BROKER`, and what is told of it."""

VECTORS = Path(__file__).parents[1] / "vectors" / "tiered_storage.json"


def transcribe(client: WireClient, stories: Sequence[Story]) -> dict[str, Any]:
    """Everything that the stories tell, by story, in the form that JSON gives back."""
    told: dict[str, list[Any]] = {}
    for story in stories:
        lines = told[story.__name__] = []

        def tell(what: str, answer: Any, lines: list[Any] = lines) -> None:
            lines.append([what, answer])

        story(client, tell)
    return dict(json.loads(json.dumps(told)))
