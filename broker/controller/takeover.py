"""Directories that hold partitions and no metadata log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.internal_topics import internal_configs
from odradek.broker.controller.node_directories import latest_epoch
from odradek.broker.controller.producer_ids import BLOCK_SIZE
from odradek.broker.controller.topic_records import records_of_topic
from odradek.broker.metadata.topic_name_rules import is_topic_name
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.message import MetadataRecord
from odradek.storage.backend import StorageError
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_log import PartitionLog


def records_of_folders(
    backend: DiskBackend, config: BrokerConfig, directory_ids: Mapping[int, bytes]
) -> list[MetadataRecord]:
    """Topics that only their folders tell of, with default settings."""
    nodes = list(directory_ids)
    found: dict[str, dict[int, bytes | None]] = {}
    for (name, index), topic_id in backend.partitions().items():
        if is_topic_name(name):
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


def _after_producers(backend: DiskBackend, name: str, index: int) -> int:
    """The first block of producer ids behind all that a partition's log knows."""
    try:
        log = PartitionLog(name, index, LogConfig(), backend, now_ms=backend.now_ms())
    except StorageError:
        return 0
    latest = max((producer.producer_id for producer in log.producers), default=-1)
    log.close()
    return (latest // BLOCK_SIZE + 1) * BLOCK_SIZE
