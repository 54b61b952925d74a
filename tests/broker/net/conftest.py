"""Tests of this room run in each lane."""

from __future__ import annotations

from tests.fakes.lanes import poller

__all__ = ["poller"]
