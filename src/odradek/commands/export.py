"""`odradek export`: copy a running cluster into a log directory: topics with their ids, settings and records, and the
committed offsets.

Batches are copied as they are, with offsets, timestamps, leader epochs, producers and transaction markers, up to the
last stable offset that each partition had at the start; so no transaction is open in the copy. `__consumer_offsets` is
copied like any topic and brings the groups' offsets. The schemas of a registry become the topic `_schemas`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from odradek.broker.config.broker_config import ConfigError, TopicConfig
from odradek.broker.metadata.image import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.commands import CommandError, CommandParser, add_bootstrap_servers, add_client_config, client_security
from odradek.commands.why import check
from odradek.pipeline.cluster_client import EARLIEST, LATEST, ClusterClient, batches_between
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataResponseTopic
from odradek.protocol.record_batch import iter_batches
from odradek.registry.copying import RegistrySource, RegistrySourceError, registry_records
from odradek.registry.records import TOPIC as SCHEMAS
from odradek.registry.records import RegistryRecord
from odradek.storage.checkpoint_files import LOG_START_OFFSETS
from odradek.storage.partition_log import AppendOrigin

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partitions.partition import Partition


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "directory", type=Path, metavar="DIR", help="directory to write; it must be empty, or not exist"
    )
    add_bootstrap_servers(parser)
    parser.add_argument(
        "--topic", action="append", default=[], metavar="NAME", help="copy only this topic (repeatable)"
    )
    parser.add_argument(
        "--registry",
        metavar="URL",
        help="a schema registry to copy, alone or with --bootstrap-servers; http://USER:PASSWORD@HOST:PORT logs in",
    )
    parser.add_argument(
        "--registry-token",
        default=os.environ.get("ODRADEK_REGISTRY_TOKEN") or None,
        metavar="TOKEN",
        help="token to send to the registry (default $ODRADEK_REGISTRY_TOKEN)",
    )
    add_client_config(parser)
    parser.needs("--registry-token", "--registry")
    for option in ("--topic", "--client-config"):
        parser.needs(option, "--bootstrap-servers")


def run(arguments: argparse.Namespace) -> int:
    """Copy, and say what was copied."""
    servers = arguments.bootstrap_servers
    if servers is None and arguments.registry is None:
        raise CommandError("nothing to copy from: give --bootstrap-servers HOST:PORT, --registry URL, or both")
    try:
        registry = None if arguments.registry is None else RegistrySource(arguments.registry, arguments.registry_token)
        security = client_security(arguments.client_config)
        report = export(arguments.directory, servers, arguments.topic, security=security, registry=registry)
    except (KafkaError, ValueError, RegistrySourceError) as error:
        raise CommandError(str(error)) from error
    for remark in report.remarks:
        print(remark, file=sys.stderr)
    copied = f"topics: {report.topics}, partitions: {report.partitions}, batches: {report.batches}"
    copied += f", bytes: {report.size_bytes}"
    served = f"odradek serve --data-dir {arguments.directory}"
    if registry is not None:
        copied, served = f"{copied}, versions of schemas: {report.schemas}", f"{served} --registry-port 8081"
    print(f"{copied}; serve them with: {served}")
    return 0


_TOPIC_RESOURCE = 2
_DYNAMIC_TOPIC = 1
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


def _configs(client: ClusterClient, topic: str) -> dict[str, str]:
    (result,) = client.ask(DescribeConfigsRequest([DescribeConfigsResource(_TOPIC_RESOURCE, topic, None)])).results
    check(result.error_code, f"configs of {topic}")
    return {c.name: c.value for c in result.configs if c.config_source == _DYNAMIC_TOPIC and c.value is not None}


def export(
    directory: Path,
    bootstrap_servers: str | None,
    topics: Sequence[str] = (),
    progress: Callable[[str], None] = print,
    security: ClientSecurity = PLAIN_TEXT,
    registry: RegistrySource | None = None,
) -> ExportReport:
    """Copy a cluster, a schema registry or both into `directory`, which must not exist or be empty.

    `bootstrap_servers`: brokers of the cluster. `topics`: only these (and the committed offsets); all when empty.
    `security`: how to log in. `registry`: its schemas become the topic `_schemas`, in the place of the cluster's.
    Raises OSError, KafkaError, RegistrySourceError or StorageError; `directory` then holds what was copied so far.
    """
    if directory.exists() and os.listdir(directory):
        raise FileExistsError(f"{directory} is not empty")
    schemas = [] if registry is None else registry_records(registry, progress)
    if bootstrap_servers is None:
        return trio.run(_export, None, directory, topics, schemas, progress)
    with ClusterClient(bootstrap_servers, security=security) as client:
        return trio.run(_export, client, directory, topics, schemas, progress)


async def _export(
    client: ClusterClient | None,
    directory: Path,
    names: Sequence[str],
    schemas: Sequence[RegistryRecord],
    progress: Callable[[str], None],
) -> ExportReport:
    from odradek.broker.cluster import Cluster

    report = ExportReport()
    left_out = {TRANSACTION_STATE, SCHEMAS} if schemas else {TRANSACTION_STATE}
    there = [] if client is None else client.ask(MetadataRequest(topics=None)).topics
    for topic in there:
        check(topic.error_code, f"topic {topic.name}")
    found = [topic for topic in there if topic.name not in left_out]
    missing = set(names) - {topic.name for topic in found}
    if missing:
        raise ValueError(f"no such topic: {', '.join(sorted(missing))}")
    cluster = Cluster(data_dir=directory)
    async with cluster.run():
        for topic in found:
            assert client is not None
            if not names or topic.name in names or topic.name == CONSUMER_OFFSETS:
                _copy_topic(cluster, client, topic, report)
                count = len(topic.partitions)
                progress(f"{topic.name}: {count} partition{'s' if count > 1 else ''}")
                await trio.lowlevel.checkpoint()
        _write_schemas(cluster, schemas, report)
    return report


def _write_schemas(cluster: Cluster, schemas: Sequence[RegistryRecord], report: ExportReport) -> None:
    """Append the records of a registry in batches that the topic takes."""
    from odradek.broker.facade.records.state_log import StateLog

    log = StateLog(cluster, lambda function: function(), SCHEMAS)
    rows: list[tuple[bytes, bytes | None]] = []
    for number, each in enumerate(schemas, start=1):
        rows.append((each.key_bytes, each.value_bytes))
        size = sum(len(key) + len(value or b"") for key, value in rows)
        if size >= _APPEND_BYTES or number == len(schemas):
            log.news()
            log.append(rows)
            rows = []
    report.schemas = sum(each.kind == "SCHEMA" for each in schemas)


def _copy_topic(cluster: Cluster, client: ClusterClient, topic: MetadataResponseTopic, report: ExportReport) -> None:
    name = topic.name or ""
    overrides = _usable(_configs(client, name), name, report)
    topic_id = topic.topic_id if topic.topic_id != _ZERO_ID else os.urandom(16)
    partitions = sorted(topic.partitions, key=lambda partition: partition.partition_index)
    first_node = next(iter(cluster.nodes))
    copy = cluster.adopt_topic(name, topic_id, [[first_node]] * len(partitions), overrides)
    assert cluster.directory is not None
    assert cluster.directory.backend is not None
    places = [(name, partition.index) for partition in copy.partitions]
    starts = client.offsets(dict.fromkeys(places, EARLIEST), read_committed=True)
    ends = client.offsets(dict.fromkeys(places, LATEST), read_committed=True)
    for place, partition in zip(places, copy.partitions, strict=True):
        cluster.directory.backend.set_offset(LOG_START_OFFSETS, place, starts[place])
        _copy_records(cluster, client, partition, starts[place], ends[place], report)
    report.topics += 1
    report.partitions += len(partitions)


def _copy_records(
    cluster: Cluster, client: ClusterClient, partition: Partition, start: int, end: int, report: ExportReport
) -> None:
    for fetched in batches_between(client, partition.topic.name, partition.index, start, end, read_committed=True):
        for batch in iter_batches(fetched.records):
            if batch.base_offset < end:
                partition.append(batch.data, now_ms=cluster.clock.now_ms(), origin=AppendOrigin.REPLICATION)
                report.batches += 1
                report.size_bytes += batch.size_bytes
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
