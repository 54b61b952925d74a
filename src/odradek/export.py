"""Copy a running cluster into a log directory: topics with their ids, settings and records, and the committed offsets.

Batches are copied as they are, with offsets, timestamps, leader epochs, producers and transaction markers, up to the
last stable offset that each partition had at the start; so no transaction is open in the copy. `__consumer_offsets` is
copied like any topic and brings the groups' offsets. The schemas of a registry become the topic `_schemas`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from odradek.broker.config.broker_config import ConfigError, TopicConfig
from odradek.broker.metadata.topic_name_rules import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponseTopic
from odradek.protocol.record_batch import iter_batches
from odradek.registry.copying import RegistrySource, registry_records
from odradek.registry.records import TOPIC as SCHEMAS
from odradek.registry.records import RegistryRecord
from odradek.storage.checkpoint_files import LOG_START_OFFSETS
from odradek.storage.partition_log import AppendOrigin
from odradek.wire_client import WireClient, WireError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partitions.partition import Partition

_TOPIC_RESOURCE = 2
_DYNAMIC_TOPIC = 1
_EARLIEST, _LATEST = -2, -1
_READ_COMMITTED = 1
_LAST_FETCH_BY_NAME = 12
_FETCH_BYTES = 4 * 1024 * 1024
_ZERO_ID = bytes(16)
_APPEND_BYTES = 512 * 1024


@dataclass(slots=True)
class ExportReport:
    """The result of an export: what was copied, and what could not be."""

    topics: int = 0
    partitions: int = 0
    batches: int = 0
    size_bytes: int = 0
    schemas: int = 0
    remarks: list[str] = field(default_factory=list)


class _Source:
    """The cluster to copy: a connection to each leader, opened when it is needed."""

    def __init__(self, host: str, port: int, security: ClientSecurity) -> None:
        self._security = security
        self._first = WireClient(host, port, security=security)
        self._clients: dict[int, WireClient] = {}
        self._addresses: dict[int, tuple[str, int]] = {}

    def topics(self, names: Sequence[str]) -> list[MetadataResponseTopic]:
        asked = [MetadataRequestTopic(name=name) for name in names] or None
        response = self._first.request(MetadataRequest(topics=asked, allow_auto_topic_creation=False), max_version=12)
        self._addresses = {node.node_id: (node.host, node.port) for node in response.brokers}
        for topic in response.topics:
            _check(topic.error_code, f"topic {topic.name}")
        return list(response.topics)

    def configs(self, topic: str) -> dict[str, str]:
        resource = DescribeConfigsResource(_TOPIC_RESOURCE, topic, None)
        (result,) = self._first.request(DescribeConfigsRequest([resource])).results
        _check(result.error_code, f"configs of {topic}")
        return {c.name: c.value for c in result.configs if c.config_source == _DYNAMIC_TOPIC and c.value is not None}

    def leader(self, node_id: int) -> WireClient:
        if node_id not in self._addresses:
            raise WireError(f"the leader {node_id} of a partition is not up")
        if node_id not in self._clients:
            self._clients[node_id] = WireClient(*self._addresses[node_id], security=self._security)
        return self._clients[node_id]

    def offset(self, client: WireClient, topic: str, index: int, timestamp: int) -> int:
        asked = ListOffsetsTopic(topic, [ListOffsetsPartition(index, timestamp=timestamp)])
        response = client.request(ListOffsetsRequest(-1, _READ_COMMITTED, [asked]))
        partition = response.topics[0].partitions[0]
        _check(partition.error_code, f"offsets of {topic}-{index}")
        return int(partition.offset)

    def fetch(self, client: WireClient, topic: str, index: int, offset: int) -> bytes | memoryview:
        partition = FetchPartition(index, fetch_offset=offset, partition_max_bytes=_FETCH_BYTES)
        request = FetchRequest(
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=_FETCH_BYTES,
            isolation_level=_READ_COMMITTED,
            topics=[FetchTopic(topic, partitions=[partition])],
        )
        response = client.request(request, max_version=_LAST_FETCH_BY_NAME)
        answer = response.responses[0].partitions[0]
        _check(answer.error_code, f"{topic}-{index} at offset {offset}")
        return answer.records or b""

    def close(self) -> None:
        for client in (self._first, *self._clients.values()):
            client.close()


def _check(code: int, what: str) -> None:
    if code:
        raise KafkaError(ErrorCode(code), f"{what}: {ErrorCode(code).name}")


def export(
    directory: Path,
    address: tuple[str, int] | None,
    topics: Sequence[str] = (),
    progress: Callable[[str], None] = print,
    security: ClientSecurity = PLAIN_TEXT,
    registry: RegistrySource | None = None,
) -> ExportReport:
    """Copy a cluster, a schema registry or both into `directory`, which must not exist or be empty.

    `address`: host and port of the cluster. `topics`: only these (and the committed offsets); all when empty.
    `security`: how to log in. `registry`: its schemas become the topic `_schemas`, in the place of the cluster's.
    Raises WireError, KafkaError, RegistrySourceError or StorageError; `directory` then holds what was copied so far.
    """
    if directory.exists() and os.listdir(directory):
        raise WireError(f"{directory} is not empty")
    schemas = [] if registry is None else registry_records(registry, progress)
    source = None if address is None else _Source(*address, security)
    try:
        return trio.run(_export, source, directory, topics, schemas, progress)
    finally:
        if source is not None:
            source.close()


async def _export(
    source: _Source | None,
    directory: Path,
    names: Sequence[str],
    schemas: Sequence[RegistryRecord],
    progress: Callable[[str], None],
) -> ExportReport:
    from odradek.broker.cluster import Cluster

    report = ExportReport()
    left_out = {TRANSACTION_STATE, SCHEMAS} if schemas else {TRANSACTION_STATE}
    found = [] if source is None else [topic for topic in source.topics(()) if topic.name not in left_out]
    missing = set(names) - {topic.name for topic in found}
    if missing:
        raise WireError(f"no such topic: {', '.join(sorted(missing))}")
    cluster = Cluster(data_dir=directory)
    async with cluster.run():
        for topic in found:
            assert source is not None
            if not names or topic.name in names or topic.name == CONSUMER_OFFSETS:
                _copy_topic(cluster, source, topic, report)
                count = len(topic.partitions)
                progress(f"{topic.name}: {count} partition{'s' if count > 1 else ''}")
                await trio.lowlevel.checkpoint()
        _write_schemas(cluster, schemas, report)
    return report


def _write_schemas(cluster: Cluster, schemas: Sequence[RegistryRecord], report: ExportReport) -> None:
    """Append the records of a registry in batches that the topic takes."""
    from odradek.broker.facade.records.state_log import KeptLog

    log = KeptLog(cluster, lambda function: function(), SCHEMAS)
    rows: list[tuple[bytes, bytes | None]] = []
    for number, each in enumerate(schemas, start=1):
        rows.append((each.key_bytes, each.value_bytes))
        size = sum(len(key) + len(value or b"") for key, value in rows)
        if size >= _APPEND_BYTES or number == len(schemas):
            log.news()
            log.append(rows)
            rows = []
    report.schemas = sum(each.kind == "SCHEMA" for each in schemas)


def _copy_topic(cluster: Cluster, source: _Source, topic: MetadataResponseTopic, report: ExportReport) -> None:
    name = topic.name or ""
    overrides = _usable(source.configs(name), name, report)
    topic_id = topic.topic_id if topic.topic_id != _ZERO_ID else os.urandom(16)
    partitions = sorted(topic.partitions, key=lambda partition: partition.partition_index)
    first_node = next(iter(cluster.nodes))
    copy = cluster.adopt_topic(name, topic_id, [[first_node]] * len(partitions), overrides)
    assert cluster.directory is not None
    assert cluster.directory.backend is not None
    for described, partition in zip(partitions, copy.partitions, strict=True):
        leader = source.leader(described.leader_id)
        start = source.offset(leader, name, partition.index, _EARLIEST)
        end = source.offset(leader, name, partition.index, _LATEST)
        cluster.directory.backend.set_offset(LOG_START_OFFSETS, (name, partition.index), start)
        _copy_records(cluster, source, leader, partition, start, end, report)
    report.topics += 1
    report.partitions += len(partitions)


def _copy_records(
    cluster: Cluster,
    source: _Source,
    leader: WireClient,
    partition: Partition,
    start: int,
    end: int,
    report: ExportReport,
) -> None:
    name, offset = partition.topic.name, start
    while offset < end:
        batches = [
            batch
            for batch in iter_batches(source.fetch(leader, name, partition.index, offset))
            if batch.last_offset >= offset and batch.base_offset < end
        ]
        if not batches:
            break
        for batch in batches:
            partition.append(batch.data, now_ms=cluster.clock.now_ms(), origin=AppendOrigin.REPLICATION)
            report.batches += 1
            report.size_bytes += batch.size_bytes
        offset = batches[-1].next_offset
    if partition.log.log_start_offset < start <= partition.log.log_end_offset:
        partition.delete_records(start)


def _usable(configs: dict[str, str], topic: str, report: ExportReport) -> dict[str, str]:
    usable = {}
    for name, value in configs.items():
        try:
            usable.update(TopicConfig.check({name: value}))
        except (ConfigError, KafkaError) as error:
            report.remarks.append(f"{topic}: {name}={value} left out: {error}")
    return usable
