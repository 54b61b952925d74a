"""Structured Streaming against a broker in the same process: `python examples/spark_stream/run.py`.

A stream counts words by topic, is stopped, and goes on from its checkpoint; then the data source `odradek` shows what
Spark's connector hides: the batches that the counted records lie in.
"""

from __future__ import annotations

import tempfile
from typing import Any

from confluent_kafka import Producer

import odradek
from odradek.pipeline.installed_spark import PipelineUnavailable
from odradek.pipeline.session import build_session


def send(broker: odradek.KafkaBroker, text: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "compression.type": "lz4", "linger.ms": 20})
    for word in text.split():
        producer.produce("words", value=word)
    producer.flush()


def count_what_came(spark: Any, broker: odradek.KafkaBroker, checkpoint: str) -> None:
    """One pass of the stream: from the checkpoint to the end of the topic, the counts kept in the checkpoint too."""
    servers = {"kafka.bootstrap.servers": broker.bootstrap_servers}
    words = spark.readStream.format("kafka").options(**servers).option("subscribe", "words")
    words = words.option("startingOffsets", "earliest").load().selectExpr("cast(value as string) as word")
    counts = words.groupBy("word").count().selectExpr("word as key", "cast(count as string) as value")
    query = counts.writeStream.format("kafka").options(**servers).option("topic", "counts").outputMode("update")
    query.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()


def main() -> None:
    spark = build_session("words")
    with odradek.KafkaBroker(topics={"words": 2, "counts": 1}) as broker, tempfile.TemporaryDirectory() as checkpoint:
        for text in ("to be or not to be", "that is the question whether to be"):
            before = sum(1 for _ in broker.records("counts"))
            send(broker, text)
            count_what_came(spark, broker, checkpoint)
            counts = broker.records("counts")[before:]
            counted = [f"{(each.key or b'').decode()} {(each.value or b'').decode()}" for each in counts]
            print(f"{text!r}: {', '.join(sorted(counted))}", flush=True)
        reader = spark.read.format("odradek").option("kafka.bootstrap.servers", broker.bootstrap_servers)
        rows = reader.option("subscribe", "words").load()
        rows.groupBy("partition", "base_offset", "codec", "batch_size").count().orderBy(
            "partition", "base_offset"
        ).show()
    spark.stop()


if __name__ == "__main__":
    try:
        main()
    except PipelineUnavailable as missing:
        raise SystemExit(f"this example {missing}") from None
