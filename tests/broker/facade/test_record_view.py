"""Records as the broker shows them, without a client."""

from __future__ import annotations

import pytest

import odradek
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
        assert len(list(broker.records("p-data", isolation="read_committed"))) == 6
        with pytest.raises(KeyError, match="no topic"):
            broker.records("nope")
        with pytest.raises(KeyError, match="no partition 2"):
            broker.records("p-data", 2)
        with pytest.raises(ValueError, match="isolation"):
            broker.records("p-data", isolation="dirty")  # type: ignore[arg-type]
