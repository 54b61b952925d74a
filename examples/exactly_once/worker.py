"""Consume, transform, produce, exactly once: bills are read, their amounts summed up by customer, totals written.

Input offsets and output records are committed in one transaction, so that a worker may be killed at any moment: what
its last transaction had written is aborted, and the next worker reads the same input again.

    python worker.py BOOTSTRAP SOURCE SINK
"""

from __future__ import annotations

import sys

from confluent_kafka import Consumer, Message, Producer

PATIENCE_S = 30.0
BATCH = 20


def work(bootstrap: str, source: str, sink: str) -> None:
    """Go on until killed."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "worker-1", "log_level": 2})
    producer.init_transactions(PATIENCE_S)  # fences an older worker, and aborts what it left open
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "workers",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "log_level": 2,
        }
    )
    consumer.subscribe([source])
    while True:
        messages = [message for message in consumer.consume(BATCH, timeout=0.5) if not message.error()]
        if not messages:
            continue
        producer.begin_transaction()
        for customer, amount in sums(messages).items():
            producer.produce(sink, key=customer, value=str(amount))
        producer.send_offsets_to_transaction(
            consumer.position(consumer.assignment()), consumer.consumer_group_metadata(), PATIENCE_S
        )
        producer.commit_transaction(PATIENCE_S)


def sums(messages: list[Message]) -> dict[str, int]:
    """What each customer has to pay for these bills."""
    amounts: dict[str, int] = {}
    for message in messages:
        key, value = message.key(), message.value()
        if key is not None and value is not None:
            customer = key.decode()
            amounts[customer] = amounts.get(customer, 0) + int(value)
    return amounts


if __name__ == "__main__":
    work(*sys.argv[1:])
