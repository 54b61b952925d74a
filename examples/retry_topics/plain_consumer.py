"""The same journey in a plain consumer: `python examples/retry_topics/plain_consumer.py`.

One consumer reads all topics. A partition of a retry topic holds messages in the order in which they come due, so the
consumer pauses the partition at the first message that is not due and turns to the others; nobody sleeps. The price
beside the Spark pipeline: within a partition, a message that is due behind one that is not has to wait.
"""

from __future__ import annotations

from collections import Counter

from confluent_kafka import Consumer, Message, Producer, TopicPartition

import odradek
from odradek.pipeline.jobs.retry_policy import HEADERS, RetryPolicy

POLICY = RetryPolicy()


def handle(message: Message, retry_number: int) -> None:
    """Two of three orders meet a warehouse that is closed, one of them until the third retry."""
    patience = {b"apples": 0, b"pears": 3, b"plums": 99}[message.value() or b""]
    if retry_number < patience:
        raise RuntimeError("the warehouse is closed")


def place_of(message: Message) -> TopicPartition:
    """Topic, partition and offset of a message that was read."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    return TopicPartition(topic, partition, offset)


class RetryConsumer:
    """Consumes the main topic and the retry topics; ``now_ms`` is the clock that says what is due."""

    def __init__(self, broker: odradek.KafkaBroker) -> None:
        servers = {"bootstrap.servers": broker.bootstrap_servers, "log_level": 2}
        self.broker = broker
        self.began_ms = broker.clock.now_ms()
        self.producer = Producer({**servers, "enable.idempotence": True})
        self.consumer = Consumer(
            {**servers, "group.id": "retry", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        )
        # Assigned by hand: a member's session goes by the broker's clock, and would end when that leaps by an hour.
        self.topics = [POLICY.main_topic, *POLICY.retry_topics]
        self.consumer.assign([TopicPartition(topic, 0) for topic in self.topics])
        self.handled: Counter[str] = Counter()
        self.paused: dict[str, tuple[int, int]] = {}

    def step(self) -> None:
        """Take one message if there is any that is due."""
        self.resume_due()
        message = self.consumer.poll(0.2)
        if message is None or message.error():
            return
        headers = dict(message.headers() or ())
        retry_number, due = (int(headers.get(name) or 0) for name in ("retry_number", "retry_timestamp"))
        if due > self.broker.clock.now_ms():
            self.pause(message, due)
            return
        try:
            handle(message, retry_number)
            self.tell(message, f"attempt {retry_number} succeeded")
        except RuntimeError as error:
            self.pass_on(message, retry_number, error)
        self.consumer.commit(message=message, asynchronous=False)
        self.handled[place_of(message).topic] += 1

    def all_wait(self) -> bool:
        """Whether each message that was not handled is behind one that is not due, and none is on its way to us."""
        written = {name: topic.partitions[0].high_watermark for name, topic in self.broker.topics.items()}
        return all(topic in self.paused or self.handled[topic] == written[topic] for topic in self.topics)

    def pause(self, message: Message, due: int) -> None:
        where = place_of(message)
        self.paused[where.topic] = (where.offset, due)
        self.consumer.pause([where])

    def resume_due(self) -> None:
        now = self.broker.clock.now_ms()
        for topic, (offset, due) in list(self.paused.items()):
            if due <= now:
                del self.paused[topic]
                where = TopicPartition(topic, 0, offset)
                self.consumer.resume([where])
                self.consumer.seek(where)

    def pass_on(self, message: Message, retry_number: int, error: Exception) -> None:
        """Written before the commit: a crash between the two repeats the message, and never loses it."""
        step = POLICY.after_failure(retry_number)
        now = self.broker.clock.now_ms()
        before = message.headers() or []
        assert isinstance(before, list)  # a consumer gets pairs; a dictionary is for producers only
        headers = [(name, value) for name, value in before if name not in HEADERS]
        if step is not None:
            headers += [("retry_number", str(retry_number + 1)), ("retry_timestamp", str(now + step.delay_ms))]
        else:
            headers += [("retry_number", str(retry_number))]
        headers.append(("retry_error", str(error)))
        topic = POLICY.failed_topic if step is None else step.topic
        self.producer.produce(topic, message.value(), message.key(), headers=headers)
        self.producer.flush()
        self.tell(message, f"attempt {retry_number} failed, to {topic}")

    def tell(self, message: Message, what: str) -> None:
        """One line, with the minutes that passed on the broker's clock."""
        minutes = (self.broker.clock.now_ms() - self.began_ms) // 60_000
        print(f"{minutes:3} min  {(message.value() or b'').decode()}: {what}", flush=True)


def main() -> None:
    with odradek.KafkaBroker(topics=dict.fromkeys(POLICY.all_topics, 1)) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 2})
        for order in ("apples", "pears", "plums"):
            producer.produce("main_topic", key=order, value=order)
        producer.flush()
        began = broker.clock.now_ms()
        retry = RetryConsumer(broker)
        while not broker.records("failed_topic"):
            if retry.all_wait():
                due = min(when for _, when in retry.paused.values())
                broker.clock.advance(max(0, due - broker.clock.now_ms()) / 1000)
            retry.step()
        minutes = round((broker.clock.now_ms() - began) / 60_000)
        retry.consumer.close()
        for record in broker.records("failed_topic"):
            headers = {name: (value or b"").decode() for name, value in record.headers}
            print(f"failed for good after {minutes} min:", record.value, headers)


if __name__ == "__main__":
    main()
