"""Jobs and data source on a real cluster with two workers, one of which dies: the results are those of one process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

import odradek
from odradek.pipeline.jobs import audit
from odradek.pipeline.jobs.logs import LogPlace
from tests.pipeline import cluster_program, quick_spark
from tests.pipeline.standalone_cluster import PATIENCE_S, StandaloneCluster
from tests.pipeline.test_session import produce, produce_transaction

pytestmark = [pytest.mark.slow, pytest.mark.jdk]
REPOSITORY = Path(__file__).resolve().parents[2]
FEW_PARTITIONS = {
    "offsets.topic.num.partitions": 2,
    "transaction.state.log.num.partitions": 2,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    with StandaloneCluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


class Driver:
    """The program of this module on the cluster, in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self._process, self._folder = process, folder

    def wait(self, what: str, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            assert self._process.poll() is None, f"it ended before {what}: {self._log()}"
            assert time.monotonic() < deadline, f"{what}: nothing happens: {self._log()}"
            time.sleep(0.02)

    def result(self) -> Any:
        assert self._process.wait(PATIENCE_S) == 0, self._log()
        return json.loads((self._folder / "result.json").read_text())

    def _log(self) -> str:
        return (self._folder / "driver.log").read_text()[-3000:]


@contextmanager
def driver(program: str, cluster: StandaloneCluster, broker: odradek.KafkaBroker, folder: Path) -> Iterator[Driver]:
    cluster.have_workers(2)
    java = dict.fromkeys(("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"), quick_spark.JAVA_OPTIONS)
    settings = json.dumps({**quick_spark.SETTINGS, **java, "spark.sql.shuffle.partitions": "2", **cluster.settings()})
    words = [program, cluster.url, settings, broker.bootstrap_servers, str(folder), "cluster"]
    with (folder / "driver.log").open("wb") as log:
        command = [sys.executable, "-m", "tests.pipeline.cluster_program", *words]
        process = subprocess.Popen(command, cwd=REPOSITORY, stdout=log, stderr=log)
    try:
        yield Driver(process, folder)
    finally:
        process.kill()
        process.wait()


def under_way(folder: Path) -> list[list[str]]:
    """(worker, partition, attempt) of each task that was held."""
    return [path.name.split(".") for path in (folder / "under-way").glob("*")]


def kill_in_the_middle(running: Driver, cluster: StandaloneCluster, folder: Path) -> None:
    """The worker dies whose task was held first; when that is known, tasks may go on."""
    running.wait("a task to be held", lambda: bool(under_way(folder)))
    worker, partition, attempt = under_way(folder)[0]
    cluster.kill(worker)
    (folder / "go").touch()

    def repeated() -> bool:
        return any(
            each[0] != worker and each[1] == partition and int(each[2]) > int(attempt) for each in under_way(folder)
        )

    running.wait("the task to be repeated on the other worker", repeated)


def fill(broker: odradek.KafkaBroker) -> None:
    """Topics, groups and transactions in which each job finds something."""
    produce(broker, "in", [f"value {number}" for number in range(300)], **{"enable.idempotence": True})
    produce(broker, "out", [f"value {number}" for number in range(290)], **{"enable.idempotence": True})
    produce(broker, "out", ["once more"])
    produce_transaction(broker, "in", ["kept"], commit=True)
    produce_transaction(broker, "in", ["dropped"], commit=False)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "readers"})
    consumer.commit(offsets=[TopicPartition("in", 0, 50), TopicPartition("in", 1, 5)], asynchronous=False)
    consumer.close()


def test_batch_jobs_run_on_a_standalone_cluster(
    spark: Any, cluster: StandaloneCluster, kafka_broker_factory: Any, tmp_path: Path
) -> None:
    topics = {"in": 2, "out": 2, "again-local": 2, "again-cluster": 2}
    broker = kafka_broker_factory(topics=topics, config=FEW_PARTITIONS, data_dir=tmp_path / "data")
    fill(broker)
    with driver("jobs", cluster, broker, tmp_path) as running:
        local = cluster_program.jobs(spark, broker.bootstrap_servers, tmp_path, "local")
        found = running.result()
    assert found == json.loads(json.dumps(local))
    assert found["audit of a pair, in the folder"][-1] == "FAILED"
    assert len(found["groups"]["commits"]) == 2
    assert len(found["transactions"]["markers"]) == 2
    assert found["archive"] == 301

    def replayed(topic: str) -> list[Any]:
        return [(each.partition, each.offset, each.key, each.value) for each in broker.records(topic)]

    assert replayed("again-cluster") == replayed("again-local")
    assert len(replayed("again-cluster")) == 301


@pytest.mark.kafka(topics={"in": 2})
def test_a_stream_whose_worker_dies_gives_each_row_once(
    spark: Any, cluster: StandaloneCluster, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    produce(kafka_broker, "in", [f"early {number}" for number in range(400)])
    with driver("stream", cluster, kafka_broker, folder) as running:
        running.wait("the first micro-batch", (folder / "checkpoint" / "commits" / "0").exists)
        produce(kafka_broker, "in", [f"late {number}" for number in range(400)])
        kill_in_the_middle(running, cluster, folder)
        (folder / "all-sent").touch()
        found = running.result()
    local = tmp_path / "local"
    local.mkdir()
    for word in ("go", "all-sent"):
        (local / word).touch()
    expected = cluster_program.stream(spark, kafka_broker.bootstrap_servers, local, "local")
    assert found["rows"] == expected["rows"]
    assert len(found["rows"]) == 800
    assert len(found["counts"]) == 2
    assert found["counts"][-1] == expected["counts"][-1]


@pytest.mark.kafka(topics={"in": 2, "effects-cluster": 2})
def test_the_effects_of_a_handler_whose_worker_dies_are_there_once(
    spark: Any, cluster: StandaloneCluster, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    produce(kafka_broker, "in", [str(number) for number in range(400)])
    with driver("effects", cluster, kafka_broker, tmp_path) as running:
        kill_in_the_middle(running, cluster, tmp_path)
        running.result()
    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    verdict = audit.run(spark, place, "in", "effects-cluster", by="key")
    assert verdict.passed, verdict.lines()
    assert verdict.counts["effects-cluster committed"] == 400


@pytest.mark.kafka(topics={"in": 2, "failed-cluster": 2, "failed-local": 2})
def test_a_retry_job_whose_worker_dies_loses_and_doubles_nothing(
    spark: Any, cluster: StandaloneCluster, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    produce(kafka_broker, "in", [str(number) for number in range(200)])
    with driver("retry", cluster, kafka_broker, folder) as running:
        kill_in_the_middle(running, cluster, folder)
        running.result()
    local = tmp_path / "local"
    local.mkdir()
    (local / "go").touch()
    cluster_program.retry(spark, kafka_broker.bootstrap_servers, local, "local")

    def failed(topic: str) -> Counter[Any]:
        records = kafka_broker.records(topic, isolation="read_committed")
        return Counter((each.key, each.value, each.headers) for each in records)

    assert failed("failed-cluster") == failed("failed-local")
    assert set(failed("failed-cluster").values()) == {1}
    assert len(failed("failed-cluster")) == 200
