"""What a heartbeat of a streams group's member says."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.group.streams.commands import StreamsGroupHeartbeat
from odradek.broker.coordinator.group.streams.member import Endpoint, Owned
from tests.broker.coordinator.group.streams.driver import PLAIN


def test_where_a_member_is_and_which_endpoints_it_knows_is_no_news() -> None:
    assert StreamsGroupHeartbeat("g", "m", 3, client_id="c", host="/h", endpoint_epoch=4).says_nothing


@pytest.mark.parametrize(
    "news",
    [
        {"owned": Owned({}, {}, {})},
        {"topology": PLAIN},
        {"endpoint": Endpoint("h", 1)},
        {"client_tags": ()},
        {"process_id": "p"},
        {"rack_id": "r"},
        {"rebalance_timeout_ms": 1},
        {"shutdown": True},
    ],
)
def test_all_else_is_news(news: dict[str, Any]) -> None:
    assert not StreamsGroupHeartbeat("g", "m", 3, **news).says_nothing
