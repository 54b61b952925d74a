"""How many examples a property draws: all of them in the whole run, a tenth in the daily round (`make check`)."""

from __future__ import annotations

from hypothesis import settings

WHOLE = 100
"""hypothesis draws so many where nobody says another number. The profile `daily` has less (tests/conftest.py)."""


def examples(number: int) -> int:
    """`number` in the whole run, and the same part of it as of all others in another profile; never none."""
    assert settings.default is not None
    return max(1, number * settings.default.max_examples // WHOLE)
