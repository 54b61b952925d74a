"""The whole test with Python's clients: prints the seconds of each step of each test, as JSON.

``python -m tests.scenarios.whole_test_python CLIENT COUNT CONFIG``; CONFIG is what `broker.client_config` gives for
the client, as JSON.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
import uuid
from typing import Any

from tests.scenarios.whole_test import RECORDS, STEPS

Config = dict[str, Any]
Seconds = dict[str, float]
"""By step."""


class Steps:
    """Measures one test."""

    def __init__(self) -> None:
        self._marks = [time.perf_counter()]

    def done(self) -> None:
        self._marks.append(time.perf_counter())

    def seconds(self) -> Seconds:
        return dict(zip(STEPS, (end - begin for begin, end in itertools.pairwise(self._marks)), strict=True))


def fresh(label: str) -> str:
    return f"{label}-{uuid.uuid4().hex}"


def confluent(config: Config, count: int) -> list[Seconds]:
    from confluent_kafka import Consumer, Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient(config)

    def test() -> Seconds:
        steps, topic = Steps(), fresh("t")
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
        steps.done()
        producer = Producer(config)
        for number in range(RECORDS):
            producer.produce(topic, b"%d" % number)
        assert producer.flush() == 0
        steps.done()
        group = {"group.id": fresh("g"), "auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = Consumer({**config, **group})
        consumer.subscribe([topic])
        seen: list[bytes | None] = []
        while len(seen) < RECORDS:
            message = consumer.poll(30)
            assert message is not None
            assert message.error() is None
            seen.append(message.value())
        steps.done()
        consumer.commit(asynchronous=False)
        steps.done()
        consumer.close()
        steps.done()
        return steps.seconds()

    return [test() for _ in range(count)]


def kafka_python(config: Config, count: int) -> list[Seconds]:
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
    from kafka.admin import NewTopic

    admin = KafkaAdminClient(**config)

    def test() -> Seconds:
        steps, topic = Steps(), fresh("t")
        admin.create_topics([NewTopic(topic, 1, 1)])
        steps.done()
        producer = KafkaProducer(**config)
        for number in range(RECORDS):
            producer.send(topic, b"%d" % number)
        producer.flush()
        producer.close()
        steps.done()
        group = {"group_id": fresh("g"), "auto_offset_reset": "earliest", "enable_auto_commit": False}
        consumer = KafkaConsumer(topic, **config, **group)
        seen = 0
        while seen < RECORDS:
            seen += sum(map(len, consumer.poll(30_000).values()))
        steps.done()
        consumer.commit()
        steps.done()
        consumer.close()
        steps.done()
        return steps.seconds()

    found = [test() for _ in range(count)]
    admin.close()
    return found


def aiokafka(config: Config, count: int) -> list[Seconds]:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
    from aiokafka.admin import AIOKafkaAdminClient, NewTopic

    async def test(admin: AIOKafkaAdminClient) -> Seconds:
        steps, topic = Steps(), fresh("t")
        await admin.create_topics([NewTopic(topic, 1, 1)])
        steps.done()
        async with AIOKafkaProducer(**config) as producer:
            sent = [await producer.send(topic, b"%d" % number) for number in range(RECORDS)]
            await asyncio.gather(*sent)
        steps.done()
        group = {"group_id": fresh("g"), "auto_offset_reset": "earliest", "enable_auto_commit": False}
        consumer = AIOKafkaConsumer(topic, **config, **group)
        await consumer.start()
        for _ in range(RECORDS):
            await consumer.getone()
        steps.done()
        await consumer.commit()
        steps.done()
        await consumer.stop()
        steps.done()
        return steps.seconds()

    async def suite() -> list[Seconds]:
        admin = AIOKafkaAdminClient(**config)
        await admin.start()
        found = [await test(admin) for _ in range(count)]
        await admin.close()
        return found

    return asyncio.run(suite())


CLIENTS = {"confluent": confluent, "kafka-python": kafka_python, "aiokafka": aiokafka}

if __name__ == "__main__":
    client, tests, words = sys.argv[1:]
    settings = {name: tuple(value) if name == "api_version" else value for name, value in json.loads(words).items()}
    print(json.dumps(CLIENTS[client](settings, int(tests))))
