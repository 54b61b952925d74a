"""The whole of Spark is killed in the middle of its work, and started again on the same checkpoint."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import odradek
from odradek.pipeline.cluster_client import LATEST, ClusterClient
from tests.pipeline import quick_spark

pytestmark = pytest.mark.slow
MESSAGES = 3000
HANDLER = """
def handle(message):
    if not message.value.startswith(b"good"):
        raise ValueError(f"attempt {message.retry_number}")
"""
STREAM = """
import sys
from odradek.pipeline.session import build_session

servers, folder = sys.argv[1:]
spark = build_session("a stream to parquet")
rows = spark.readStream.format("odradek").option("kafka.bootstrap.servers", servers).option("subscribe", "in").load()
rows = rows.selectExpr("partition", "offset", "cast(value as string) as value")
query = rows.writeStream.format("parquet").option("path", folder + "/out")
query = query.option("checkpointLocation", folder + "/checkpoint").trigger(processingTime="300 milliseconds").start()
query.awaitTermination()
"""

EFFECTS = """
import os, sys
from odradek.pipeline.session import build_session

servers, folder = sys.argv[1:]
place = {"kafka.bootstrap.servers": servers}


def handle(chunks):
    for chunk in chunks:
        with open(folder + "/calls", "ab", buffering=0) as calls:
            calls.write(b"".join(key + b"\\n" for key in chunk["key"].to_pylist()))
        yield chunk


spark = build_session("a handler with effects", kafka=False)
rows = spark.readStream.format("odradek").schema("key binary, value binary").options(**place, subscribe="in").load()
effects = rows.mapInArrow(handle, "key binary, value binary").writeStream.format("odradek")
effects = effects.options(**place, topic="effects", checkpointLocation=folder + "/checkpoint")
effects.trigger(processingTime="300 milliseconds").start().awaitTermination()
"""


DYING = """
import os, signal, sys
from odradek.pipeline.jobs import retry
from odradek.pipeline.jobs.retry_policy import RetryPolicy
from odradek.pipeline.session import build_session
from odradek.pipeline.sink import BatchWriter, SinkOptions
from odradek.pipeline.source import OdradekDataSource

servers, folder, step, moment, topic = sys.argv[1:]
driver = os.getpid()
retry._ROWS_OF_TASK = 25  # four tasks write


def die():
    os.killpg(driver, signal.SIGKILL)
    os._exit(1)  # a worker is in another group


def handle(message):
    with open(folder + "/calls", "ab", buffering=0) as calls:
        calls.write(b"%s %d\\n" % (message.key, message.retry_number))
    if step == "handler":
        die()
    raise ValueError("no")


def now_ms():
    with open(folder + "/now") as file:
        return int(file.read())


real = getattr(retry._Batch, step, None)


def dying(batch, *arguments):
    here = not topic or any(row.topic == topic for row in arguments[0].select("topic").distinct().collect())
    if here and moment == "before":
        die()
    result = real(batch, *arguments)
    if here and moment == "after":
        die()
    return result


class DyingWriter(BatchWriter):
    def commit(self, messages):
        super().commit(messages[:int(moment)])
        die()


class DyingSource(OdradekDataSource):
    def writer(self, schema, overwrite):
        return DyingWriter(SinkOptions.parse(dict(self.options), schema))


if real:
    setattr(retry._Batch, step, dying)
spark = build_session("a retry job that dies", kafka=False)
if step == "commit":
    retry.register = lambda spark: spark
    spark.dataSource.register(DyingSource)
policy = RetryPolicy("main", "dead", ["1h"], {"1h": "waiting"})
job = retry.RetryJob(servers, folder + "/checkpoint", handle, policy=policy, now_ms=now_ms)
job.start(spark).awaitTermination()
"""

KILLED_AT = [  # what of a batch the driver dies at, and when; a topic: in the batch that writes to it
    ("_messages", "before", ""),  # its time is known, nothing is read
    ("handler", "", ""),
    ("_next_steps", "before", ""),  # what the handler said is kept, nothing is written
    ("commit", "0", ""),  # the tasks have written, each in an open transaction
    ("commit", "2", ""),  # two of four transactions are committed
    ("_write", "after", "waiting"),  # Spark does not know of the batch
    ("_park", "after", ""),  # what waits is in its file
    ("commit", "3", ""),
    ("_write", "after", "dead"),
]


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own, killed with everything that it started."""
    process = subprocess.Popen(
        [sys.executable, *command],
        start_new_session=True,
        env=quick_spark.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait(process: subprocess.Popen[bytes], done: Callable[[], bool], every_s: float = 0.005) -> None:
    deadline = time.monotonic() + 300
    while not done():
        assert process.poll() is None, "the process ended by itself"
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(every_s)


def send(broker: odradek.KafkaBroker, topic: str, count: int, first: int = 0) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(first, first + count):
        producer.produce(topic, key=str(number), value=f"message {number}")
    assert producer.flush(30) == 0


@pytest.mark.usefixtures("spark")
@pytest.mark.kafka(topics=dict.fromkeys(["main", "soon", "later", "dead"], 2))
def test_retry_killed_while_it_writes_loses_and_doubles_nothing(
    kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(HANDLER)
    send(kafka_broker, "main", MESSAGES)
    job = ["--main-topic", "main", "--failed-topic", "dead", "--delays", "1s,2s"]
    job += ["--topic", "1s=soon", "--topic", "2s=later", "--poll-interval", "300 milliseconds"]
    job += ["--bootstrap-servers", kafka_broker.bootstrap_servers, "--checkpoint", str(tmp_path / "checkpoint")]
    command = ["-m", "odradek", "pipeline", "retry", "--handler", f"{tmp_path / 'app.py'}:handle", *job]

    def written(topic: str) -> int:
        ends = client.offsets({(topic, partition): LATEST for partition in range(2)})
        return sum(ends.values())

    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        with running(*command) as process:  # dies in the middle of its first writes
            wait(process, lambda: written("soon") > 0)
        with running(*command) as process:  # goes on with them, and dies in the next
            wait(process, lambda: written("later") > 0)
        with running(*command) as process:
            wait(process, lambda: len(committed(kafka_broker, "dead")) >= MESSAGES, every_s=0.5)
            process.terminate()  # an end, and no kill
            assert process.wait(300) == 0
    expected = {f"message {number}".encode() for number in range(MESSAGES)}
    for topic, retry_number in (("soon", b"1"), ("later", b"2"), ("dead", b"2")):
        records = committed(kafka_broker, topic)
        found = Counter(record.value for record in records)
        assert found.keys() == expected
        assert set(found.values()) == {1}, f"doubled in {topic}"
        assert {dict(record.headers)["retry_number"] for record in records} == {retry_number}
    errors = {dict(record.headers)["retry_error"] for record in committed(kafka_broker, "dead")}
    assert errors == {b"ValueError: attempt 2"}


@pytest.mark.kafka(topics=dict.fromkeys(["main", "waiting", "dead"], 2))
def test_a_retry_job_killed_at_each_of_its_steps_loses_and_doubles_nothing(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    from odradek.pipeline.jobs import audit
    from odradek.pipeline.jobs.logs import LogPlace

    clock = tmp_path / "now"
    clock.write_text("0")
    send(kafka_broker, "main", 100)
    for step, moment, topic in KILLED_AT:
        if (step, moment) == ("commit", "3"):
            clock.write_text("3600000")
        command = ["-c", DYING, kafka_broker.bootstrap_servers, str(tmp_path), step, moment, topic]
        with running(*command) as process:
            assert process.wait(600) == -signal.SIGKILL, f"{step} was not reached"
    with running("-c", DYING, kafka_broker.bootstrap_servers, str(tmp_path), "", "", "") as process:
        wait(process, lambda: (tmp_path / "checkpoint" / "query" / "commits" / "2").exists())
    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    for topic in ("waiting", "dead"):
        verdict = audit.run(spark, place, "main", topic, by="key")
        assert verdict.passed, verdict.lines()
        assert verdict.counts[f"{topic} committed"] == verdict.counts["main committed"] == 100
    calls = Counter((tmp_path / "calls").read_text().splitlines())
    assert calls.keys() == {f"{key} {number}" for key in range(100) for number in (0, 1)}
    assert {calls[f"{key} 0"] for key in range(100)} == {1, 2}  # again after the handler was killed
    assert {calls[f"{key} 1"] for key in range(100)} == {1}


@pytest.mark.kafka(topics={"in": 2})
def test_a_stream_of_the_data_source_killed_gives_each_record_once(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    def files() -> int:
        return len(list((tmp_path / "out").glob("*.parquet")))

    command = ["-c", STREAM, kafka_broker.bootstrap_servers, str(tmp_path)]
    send(kafka_broker, "in", 4000)
    with running(*command) as process:
        # A new file is there before its batch is committed: the kill comes between the two, or a little later.
        wait(process, lambda: files() > 0)
    send(kafka_broker, "in", 4000, first=4000)
    with running(*command) as process:
        wait(process, lambda: seen(spark, tmp_path) == 8000, every_s=1)
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    stored = {
        (record.partition, record.offset, (record.value or b"").decode()) for record in kafka_broker.records("in")
    }
    assert len(rows) == len(stored) == 8000
    assert {(row.partition, row.offset, row.value) for row in rows} == stored


@pytest.mark.kafka(topics={"in": 2, "effects": 2})
def test_the_effects_of_a_handler_killed_are_there_once_as_the_audit_counts(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    """Its sink is transactional: the handler is called at least once for each message."""
    from odradek.pipeline.jobs import audit
    from odradek.pipeline.jobs.logs import LogPlace

    where = [("effects", partition) for partition in (0, 1)]

    def end(*, committed: bool) -> int:
        return sum(client.offsets(dict.fromkeys(where, LATEST), read_committed=committed).values())

    command = ["-c", EFFECTS, kafka_broker.bootstrap_servers, str(tmp_path)]
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        send(kafka_broker, "in", 4000)
        with running(*command) as process:  # dies with its first effects written, committed or not
            wait(process, lambda: end(committed=False) > 0)
        send(kafka_broker, "in", 4000, first=4000)
        with running(*command) as process:  # repeats them, and dies when some are committed
            wait(process, lambda: end(committed=True) > 0)
        send(kafka_broker, "in", 1000, first=8000)
        with running(*command) as process:
            wait(process, lambda: len(committed(kafka_broker, "effects")) >= 9000, every_s=0.5)
    verdict = audit.run(spark, LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers), "in", "effects", by="key")
    assert verdict.passed, verdict.lines()
    assert verdict.counts["effects committed"] == verdict.counts["in committed"] == 9000
    calls = Counter((tmp_path / "calls").read_text().split())
    assert calls.keys() == {str(number) for number in range(9000)}


def committed(broker: odradek.KafkaBroker, topic: str) -> list[Any]:
    return list(broker.records(topic, isolation="read_committed"))


def seen(spark: Any, folder: Path) -> int:
    """Rows of the batches that are committed: the sink's own log says which files count."""
    try:
        return int(spark.read.parquet(str(folder / "out")).count())
    except Exception:  # no batch is committed yet
        return 0
