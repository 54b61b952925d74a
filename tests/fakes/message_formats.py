"""Answers in versions that Kafka 4.0 removed are held against recordings of the releases that have them."""

from __future__ import annotations

import pytest

from tests.fakes.vectors import recorded
from tests.scenarios.message_formats import differing, told_by_release

_NEWER = ("3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9")
RELEASES = [pytest.param(name, marks=pytest.mark.long) for name in ("2.8", *_NEWER)]
"""The releases that were recorded, as parameters."""


def check_as_recorded(part: str, release: str) -> None:
    """Assert that odradek answers a part of the conversation as a real broker of the release."""
    expected = recorded("message_formats", release)[part]
    answers = told_by_release(release, part)
    assert differing(answers, expected) == differing(expected, answers) == {}
