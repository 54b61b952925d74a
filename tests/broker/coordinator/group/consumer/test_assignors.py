"""The assignors give each member exactly the partitions that Kafka's own assignors gave it in the recorded stories."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.group.consumer.assignors import ASSIGNORS
from tests.broker.coordinator.group.story_group import PARTS, check_story, tell


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_stories(part: int) -> None:
    tell("assignments", part, as_kafkas)


def as_kafkas(release: str, row: Any) -> None:
    assign = ASSIGNORS[row["story"]["assignor"]]
    check_story(release, row, lambda spec, _: assign(spec))
