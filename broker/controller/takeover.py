"""Directories without a metadata log: of an older odradek (`odradek.metadata.json`), or nothing but partitions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.internal_topics import internal_configs
from odradek.broker.controller.node_directories import latest_epoch
from odradek.broker.controller.producer_ids import BLOCK_SIZE
from odradek.broker.controller.topic_records import records_of_topic
from odradek.broker.metadata.image import ResourceType
from odradek.broker.metadata.topic_name_rules import is_topic_name
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.message import MetadataRecord
from odradek.protocol.uuids import uuid_from_text
from odradek.storage.backend import StorageError
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import LARGE
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_log import PartitionLog

OLD_FILE = "odradek.metadata.json"
RETIRED_FILE = "odradek.metadata.json.taken-over"
_FORMAT = 1


def records_of_old_format(backend: DiskBackend, directory_ids: Mapping[int, bytes]) -> list[MetadataRecord]:
    """What `odradek.metadata.json` says, as records of the metadata log; nothing without that file."""
    path = backend.directory / OLD_FILE
    data = backend.fs.read_if_any(path, LARGE)
    if data is None:
        return []
    try:
        metadata = json.loads(data)
    except ValueError as error:
        raise StorageError(f"{path}: {error}", str(path)) from None
    if not isinstance(metadata, dict) or metadata.get("format") != _FORMAT:
        raise StorageError(f"{path}: not a metadata file of format {_FORMAT}", str(path))
    records: list[MetadataRecord] = [FeatureLevelRecord(*entry) for entry in metadata["features"].items()]
    records += _configs(ResourceType.BROKER, {"": metadata["broker_defaults"], **metadata["broker_nodes"]})
    records += _configs(ResourceType.GROUP, metadata.get("groups", {}))
    records += _configs(ResourceType.CLIENT_METRICS, metadata.get("client_metrics", {}))
    for topic in metadata["topics"]:
        if not is_topic_name(topic["name"]):
            raise StorageError(f"{path}: no topic can have the name {topic['name']!r:.300}", str(path))
        topic_id = uuid_from_text(topic["id"])
        placed = _on_nodes(topic["partitions"], directory_ids)
        records += _topic(backend, topic["name"], topic_id, placed, topic["config"], directory_ids)
    if metadata["next_producer_id"]:
        records.append(ProducerIdsRecord(-1, -1, metadata["next_producer_id"]))
    return records


def retire_old_format(backend: DiskBackend) -> None:
    """Rename the old file, once the metadata log has all of it, so that no later start reads it."""
    path = backend.directory / OLD_FILE
    if backend.fs.is_file(path):
        backend.fs.rename(path, backend.directory / RETIRED_FILE)
        backend.fs.sync_directory(backend.directory)


def records_of_folders(
    backend: DiskBackend, config: BrokerConfig, directory_ids: Mapping[int, bytes], known: Collection[str]
) -> list[MetadataRecord]:
    """Topics that only their folders tell of, with default settings; `known`: names that are no news."""
    nodes = list(directory_ids)
    found: dict[str, dict[int, bytes | None]] = {}
    for (name, index), topic_id in backend.partitions().items():
        if name not in known and is_topic_name(name):
            found.setdefault(name, {})[index] = topic_id
    records: list[MetadataRecord] = []
    next_producer_id = 0
    for name, partitions in found.items():
        topic_id = next((entry for entry in partitions.values() if entry is not None), None)
        if topic_id is None:
            continue
        placed = [[nodes[index % len(nodes)]] for index in range(max(partitions) + 1)]
        configs = {key: text for key, text in internal_configs(name, config, len(nodes)).items() if text is not None}
        records += _topic(backend, name, topic_id, placed, configs, directory_ids)
        next_producer_id = max(next_producer_id, *(_after_producers(backend, name, index) for index in partitions))
    if next_producer_id:
        records.append(ProducerIdsRecord(-1, -1, next_producer_id))
    return records


def _topic(
    backend: DiskBackend,
    name: str,
    topic_id: bytes,
    placed: Sequence[Sequence[int]],
    configs: Mapping[str, str],
    directory_ids: Mapping[int, bytes],
) -> list[MetadataRecord]:
    """A topic that has its folders already; leader epochs continue after those of its logs."""
    return records_of_topic(
        name,
        topic_id,
        placed,
        configs,
        directory_of=directory_ids.__getitem__,
        leader_epoch_of=lambda index: latest_epoch(backend, name, index) + 1,
    )


def _on_nodes(placed: Sequence[Sequence[int]], directory_ids: Mapping[int, bytes]) -> list[list[int]]:
    """Replicas on the present nodes; a partition with none of them goes to the first."""
    first = next(iter(directory_ids))
    return [[node for node in replicas if node in directory_ids] or [first] for replicas in placed]


def _configs(kind: int, resources: Mapping[str, Mapping[str, str]]) -> list[MetadataRecord]:
    return [
        ConfigRecord(kind, name, key, value) for name, configs in resources.items() for key, value in configs.items()
    ]


def _after_producers(backend: DiskBackend, name: str, index: int) -> int:
    """The first block of producer ids behind all that a partition's log knows."""
    try:
        log = PartitionLog(name, index, LogConfig(), backend, now_ms=backend.now_ms())
    except StorageError:
        return 0
    latest = max((producer.producer_id for producer in log.producers), default=-1)
    log.close()
    return (latest // BLOCK_SIZE + 1) * BLOCK_SIZE
