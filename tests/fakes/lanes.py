"""The lanes that tests of connections run with: the plain one, and the fast one with each of its pollers."""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import Any

import pytest

from odradek.broker.fast.fast_lane import FastLane
from odradek.broker.fast.poller import EpollPoller
from odradek.broker.fast.sleeping_poller import SleepingPoller
from odradek.broker.lane import Lane
from tests.fakes.cluster import FakeCluster

POLLERS: list[Any] = [None]
if hasattr(select, "epoll"):  # the daily round has the poller that most brokers have
    POLLERS += [pytest.param(EpollPoller, marks=pytest.mark.long), SleepingPoller]


def lane_with(poller: Callable[..., Any] | None) -> Lane:
    """The fast lane with this poller, without one the plain lane."""
    return Lane() if poller is None else FastLane(poller)


@pytest.fixture(autouse=True, params=POLLERS, ids=lambda kind: "plain" if kind is None else kind.__name__)
def poller(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Every `FakeCluster` has the lane with this kind of poller; None is the plain lane."""
    kind: Any = request.param
    monkeypatch.setattr(FakeCluster, "new_lane", staticmethod(lambda: lane_with(kind)))
    return kind
