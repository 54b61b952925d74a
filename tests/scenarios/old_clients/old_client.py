"""Python clients in old versions, or that speak as old brokers need it: `old_client.py CLIENT HOST:PORT TOPIC`.

It runs in a venv of its own. Tells each step in a line, as OldClient.java.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

CODECS = ("none", "gzip", "snappy")
"""Without lz4: not all of the clients read its frames of format 0 (KIP-57)."""
PATIENCE_S = 60.0


def tell(name: str, step: Callable[[], str]) -> None:
    try:
        outcome = step()
    except Exception as error:
        outcome = type(error).__name__
    print(f"{name}={outcome}", flush=True)


def kafka_python(servers: str, topic: str, version: tuple[int, ...] | None) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    def produce() -> str:
        sent = []
        for codec in CODECS:
            compression = None if codec == "none" else codec
            producer = KafkaProducer(
                bootstrap_servers=servers,
                api_version=version,
                compression_type=compression,
                linger_ms=20,
                max_block_ms=PATIENCE_S * 1000,
            )
            sent += [producer.send(topic, key=b"k", value=f"{codec}{index}".encode()) for index in range(3)]
            producer.flush(PATIENCE_S)
            producer.close(PATIENCE_S)
        for each in sent:
            each.get(PATIENCE_S)
        return f"{len(sent)} records"

    def consume() -> str:
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            api_version=version,
            group_id=topic,
            auto_offset_reset="earliest",
            consumer_timeout_ms=PATIENCE_S * 1000,
        )
        values = []
        for record in consumer:
            values.append(record.value.decode())
            if len(values) == 3 * len(CODECS):
                break
        consumer.commit()
        consumer.close()
        return " ".join(values)

    tell("produce", produce)
    tell("group", consume)


def aiokafka(servers: str, topic: str, version: str) -> None:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async def produce() -> str:
        count = 0
        for codec in CODECS:
            compression = None if codec == "none" else codec
            producer = AIOKafkaProducer(
                bootstrap_servers=servers, api_version=version, compression_type=compression, linger_ms=20
            )
            await producer.start()
            sent = [await producer.send(topic, key=b"k", value=f"{codec}{index}".encode()) for index in range(3)]
            for each in sent:
                await asyncio.wait_for(each, PATIENCE_S)
                count += 1
            await producer.stop()
        return f"{count} records"

    async def consume() -> str:
        consumer = AIOKafkaConsumer(
            topic, bootstrap_servers=servers, api_version=version, group_id=topic, auto_offset_reset="earliest"
        )
        await consumer.start()
        values = [
            (await asyncio.wait_for(consumer.getone(), PATIENCE_S)).value.decode() for _ in range(3 * len(CODECS))
        ]
        await consumer.commit()
        await consumer.stop()
        return " ".join(values)

    tell("produce", lambda: asyncio.run(produce()))
    tell("group", lambda: asyncio.run(consume()))


def librdkafka(servers: str, topic: str, version: str) -> None:
    from confluent_kafka import Consumer, KafkaException, Producer

    common: dict[str, object] = {"bootstrap.servers": servers, "message.timeout.ms": 60_000}
    if version:
        common |= {"api.version.request": False, "broker.version.fallback": version}

    def produce() -> str:
        count = 0
        for codec in CODECS:
            producer = Producer({**common, "compression.codec": codec, "linger.ms": 20})
            failed: list[object] = []

            def note(error: object, _: object, failed: list[object] = failed) -> None:
                if error is not None:
                    failed.append(error)

            for index in range(3):
                producer.produce(topic, f"{codec}{index}", "k", on_delivery=note)
                count += 1
            if producer.flush(PATIENCE_S) or failed:
                raise KafkaException(failed)
        return f"{count} records"

    def consume() -> str:
        own = {name: value for name, value in common.items() if name != "message.timeout.ms"}
        consumer = Consumer({**own, "group.id": topic, "auto.offset.reset": "earliest"})
        consumer.subscribe([topic])
        values: list[str] = []
        while len(values) < 3 * len(CODECS):
            message = consumer.poll(PATIENCE_S)
            if message is None:
                break
            if message.error() is None:
                values.append((message.value() or b"").decode())
        consumer.commit(asynchronous=False)
        consumer.close()
        return " ".join(values)

    tell("produce", produce)
    tell("group", consume)


def main() -> None:
    client, servers, topic = sys.argv[1:]
    name, _, version = client.partition(" ")
    if version == "newest":
        version = ""
    if name == "kafka-python":
        kafka_python(servers, topic, tuple(map(int, version.split("."))) if version else None)
    elif name == "aiokafka":
        aiokafka(servers, topic, version or "auto")
    else:
        librdkafka(servers, topic, version)


if __name__ == "__main__":
    main()
