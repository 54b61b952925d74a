"""Batches of `.log` files, read by the rules of Kafka's file reader."""

from __future__ import annotations

import pytest

from odradek.protocol.record_batch import CorruptBatchError
from odradek.storage.formats.log_file import OldFormatError, stored_batch_at, stored_batches
from tests.scenarios.log_tails import TAILS, batch


def test_batches_are_read_by_position() -> None:
    data = batch(0) + batch(5)
    assert [(at, found.base_offset) for at, found in stored_batches(data)] == [(0, 0), (len(data) // 2, 5)]
    assert [at for at, _ in stored_batches(data, len(data) // 2)] == [len(data) // 2]
    assert stored_batch_at(data, len(data)) is None


@pytest.mark.parametrize("name", ["zeros-1", "zeros-17", "half-header", "header-only", "cut-batch", "huge-length"])
def test_less_than_a_batch(name: str) -> None:
    assert stored_batch_at(TAILS[name], 0) is None


@pytest.mark.parametrize("name", ["zeros-18", "length-0", "length-minus-1", "length-48", "magic-255", "magic-1"])
def test_what_no_batch_can_be(name: str) -> None:
    with pytest.raises(CorruptBatchError, match="batch at position 0"):
        stored_batch_at(TAILS[name], 0)


def test_a_magic_above_2_is_read_as_format_2() -> None:
    found = stored_batch_at(TAILS["magic-127"], 0)
    assert found is not None
    assert (found.magic, found.base_offset, found.is_crc_valid) == (127, 30, True)
    assert len(list(found.records())) == 5


@pytest.mark.parametrize("magic", [0, 1])
def test_older_formats_are_told_from_damage(magic: int) -> None:
    with pytest.raises(OldFormatError, match=f"position 0 is of message format {magic}"):
        stored_batch_at(TAILS[f"old-format-{magic}"], 0)
    with pytest.raises(CorruptBatchError, match="wrong checksum"):
        stored_batch_at(TAILS["old-format-wrong-crc"], 0)
