"""The lag of a group is a number or an error that says why there is none."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.commands import CommitOffsets, OffsetToCommit
from odradek.broker.facade.group_info import GroupInfo, OffsetInfo
from odradek.broker.facade.group_lag import LagUnknownError, lag_of
from odradek.broker.facade.threaded import KafkaBroker

KINDS = ("classic", "consumer", "streams", "share")


def commit(broker: KafkaBroker, group_id: str, topic: str, index: int, offset: int) -> None:
    def run() -> None:
        groups = broker.cluster.groups
        groups.topic.ensure()
        stored = OffsetToCommit(topic, broker.cluster.topics.by_name(topic).topic_id, index, offset, -1, "")
        assert groups.ask_now(group_id, CommitOffsets(group_id, [stored])) == [0]

    broker._call(run)


def info(kind: str, **more: object) -> GroupInfo:
    fields: dict[str, object] = {"state": "Stable", "offsets": {}, **more}
    return GroupInfo("g", generation=1, protocol_type=kind, protocol=None, leader=None, members=(), coordinator=1,
                     type=kind, **fields)  # type: ignore[arg-type]  # fmt: skip


def test_a_group_that_does_not_exist_has_none_and_the_message_names_the_groups() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        with pytest.raises(LagUnknownError, match="group 'shipping' does not exist; there is no group at all"):
            _ = broker.group("shipping").lag
        assert broker.group("shipping").info.lag is None
        commit(broker, "shipping", "t", 0, 0)
        commit(broker, "billing", "t", 0, 0)
        assert broker.group("shipping").lag == 0
        with pytest.raises(
            LagUnknownError,
            match=r"'shiping' does not exist \(did you mean 'shipping'\?\); the groups are billing, shipping",
        ):
            _ = broker.group("shiping").lag


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_of_any_kind_that_never_committed_has_none(kind: str) -> None:
    never = info(kind)
    assert never.lag is None
    with pytest.raises(LagUnknownError, match="group 'g' has not committed any offset"):
        lag_of(never, ())


@pytest.mark.parametrize("kind", KINDS)
def test_a_partition_with_records_that_was_never_committed_leaves_it_open(kind: str) -> None:
    some = info(kind, offsets={("t", 0): OffsetInfo(1, 0, "", 0, 0)}, uncommitted=(("t", 1), ("t", 2)))
    assert some.lag is None
    with pytest.raises(LagUnknownError, match="not committed any offset of t-1, t-2, where there are records"):
        lag_of(some, ())


def test_offsets_of_deleted_partitions_alone_tell_nothing() -> None:
    gone = info("classic", offsets={("t", 0): OffsetInfo(1, 0, "", 0, None)})
    assert gone.lag is None
    with pytest.raises(LagUnknownError, match="partitions that exist no more: t-0"):
        lag_of(gone, ())


def test_a_lag_that_is_known_is_told() -> None:
    offsets = {("t", 0): OffsetInfo(1, 0, "", 0, 3), ("t", 1): OffsetInfo(1, 0, "", 0, 4)}
    assert lag_of(info("classic", offsets=offsets), ()) == 7
