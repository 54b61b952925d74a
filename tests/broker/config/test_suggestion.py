"""Suggestions for misspelt names."""

from __future__ import annotations

from odradek.broker.config.suggestion import did_you_mean

KNOWN = ["retention.ms", "Produce", "NOT_LEADER_OR_FOLLOWER"]


def test_the_nearest_name_is_suggested_whatever_its_case() -> None:
    assert did_you_mean("retention.mss", KNOWN) == " (did you mean 'retention.ms'?)"
    assert did_you_mean("produce", KNOWN) == " (did you mean 'Produce'?)"


def test_nothing_is_suggested_when_nothing_is_near() -> None:
    assert did_you_mean("zzz", KNOWN) == ""
