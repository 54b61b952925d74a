"""From names to partitions."""

from __future__ import annotations

import pytest

from odradek.broker.api.partition_lookup import find_partition
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.list_offsets import ListOffsetsRequest
from tests.fakes.data_plane import DataPlane


def test_the_partition_of_that_number() -> None:
    plane = DataPlane(topics={"a": 3})
    context = plane.context(ListOffsetsRequest(), 1)
    assert find_partition(context, "a", 2) is plane.cluster.topics.get("a").partitions[2]  # type: ignore[union-attr]


@pytest.mark.parametrize(("topic", "index"), [("nope", 0), ("a", 3), ("a", -1)])
def test_others_are_unknown(topic: str, index: int) -> None:
    plane = DataPlane(topics={"a": 3})
    with pytest.raises(KafkaError) as caught:
        find_partition(plane.context(ListOffsetsRequest(), 1), topic, index)
    assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
