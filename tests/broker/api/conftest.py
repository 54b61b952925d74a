"""What several tests of handlers share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.topic_control import NewTopic
from odradek.broker.security.acl import Operation, Pattern, Resource
from tests.fakes.acls import SECURED, allow
from tests.fakes.data_plane import DataPlane


@pytest.fixture
async def plane() -> AsyncIterator[DataPlane]:
    plane = DataPlane(topics={"a": 2, "b": 1}, frozen=False)
    async with plane.cluster.run():
        yield plane
    assert plane.cluster.bug_log.bugs == []


@pytest.fixture
def guarded_cluster() -> Cluster:
    """Alice may read topics whose names begin with m. There are `mine` and `theirs`."""
    made = Cluster(config=SECURED)
    for name in ("mine", "theirs"):
        made.controller.create_topic(NewTopic(name, 1, 1))
    allow(made, "User:alice", Operation.READ, Resource.TOPIC, "m", pattern=Pattern.PREFIXED)
    return made
