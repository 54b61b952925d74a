from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedPartitions,
    assigned_partitions,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
    subscribed_topics,
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


def test_consumer_protocol_assignment_is_written_and_read() -> None:
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[AssignedPartitions(topic="g-grp", partitions=[0, 1])], user_data=b""
    )
    # As a Java client's leader sent it (SyncGroup).
    encoded = bytes.fromhex("0000 00000001 0005 672d677270 00000002 00000000 00000001 00000000")
    assert encode_assignment(assignment, 0) == encoded
    assert decode_assignment(encoded) == (assignment, 0)
    assert decode_assignment(b"") == (ConsumerProtocolAssignment(), 0)


@pytest.mark.parametrize("data", [b"\x00", b"\xff\xff\x00\x00\x00\x00", b"\x00\x00\x00\x00\x00\x05"])
def test_consumer_protocol_data_that_are_damaged_are_refused(data: bytes) -> None:
    for decode in (decode_subscription, decode_assignment):
        with pytest.raises(ProtocolError):
            decode(data)


@pytest.mark.parametrize(
    "data", [b"\0", b"\0\0\xff\xff\xff\xff", b"\xff\xff\0\0\0\0", b"\0\0\0\0\0\1\0\5ab", b"\0\0\0\0\0\1\0\1t"]
)
def test_consumer_protocol_data_of_others_are_refused(data: bytes) -> None:
    for read in (subscribed_topics, assigned_partitions):
        with pytest.raises(ProtocolError):
            read(data)


def test_a_coordinator_reads_any_version_as_version_0() -> None:
    subscription = ConsumerProtocolSubscription(topics=["b", "a"], rack_id="r", generation_id=3)
    assert subscribed_topics(encode_subscription(subscription, 3)) == ("b", "a")
    assert subscribed_topics(b"\0\x7f" + encode_subscription(subscription, 0)[2:] + b"new") == ("b", "a")
    assert assigned_partitions(b"") == {}


def test_a_topic_may_come_twice() -> None:
    """As librdkafka's cooperative-sticky assignor writes it where a member gets back what another had."""
    parts = [("a", [2, 0]), ("b", [1]), ("a", [1])]
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[AssignedPartitions(topic=topic, partitions=indexes) for topic, indexes in parts]
    )
    assert assigned_partitions(encode_assignment(assignment, 0)) == {"a": (2, 0, 1), "b": (1,)}
