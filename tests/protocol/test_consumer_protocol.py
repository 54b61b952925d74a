from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedPartitions,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from odradek.protocol.errors import ProtocolError


def test_subscription_in_every_version() -> None:
    subscription = ConsumerProtocolSubscription(topics=["a", "b"], user_data=b"u")
    owned = [OwnedPartitions(topic="a", partitions=[0, 2])]
    news: list[dict[str, Any]] = [{}, {"owned_partitions": owned}, {"generation_id": 4}, {"rack_id": "r"}]
    for version, changes in enumerate(news):
        subscription = subscription.replace(**changes)
        encoded = encode_subscription(subscription, version)
        assert encoded[:2] == version.to_bytes(2, "big")
        assert decode_subscription(encoded) == (subscription, version)


def test_older_versions_leave_out_what_they_cannot_say() -> None:
    subscription = ConsumerProtocolSubscription(topics=["a"], generation_id=4, rack_id="r")
    decoded, _ = decode_subscription(encode_subscription(subscription, 0))
    assert decoded == ConsumerProtocolSubscription(topics=["a"])


def test_newer_versions_are_read_as_far_as_known() -> None:
    encoded = encode_subscription(ConsumerProtocolSubscription(topics=["a"], rack_id="r"), 3)
    newer = (7).to_bytes(2, "big") + encoded[2:] + b"something new"
    assert decode_subscription(newer) == (ConsumerProtocolSubscription(topics=["a"], rack_id="r"), 7)


def test_assignment() -> None:
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[AssignedPartitions(topic="g-grp", partitions=[0, 1])], user_data=b""
    )
    # As a Java client's leader sent it (SyncGroup).
    encoded = bytes.fromhex("0000 00000001 0005 672d677270 00000002 00000000 00000001 00000000")
    assert encode_assignment(assignment, 0) == encoded
    assert decode_assignment(encoded) == (assignment, 0)
    assert decode_assignment(b"") == (ConsumerProtocolAssignment(), 0)


@pytest.mark.parametrize("data", [b"\x00", b"\xff\xff\x00\x00\x00\x00", b"\x00\x00\x00\x00\x00\x05"])
def test_bad_data(data: bytes) -> None:
    for decode in (decode_subscription, decode_assignment):
        with pytest.raises(ProtocolError):
            decode(data)
