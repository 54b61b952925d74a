"""Topics that are deleted and emptied without a client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode, KafkaError


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"t": 2, "compacted": {"config": {"cleanup.policy": "compact"}}}) as started:
        yield started
        assert started.bugs == []


def test_a_deleted_topic_is_gone_with_its_offsets(broker: KafkaBroker) -> None:
    broker.set_offsets("g", {("t", 0): 0, ("compacted", 0): 0})
    broker.delete_topic("t")
    assert list(broker.topics) == ["compacted"]
    assert list(broker.group("g").offsets) == [("compacted", 0)]
    with pytest.raises(KafkaError, match="no topic 't'"):
        broker.delete_topic("t")


def test_records_are_deleted_up_to_an_offset_or_all(broker: KafkaBroker) -> None:
    broker.produce_all("t", ["a", "b", "c", "d", "e", "f"])
    ends = {each.index: each.high_watermark for each in broker.topics["t"].partitions}
    assert broker.delete_records("t", 0, before=1) == {0: 1}
    assert broker.delete_records("t", 0, before=0) == {0: 1}
    assert len(list(broker.records("t"))) == 5
    assert broker.delete_records("t") == ends
    assert list(broker.records("t")) == []


def test_what_kafka_refuses_is_refused_and_changes_nothing(broker: KafkaBroker) -> None:
    broker.produce("t", "a", partition=0)
    for arguments, code in (
        (("t", 0, 2), ErrorCode.OFFSET_OUT_OF_RANGE),
        (("t", None, 1), ErrorCode.OFFSET_OUT_OF_RANGE),
        (("t", 7, -1), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (("compacted", None, -1), ErrorCode.POLICY_VIOLATION),
    ):
        name, index, before = arguments
        with pytest.raises(KafkaError) as caught:
            broker.delete_records(name, index, before=before)
        assert caught.value.code is code
    assert [record.value for record in broker.records("t")] == [b"a"]
