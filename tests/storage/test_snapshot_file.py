"""Producer snapshots, against those that Kafka 4.3.1 wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.storage.producer_state import ProducerStates
from odradek.storage.snapshot_file import SnapshotFormatError, format_snapshot, parse_snapshot


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


def test_what_a_snapshot_says(kafka_log_dir: Path) -> None:
    states = parse_snapshot((kafka_log_dir / "d-txn-0" / f"{55:020d}.snapshot").read_bytes())
    [open_one] = [state for state in states if state.current_txn_first_offset is not None]
    assert open_one.current_txn_first_offset == 53
    assert all(len(state.batches) <= 1 for state in states)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "0 bytes are too few for a snapshot"),
        (lambda data: b"\0\2" + data[2:], "snapshot version 2 is not 1"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "the checksum does not match"),
        (lambda data: data[:-1], "the checksum does not match"),
    ],
)
def test_damage(kafka_log_dir: Path, change: object, message: str) -> None:
    data = (kafka_log_dir / "d-txn-0" / f"{55:020d}.snapshot").read_bytes()
    with pytest.raises(SnapshotFormatError, match=message):
        parse_snapshot(change(data))  # type: ignore[operator]
