"""What a consumer's poll does on the wire: `python examples/poll_pipeline/run.py`.

Two nodes lead two partitions each. The broker tells us of every Fetch, so that each poll can be shown with the requests
that went out while it ran.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Producer
from kafka import KafkaConsumer, TopicPartition

import odradek

MAX_POLL_RECORDS = 4
RECORDS_PER_PARTITION = 10


@dataclass
class Wire:
    """Every Fetch that reached a node: which node, and which partitions it asked for from which offset."""

    fetches: list[tuple[int, dict[int, int]]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def see(self, context: Any, request: Any) -> bool:
        """Called by the broker for each Fetch; False: serve it as usual."""
        asked = {each.partition: each.fetch_offset for topic in request.topics for each in topic.partitions}
        with self._lock:
            self.fetches.append((context.node.id, asked))
        return False

    def take(self) -> list[tuple[int, dict[int, int]]]:
        """What came since the last call."""
        with self._lock:
            seen, self.fetches = self.fetches, []
        return seen


def fill(broker: odradek.KafkaBroker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(RECORDS_PER_PARTITION):
        for partition in range(4):
            producer.produce("orders", value=f"order {number}", partition=partition)
    producer.flush()


def show(number: int, polled: dict[TopicPartition, list[Any]], fetches: list[tuple[int, dict[int, int]]]) -> None:
    records = ", ".join(f"{len(each)} of partition {where.partition}" for where, each in polled.items()) or "nothing"
    print(f"poll {number}: {records}")
    for node, asked in fetches:
        wanted = ", ".join(f"{partition} from {offset}" for partition, offset in sorted(asked.items()))
        print(f"    asked node {node} for {wanted or 'nothing new'}")


def main() -> None:
    wire = Wire()
    with odradek.KafkaBroker(nodes=2, topics={"orders": 4}) as broker:
        fill(broker)
        broker.set_faults(odradek.Fault(api="Fetch", when=wire.see))
        consumer = KafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            auto_offset_reset="earliest",
            max_poll_records=MAX_POLL_RECORDS,
            enable_auto_commit=False,
            enable_incremental_fetch_sessions=False,  # so that every request names all the partitions it wants
            fetch_max_wait_ms=5000,  # nothing new comes: each node is asked for that once, and answers when we are done
        )
        consumer.assign([TopicPartition("orders", partition) for partition in range(4)])
        received = number = 0
        while received < 4 * RECORDS_PER_PARTITION:
            number += 1
            polled = consumer.poll(timeout_ms=30_000)
            received += sum(len(each) for each in polled.values())
            show(number, polled, wire.take())
        consumer.close()
    print(f"{received} records in {number} polls")


if __name__ == "__main__":
    main()
