"""The retry pipeline on Spark, 2 h 40 min in a minute: `python examples/retry_topics/spark_pipeline.py`.

The broker's clock moves; the job takes its time from it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial

from confluent_kafka import Producer

import odradek
from odradek.pipeline.installed_spark import PipelineUnavailable
from odradek.pipeline.jobs.handlers import Message
from odradek.pipeline.jobs.retry import BatchReport, RetryJob
from odradek.pipeline.jobs.retry_policy import RetryPolicy
from odradek.pipeline.session import build_session


def handle(message: Message) -> None:
    """Two of three orders meet a warehouse that is closed, one of them until the third retry."""
    patience = {b"apples": 0, b"pears": 3, b"plums": 99}[message.value or b""]
    if message.retry_number < patience:
        raise RuntimeError("the warehouse is closed")


def place_orders(broker: odradek.KafkaBroker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for order in ("apples", "pears", "plums"):
        producer.produce("main_topic", key=order, value=order)
    producer.flush()


def main() -> None:
    policy = RetryPolicy()
    spark = build_session("retry topics", kafka=False)
    reports: list[BatchReport] = []
    with (
        odradek.KafkaBroker(topics=dict.fromkeys(policy.all_topics, 1)) as broker,
        tempfile.TemporaryDirectory() as checkpoint,
    ):
        place_orders(broker)
        began = broker.clock.now_ms()

        def show(report: BatchReport) -> None:
            reports.append(report)
            for topic, count in report.failed.items():
                minutes = round((report.now_ms - began) / 60_000)
                print(f"after {minutes:3} min: {count} failed, to {topic}", flush=True)

        def failed_at_least(batches: int) -> bool:
            return sum(bool(each.failed) for each in reports) >= batches

        def ran_at_least(batches: int) -> bool:
            return len(reports) >= batches

        job = RetryJob(
            broker.bootstrap_servers,
            checkpoint,
            handle,
            policy=policy,
            now_ms=broker.clock.now_ms,
            poll_interval="100 milliseconds",
            on_batch=show,
        )
        query = job.start(spark)
        for failures, step in enumerate(policy.steps, 1):
            wait_for(partial(failed_at_least, failures))
            parked = len(reports) + 2  # two batches later the message is parked
            wait_for(partial(ran_at_least, parked))
            broker.clock.advance(step.delay_ms / 1000)
        wait_for(lambda: any("failed_topic" in each.failed for each in reports))
        query.stop()
        for record in broker.records("failed_topic"):
            headers = {name: (value or b"").decode() for name, value in record.headers}
            print("failed for good:", record.value, headers)
    spark.stop()


def wait_for(condition: Callable[[], bool], timeout_s: float = 120) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the pipeline stands still")
        time.sleep(0.05)


if __name__ == "__main__":
    try:
        main()
    except PipelineUnavailable as missing:
        raise SystemExit(f"this example {missing}") from None
