"""A leader that does not know yet that others lead."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.partitions.partition import Partition
from odradek.broker.replication.thawed_leaders import Led, leading_still, led_by
from odradek.protocol.errors import KafkaError
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.brokers import broker_fixture

broker = broker_fixture(nodes=3, topics={"t": {"partitions": 1, "replication_factor": 3}, "single": 3})


def partition(broker: KafkaBroker) -> Partition:
    return broker.cluster.topics.by_name("t").partitions[0]


def test_led_by_tells_what_a_node_leads(broker: KafkaBroker) -> None:
    leader = partition(broker).leader_id
    assert led_by(broker.cluster.topics, leader) == {partition(broker): Led(0, partition(broker).isr)}
    assert led_by(broker.cluster.topics, leader % 3 + 1) == {}


def test_inside_it_leads_a_log_of_its_own_and_afterwards_the_others_know_nothing_of_it(broker: KafkaBroker) -> None:
    broker.produce("t", "a")
    found = partition(broker)
    stale = found.leader_id
    known = led_by(broker.cluster.topics, stale)
    broker.kill_node(stale)
    broker.produce("t", "b")

    def lead() -> tuple[int, int, bool]:
        with leading_still(known, stale, broker.clock.now_ms()):
            found.check_leader(stale)
            info = found.append(build_batch([Record(0, 1, None, b"lost")]), now_ms=1)
            committed = found.log.high_watermark > info.base_offset
        return info.base_offset, found.log.log_end_offset, committed

    assert broker._call(lead) == (1, 2, False)
    with pytest.raises(KafkaError):
        found.check_leader(stale)
    broker.start_node(stale)
    assert [record.value for record in broker.records("t")] == [b"a", b"b"]
    assert broker.topics["t"].partitions[0].replica_ends == {1: 2, 2: 2, 3: 2}


def test_who_leads_still_needs_no_memory(broker: KafkaBroker) -> None:
    found = partition(broker)
    known = led_by(broker.cluster.topics, found.leader_id)
    log = found.log

    def lead() -> bool:
        with leading_still(known, found.leader_id, broker.clock.now_ms()):
            return found.log is log

    assert broker._call(lead)
