"""What a reassignment makes of a partition, and what cancelling it does: the rare cases."""

from __future__ import annotations

import pytest

from odradek.broker.controller.commands import Reassignment, ReassignPartitions
from odradek.broker.controller.elections import PartitionChange, Rules
from odradek.broker.controller.reassignment_control import ReassignmentControl
from odradek.broker.metadata.image import MetadataImage, TopicImage
from odradek.broker.metadata.registrations import BrokerRegistration, Ids, PartitionRegistration
from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord

TOPIC = b"t" * 16


def image_of(partition: PartitionRegistration) -> MetadataImage:
    image = ImageWriter().image
    topic = TopicImage("a", TOPIC, [partition], 1)
    image.topics["a"] = image.topics_by_id[TOPIC] = topic  # type: ignore[index]
    for node in range(1, 7):
        image.brokers[node] = BrokerRegistration(node, 1, b"", (), {}, None, False, False, ())  # type: ignore[index]
    return image


def registered(replicas: Ids, isr: Ids, leader: int, *, adding: Ids = (), removing: Ids = ()) -> PartitionRegistration:
    return PartitionRegistration(replicas, isr, leader, 5, 7, (bytes(16),) * len(replicas), adding, removing)


def asked(
    partition: PartitionRegistration,
    replicas: list[int] | None,
    *,
    unclean: bool = False,
    live: Ids = (1, 2, 3, 4, 5, 6),
) -> PartitionChangeRecord | None:
    rules = Rules(live.__contains__, True)
    control = ReassignmentControl(
        image_of(partition), lambda _, before: PartitionChange(before, rules, 1), lambda _: unclean
    )
    records, [error] = control.reassign(ReassignPartitions([Reassignment(("a", 0), replicas)]))
    if error is not None:
        raise error
    assert all(isinstance(record, PartitionChangeRecord) for record in records)
    return records[0] if records else None  # type: ignore[return-value]


def changed(record: PartitionChangeRecord | None) -> tuple[list[int] | None, list[int] | None, list[int] | None]:
    """(replicas, adding, removing)."""
    assert record is not None
    return record.replicas, record.adding_replicas, record.removing_replicas


def test_replicas_that_come_stand_before_those_that_go() -> None:
    record = asked(registered((1, 2, 3), (1, 2, 3), 1), [5, 4, 3])
    assert changed(record) == ([5, 4, 3, 1, 2], [4, 5], [1, 2])


def test_what_a_reassignment_under_way_adds_is_taken_away_by_the_next() -> None:
    under_way = registered((4, 2, 1), (1, 2), 1, adding=(4,), removing=(1,))
    assert changed(asked(under_way, [3, 2])) == ([3, 2, 1, 4], [3], [1, 4])


def test_the_same_again_changes_nothing() -> None:
    assert asked(registered((4, 2, 1), (1, 2), 1, adding=(4,), removing=(1,)), [4, 2]) is None


def test_fewer_replicas_wait_for_all_that_stay() -> None:
    """With one of those that stay out of sync, the one that goes is still worth having."""
    record = asked(registered((1, 2, 3), (1, 2), 1), [2, 3])
    assert changed(record) == ([2, 3, 1], None, [1])


def test_cancelling_takes_back_what_was_added() -> None:
    record = asked(registered((4, 2, 1), (1, 2), 1, adding=(4,), removing=(1,)), None)
    assert changed(record) == ([2, 1], [], [])
    assert record is not None
    assert record.leader == 1, "a replica less is a new epoch"


def test_cancelling_with_only_new_replicas_in_sync_would_be_unclean() -> None:
    under_way = registered((4, 2, 1), (4,), 4, adding=(4,), removing=(1,))
    with pytest.raises(KafkaError) as refused:
        asked(under_way, None)
    assert refused.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert refused.value.message == (
        "Unable to revert partition assignment for a:0 because it would require an unclean leader election."
    )
    record = asked(under_way, None, unclean=True)
    assert changed(record) == ([2, 1], [], [])
    assert record is not None
    assert (record.leader, record.isr) == (2, [2])
