"""Where share groups stand, word for word as a real Kafka answers (see the scenario module)."""

from __future__ import annotations

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages import alter_share_group_offsets as alter
from odradek.protocol.generated.messages import describe_share_group_offsets as describe
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.broker.test_data_plane_over_tcp import connect
from tests.fakes.recorded import check_as_recorded
from tests.fakes.vectors import cases


@pytest.mark.parametrize(("name", "release"), cases("share_conversations", ["offsets"]))
def test_offsets_of_share_groups_are_changed_as_recorded(name: str, release: str) -> None:
    check_as_recorded(name, release)


def test_the_lag_behind_an_absurd_offset_wraps_as_a_long() -> None:
    moved = alter.AlterShareGroupOffsetsRequestTopic("a", [alter.AlterShareGroupOffsetsRequestPartition(0, -(2**63))])
    asked = describe.DescribeShareGroupOffsetsRequestTopic("a", [0])
    group = describe.DescribeShareGroupOffsetsRequestGroup("g", [asked])
    with (
        KafkaBroker(topics={"a": 1}, config={"offsets.topic.num.partitions": "1"}) as broker,
        connect(broker) as client,
    ):
        broker.produce("a", b"x")
        broker.group("other").set_offsets({("a", 0): 0})  # the coordinator is there
        for epoch in (0, -1):
            client.request(ShareGroupHeartbeatRequest("g", "m", epoch, subscribed_topic_names=["a"]), 1)
        answer = client.request(alter.AlterShareGroupOffsetsRequest("g", [moved]), 0)
        assert not answer.responses[0].partitions[0].error_code, answer
        answer = client.request(describe.DescribeShareGroupOffsetsRequest([group]), 1)
        (partition,) = answer.groups[0].topics[0].partitions
        assert (partition.start_offset, partition.lag) == (-(2**63), -(2**63) + 1)
