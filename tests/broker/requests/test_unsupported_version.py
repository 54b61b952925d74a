"""ApiVersions in a version that nobody serves (KIP-511)."""

from __future__ import annotations

import struct

from tests.broker.requests.test_dispatch import exchange
from tests.fakes.cluster import FakeCluster


def test_unknown_versions_are_answered_in_v0() -> None:
    answer = exchange(FakeCluster(), struct.pack(">ihhihb", 11, 18, 99, 5, -1, 0))
    assert answer is not None
    assert answer == bytes.fromhex("00000005002300000001001200000004")
