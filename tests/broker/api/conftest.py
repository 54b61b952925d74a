"""What several tests of handlers share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.data_plane import DataPlane


@pytest.fixture
async def plane() -> AsyncIterator[DataPlane]:
    plane = DataPlane(topics={"a": 2, "b": 1}, frozen=False)
    async with plane.cluster.run():
        yield plane
    assert plane.cluster.bug_log.bugs == []
