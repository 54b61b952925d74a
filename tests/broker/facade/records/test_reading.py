"""Records as the broker shows them, without a client."""

from __future__ import annotations

import pytest

import odradek
from odradek.protocol.errors import KafkaError
from tests.broker.facade.test_threaded import produce_three


def test_records_come_back_decoded() -> None:
    with odradek.KafkaBroker(topics={"p-data": 2}) as broker:
        produce_three(broker)
        produce_three(broker)
        records = list(broker.records("p-data"))
        assert [each.offset for each in records] == [0, 1, 2, 3, 4, 5]
        assert {(each.topic, each.partition, each.codec, each.producer_id) for each in records} == {
            ("p-data", 0, "none", -1)
        }
        assert [each.offset for each in broker.records("p-data", start=4)] == [4, 5]
        assert list(broker.records("p-data", 1)) == []
        assert len(broker.records("p-data", isolation="read_committed")) == 6
        with pytest.raises(KafkaError, match="no topic"):
            broker.records("nope")
        with pytest.raises(KafkaError, match="no partition 2"):
            broker.records("p-data", 2)
        with pytest.raises(ValueError, match="isolation"):
            broker.records("p-data", isolation="dirty")  # type: ignore[arg-type]


def test_a_part_of_the_records_is_read() -> None:
    with odradek.KafkaBroker(topics={"t": 2}) as broker:
        broker.produce_all("t", [odradek.ProducerRecord(str(number), partition=0) for number in range(100)])
        broker.produce("t", "other", partition=1)
        assert [each.offset for each in broker.records("t", 0, start=90, limit=3)] == [90, 91, 92]
        assert [each.partition for each in broker.records("t", start=0, limit=101)] == [0] * 100 + [1]
        assert list(broker.records("t", 0, start=100)) == []
        assert list(broker.records("t", 0, limit=0)) == []
        with pytest.raises(ValueError, match="limit=-1"):
            broker.records("t", limit=-1)


def test_a_committed_transaction_behind_an_aborted_one_is_read_from_its_middle() -> None:
    with odradek.KafkaBroker(topics={"t": 1}) as broker:
        broker.produce_all("t", ["a", "b"], transactional_id="tx", transaction="abort")  # 0, 1, marker 2
        broker.produce_all("t", ["c", "d"], transactional_id="tx")  # 3, 4, marker 5
        for start, expected in ((0, [3, 4]), (1, [3, 4]), (2, [3, 4]), (4, [4]), (5, [])):
            found = broker.records("t", 0, start=start, isolation="read_committed")
            assert [each.offset for each in found] == expected


def test_records_are_a_list_that_is_read_when_it_is_used() -> None:
    with odradek.KafkaBroker(topics={"t": 1, "empty": 1}) as broker:
        broker.produce_all("t", ["a", "b", "c"])
        found = broker.records("t")
        assert found
        assert len(found) == 3
        assert not broker.records("empty")
        assert broker.records("empty") == []
        assert (found[0].value, found[-1].value, [each.value for each in found[1:]]) == (b"a", b"c", [b"b", b"c"])
        assert found == list(found) == broker.records("t") != broker.records("t", start=1)
        assert repr(broker.records("t", limit=1)) == repr([found[0]])
        broker.produce_all("t", ["x"] * 30)
        assert len(found) == 3, "it has what the topic held"
        assert repr(broker.records("t")).endswith(", ...]")
