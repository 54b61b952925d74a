"""The small text files of a log directory, against what Kafka 4.3.1 wrote."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from crc32c import crc32c

from odradek.storage.checkpoint_files import (
    CheckpointFormatError,
    MetaProperties,
    SnapshotFormatError,
    format_clean_shutdown,
    format_meta_properties,
    format_offsets,
    format_partition_metadata,
    format_snapshot,
    parse_clean_shutdown,
    parse_leader_epochs,
    parse_meta_properties,
    parse_offsets,
    parse_partition_metadata,
    parse_snapshot,
)
from odradek.storage.producer_state import ProducerStates
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


@pytest.mark.parametrize("data", [b"", b"0", b"0\n", b"0\n0\n", b"0\r\n0"])
def test_checkpoints_that_kafka_has_only_created_have_no_entries(data: bytes) -> None:
    assert parse_offsets(data) == {}
    assert parse_leader_epochs(data) == []


def test_offsets_go_there_and_back() -> None:
    offsets = {("a", 0): 7, ("b-c", 12): 2**62}
    assert parse_offsets(format_offsets(offsets)) == offsets
    assert parse_offsets(b"0\n1\na  0\t7") == {("a", 0): 7}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1\n0\n", "line 1: version '1' is not 0"),
        (b"\n", "line 1: version '' is not 0"),
        (b"0\nx\n", "line 2: 'x' is not a number"),
        (b"0\n2\na 0 7\n", "2 entries are announced, 1 are there"),
        (b"0\n1\na 0\n", "line 3: 2 fields where 3 are due"),
        (b"0\n1\na 0 7\n\n", "line 4: 0 fields where 3 are due"),
        (b"0\n1\na 0 x\n", "line 3: 'x' is not a number"),
        (b"\xff", "not a text file"),
        (bytes(50), "line 1: version"),
    ],
)
def test_checkpoint_file_that_is_malformed_is_refused(data: bytes, message: str) -> None:
    """Kafka's own reader refuses each of these."""
    with pytest.raises(CheckpointFormatError, match=message):
        parse_offsets(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "broker.id is missing"),
        (b"version=1\ncluster.id=x\n", "node.id is missing"),
        (b"version=1\nnode.id=1\n", "cluster.id is missing"),
        (b"version=1\nnode.id=one\ncluster.id=x", "node.id is not a number: 'one'"),
        (b"version=2\nnode.id=1\ncluster.id=x", "version '2' is neither 0 nor 1"),
        (b"version=1\nnode.id=1\ncluster.id=\\u12", "Malformed"),
    ],
)
def test_meta_properties_that_are_malformed_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(CheckpointFormatError, match=message):
        parse_meta_properties(data)


def test_meta_properties_are_java_properties() -> None:
    text = b"# made by hand\r\nversion : 1\r\nnode.id 3\r\n  cluster.id = b2RyYWRlay10ZXN0cy0wMQ\r\n"
    assert parse_meta_properties(text) == MetaProperties("b2RyYWRlay10ZXN0cy0wMQ", 3, None)
    assert parse_meta_properties(b"broker.id=4\ncluster.id=x") == MetaProperties("x", 4, None)


@pytest.mark.parametrize("data", [b"", b"version: 0\n", b"version: 1\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"])
def test_partition_metadata_that_is_malformed_is_refused(data: bytes) -> None:
    with pytest.raises(CheckpointFormatError, match=r"not a partition\.metadata file of version 0"):
        parse_partition_metadata(data)


def test_partition_metadata_without_an_id() -> None:
    with pytest.raises(CheckpointFormatError, match="all zeros"):
        parse_partition_metadata(format_partition_metadata(bytes(16)))


def test_a_message_has_what_fits_in_a_line() -> None:
    with pytest.raises(CheckpointFormatError) as caught:
        parse_partition_metadata(b"version: 0\ntopic_id: " + bytes(100_000))
    assert len(str(caught.value)) < 250


# -- Producer snapshots, against those that Kafka 4.3.1 wrote.


def test_kafkas_snapshots_are_written_as_kafka_wrote_them(kafka_log_dir: Path) -> None:
    paths = sorted(kafka_log_dir.glob("*/*.snapshot"))
    assert len(paths) > 20
    for path in paths:
        data = path.read_bytes()
        states = parse_snapshot(data)
        assert len(states) == (len(data) - 10) // 46
        producers = ProducerStates(path.parent.name)
        for state in states:
            producers.restore(state)
        assert format_snapshot(producers) == data, path


def test_producer_snapshot_of_kafka_is_read(kafka_log_dir: Path) -> None:
    states = parse_snapshot((kafka_log_dir / "d-txn-0" / f"{55:020d}.snapshot").read_bytes())
    [open_one] = [state for state in states if state.current_txn_first_offset is not None]
    assert open_one.current_txn_first_offset == 53
    assert all(len(state.batches) <= 1 for state in states)


@pytest.mark.parametrize(
    ("fields", "batches", "transaction"),
    [
        ((7, 2, 5, 20, 3, 99, 1, -1), [(2, 5, 17, 20, 99)], None),
        ((7, 2, 1, 20, 3, 99, 1, 0), [(2**31 - 2, 1, 17, 20, 99)], 0),
        ((7, 2, 0, 0, 0, 99, 1, -1), [(0, 0, 0, 0, 99)], None),
        ((7, 2, -1, 20, 0, 99, 1, -1), [], None),
        ((7, 2, 5, -1, 0, 99, 1, 12), [], 12),
    ],
)
def test_a_snapshot_says_of_a_producer_what_it_wrote_last(
    fields: tuple[int, ...], batches: list[tuple[int, ...]], transaction: int | None
) -> None:
    """Sequences wrap from 2^31-1 to 0, within a batch, too."""
    body = struct.pack(">i", 1) + struct.pack(">qhiqiqiq", *fields)
    (state,) = parse_snapshot(struct.pack(">hI", 1, crc32c(body)) + body)
    assert (state.producer_id, state.producer_epoch, state.last_timestamp, state.coordinator_epoch) == (7, 2, 99, 1)
    assert (list(state.batches), state.current_txn_first_offset) == (batches, transaction)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "0 bytes are too few for a snapshot"),
        (lambda data: b"\0\2" + data[2:], "snapshot version 2 is not 1"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "the checksum does not match"),
        (lambda data: data[:-1], "the checksum does not match"),
    ],
)
def test_a_damaged_checkpoint_is_refused(kafka_log_dir: Path, change: object, message: str) -> None:
    data = (kafka_log_dir / "d-txn-0" / f"{55:020d}.snapshot").read_bytes()
    with pytest.raises(SnapshotFormatError, match=message):
        parse_snapshot(change(data))  # type: ignore[operator]
