"""Heartbeats of share groups and what administrators see of them, as a real Kafka answers."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.share_group_describe import ShareGroupDescribeRequest
from tests.fakes.ask import ask
from tests.fakes.recorded import check_as_recorded
from tests.fakes.vectors import cases

NAMES = ["members", "several_members", "wrong_members", "other_kinds", "topics_go", "switched_off"]


@pytest.mark.long("other_kinds", "several_members", "switched_off", "topics_go", "topics_go-4.3")
@pytest.mark.parametrize(("name", "release"), cases("share_conversations", NAMES))
def test_share_groups_are_answered_as_recorded(name: str, release: str) -> None:
    check_as_recorded(name, release)


def test_share_group_describe_at_another_node_is_refused() -> None:
    """As a real 4.4.0 of three nodes, whose ConsumerGroupDescribe has no text."""
    cluster = Cluster(nodes=2)
    cluster.groups.topic.ensure()
    other = 3 - cluster.groups.leader_for("g")
    (told,) = ask(cluster, ShareGroupDescribeRequest(["g"]), node_id=other).groups
    assert (told.error_code, told.error_message) == (
        ErrorCode.NOT_COORDINATOR,
        "This is not the correct coordinator.",
    )
