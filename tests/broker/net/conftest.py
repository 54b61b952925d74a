"""Tests of this room run with each kind of poller."""

from __future__ import annotations

import select
from typing import Any

import pytest

from odradek.broker.net.poller import EpollPoller, TaskPoller
from odradek.broker.net.sleeping_poller import SleepingPoller
from tests.fakes.cluster import FakeCluster

KINDS = [TaskPoller, *([EpollPoller, SleepingPoller] if hasattr(select, "epoll") else [])]


@pytest.fixture(autouse=True, params=KINDS)
def poller(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Every `FakeCluster` has this kind of poller."""
    kind: Any = request.param
    monkeypatch.setattr(FakeCluster, "new_poller", staticmethod(kind))
    return kind
