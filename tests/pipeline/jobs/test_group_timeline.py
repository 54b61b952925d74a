"""The story of a group's rebalances, told from its records."""

from __future__ import annotations

from typing import Any

from odradek.pipeline.jobs.group_timeline import timeline


def _classic(offset: int, generation: int, **members: list[str]) -> dict[str, Any]:
    shown = [{"member_id": name, "assignment": parts} for name, parts in members.items()]
    return {
        "kind": "GroupMetadata",
        "tombstone": False,
        "group_id": "g",
        "log_offset": offset,
        "time_ms": offset * 10,
        "generation": generation,
        "members": shown,
    }


def test_a_rebalance_told() -> None:
    rows = [
        _classic(1, 1, a=["t-0", "t-1"]),
        _classic(2, 2, a=["t-0"], b=["t-1"]),
        _classic(3, 3, b=["t-0", "t-1"]),
        {**_classic(4, 3), "tombstone": True},
    ]
    assert [(each.generation, each.event, each.member_id, each.partitions) for each in timeline(rows)] == [
        (1, "generation", None, []),
        (1, "joined", "a", []),
        (1, "assigned", "a", ["t-0", "t-1"]),
        (2, "generation", None, []),
        (2, "revoked", "a", ["t-1"]),
        (2, "joined", "b", []),
        (2, "assigned", "b", ["t-1"]),
        (3, "generation", None, []),
        (3, "left", "a", ["t-0"]),
        (3, "assigned", "b", ["t-0"]),
        (3, "deleted", None, []),
    ]
