"""Words for lists that may be long."""

from __future__ import annotations

from collections.abc import Sequence


def few(texts: Sequence[object], most: int = 4, separator: str = " ") -> str:
    """The first texts, and how many more there are."""
    shown = separator.join(str(text) for text in texts[:most])
    return f"{shown}{separator}+{len(texts) - most} more" if len(texts) > most else shown
