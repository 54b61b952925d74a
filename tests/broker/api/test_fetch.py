"""A fetch that is answered at once."""

from __future__ import annotations

import pytest
from trio.testing import MockClock

from odradek.protocol.errors import ErrorCode
from tests.fakes.data_plane import DataPlane, offsets_of, partitions_of

pytestmark = pytest.mark.trio


@pytest.mark.parametrize("max_wait_ms", [0, -5])
async def test_no_wait_is_no_wait(plane: DataPlane, autojump_clock: MockClock, max_wait_ms: int) -> None:
    response = plane.fetch({"a": 0}, max_wait_ms=max_wait_ms)
    assert offsets_of(partitions_of(response)[0]) == []


async def test_damage_is_told_of_its_partition_alone(plane: DataPlane) -> None:
    for partition in (0, 1):
        for _ in range(3):
            plane.produce("a", 1, partition=partition)
    plane.damage("a", 8, (-12).to_bytes(4, "big", signed=True))  # the first batch's length
    damaged, sound = partitions_of(plane.fetch({"a": [(0, 1), (1, 1)]}))
    assert (damaged.error_code, damaged.records) == (ErrorCode.CORRUPT_MESSAGE, b"")
    assert offsets_of(sound) == [1, 2]
