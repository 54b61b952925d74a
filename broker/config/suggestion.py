"""Suggestions for misspelt names, for error messages."""

from __future__ import annotations

from collections.abc import Iterable

_ALIKE = 0.75


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`" (did you mean 'retention.ms'?)"` for the nearest known name, or nothing if none is near."""
    import difflib

    by_lower = {text.lower(): text for text in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=_ALIKE)
    return f" (did you mean '{by_lower[close[0]]}'?)" if close else ""
