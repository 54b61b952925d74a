"""Kept pushes are bounded by their bytes."""

from __future__ import annotations

from odradek.broker.telemetry.pushes import KeptPushes, TelemetryPush


def push(payload: bytes) -> TelemetryPush:
    return TelemetryPush(0, 1, "id", "client", "java", "4", False, payload)


def test_the_oldest_make_room() -> None:
    kept = KeptPushes(limit=5000)
    for number in range(10):
        kept.add(push(bytes([number]) * 1000))
    assert [each.payload[0] for each in kept] == [7, 8, 9]


def test_many_small_pushes_are_bounded_too() -> None:
    kept = KeptPushes(limit=5000)
    for _ in range(1000):
        kept.add(push(b"x"))
    assert len(list(kept)) < 10


def test_the_newest_is_kept_however_large() -> None:
    kept = KeptPushes(limit=10)
    kept.add(push(b"small"))
    kept.add(push(b"large" * 100))
    assert [each.payload for each in kept] == [b"large" * 100]
