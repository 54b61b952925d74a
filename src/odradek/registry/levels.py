"""Levels of compatibility: who has to read what whom wrote."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.registry.formats.parsed import Parsed

LEVELS = ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")


def reasons_against(new: Parsed, level: str, earlier: Sequence[tuple[int, Parsed]]) -> list[str]:
    """Why a schema may not follow earlier ones, which come by version, oldest first; empty if it may.

    BACKWARD: the new schema reads what the last one wrote; FORWARD: the last one reads what the new one wrote;
    FULL: both. TRANSITIVE: with all earlier ones instead of the last.
    """
    direction, _, transitive = level.partition("_")
    reasons: list[str] = []
    for version, old in reversed(earlier if transitive else earlier[-1:]):
        if type(old) is not type(new):
            reasons.append(f"version {version} is a schema of another type")
            break
        if direction in ("BACKWARD", "FULL"):
            reasons += [f"cannot read version {version}: {each}" for each in new.reads(old)]
        if direction in ("FORWARD", "FULL"):
            reasons += [f"version {version} cannot read it: {each}" for each in old.reads(new)]
        if reasons:
            break
    return reasons if direction != "NONE" else []
