"""The small text files of a log directory, against what Kafka 4.3.1 wrote."""

from __future__ import annotations

import pytest

from odradek.storage.checkpoint_files import (
    MetaProperties,
    format_clean_shutdown,
    format_meta_properties,
    format_partition_metadata,
    parse_clean_shutdown,
    parse_leader_epochs,
    parse_meta_properties,
    parse_partition_metadata,
)
from tests.protocol.metadata_logs import metadata_file

METADATA_TOPIC_ID = (1).to_bytes(16, "big")


def test_meta_properties_of_kafka() -> None:
    found = parse_meta_properties(metadata_file("nodes/meta.properties"))
    assert found == MetaProperties("b2RyYWRlay10ZXN0cy0wMQ", 2, "qYI_4Hh2ugEiepnS01VPfg")
    assert parse_meta_properties(format_meta_properties(found)) == found


def test_partition_metadata_of_kafka() -> None:
    data = metadata_file("static/partition.metadata")
    assert parse_partition_metadata(data) == METADATA_TOPIC_ID
    assert format_partition_metadata(METADATA_TOPIC_ID) == data


def test_leader_epochs_of_kafka() -> None:
    data = metadata_file("static/leader-epoch-checkpoint")
    assert parse_leader_epochs(data) == [(1, 0), (2, 72), (3, 85), (4, 127), (5, 156)]


def test_the_clean_shutdown_mark_of_kafka() -> None:
    assert format_clean_shutdown(11) == b'{"version":0,"brokerEpoch":11}'
    assert parse_clean_shutdown(b'{"version":0,"brokerEpoch":11}') == 11


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b"7", b'{"brokerEpoch":"x"}', b"\xff"])
def test_a_mark_without_an_epoch(data: bytes) -> None:
    assert parse_clean_shutdown(data) == -1
