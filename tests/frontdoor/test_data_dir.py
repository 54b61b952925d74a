"""Durable brokers through the public API: a directory of Kafka's, restarts, errors."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

import odradek
from odradek.__main__ import main
from odradek.protocol.record_batch import Record, build_batch
from odradek.storage.checkpoint_files import CLEAN_SHUTDOWN
from odradek.storage.dump import dump
from tests.fakes.archives import VECTORS, unpack
from tests.fakes.wire_client import WireClient
from tests.scenarios.log_directories import AGES, unpack_age
from tests.scenarios.log_tails import TAILS, append_tail, produced


@pytest.fixture
def kafka_log_dir(tmp_path: Path) -> Path:
    return unpack("logdir.tar.gz", "logdir", tmp_path)


def test_serves_a_directory_that_kafka_wrote(kafka_log_dir: Path) -> None:
    with odradek.KafkaBroker(data_dir=kafka_log_dir) as broker:
        topics = broker.all_topics
        assert {name: len(topic.partitions) for name, topic in topics.items()} == {
            "__consumer_offsets": 5,
            "__transaction_state": 5,
            "d-codecs": 1,
            "d-comp": 1,
            "d-seg": 1,
            "d-txn": 1,
        }
        partition = topics["d-seg"].partitions[0]
        assert (partition.log_start_offset, partition.high_watermark) == (100, 360)
        assert topics["d-txn"].partitions[0].last_stable_offset == 53
        committed = [r.value for r in broker.records("d-txn", isolation="read_committed") if r.control is None]
        raw = [r.value for r in broker.records("d-txn") if r.control is None]
        assert 0 < len(committed) < len(raw)
        assert len(list(broker.records("d-codecs"))) == 100
        groups = broker.groups
        committed_offsets = {
            (group, *partition): (info.offset, info.metadata)
            for group, described in groups.items()
            for partition, info in described.offsets.items()
        }
    assert committed_offsets == recorded_offsets()


def recorded_offsets() -> dict[tuple[str, str, int], tuple[int, str]]:
    """The last commit of each group and partition in what Kafka's dump tool printed of `__consumer_offsets`.

    Commits of a transaction count when its marker is a commit.
    """
    latest: dict[tuple[str, str, int], tuple[int, str]] = {}
    pending: dict[str, list[tuple[tuple[str, str, int], tuple[int, str]]]] = {}
    with tarfile.open(VECTORS / "logdir-dump.tar.gz") as archive:
        for index in range(5):
            file = archive.extractfile(f"dump/__consumer_offsets-{index}/log.txt")
            assert file is not None
            producer, transactional = "", False
            for line in file.read().decode().splitlines():
                if line.startswith("baseOffset"):
                    producer = line.split("producerId: ")[1].split()[0]
                    transactional = "isTransactional: true" in line
                elif "endTxnMarker: " in line:
                    ended = pending.pop(producer, [])
                    latest.update(ended if "COMMIT" in line else [])
                elif '{"type":"1",' in line or '{"type":"0",' in line:
                    key = json.loads(line.split(" key: ")[1].split(" payload: ")[0])["data"]
                    name = (key["group"], key["topic"], key["partition"])
                    payload = line.split(" payload: ")[1]
                    if payload == "<DELETE>":
                        latest.pop(name, None)
                        continue
                    value = json.loads(payload)["data"]
                    entry = (value["offset"], value["metadata"])
                    if transactional:
                        pending.setdefault(producer, []).append((name, entry))
                    else:
                        latest[name] = entry
    return latest


def test_a_restart_keeps_topics_ids_settings_records_and_offsets(tmp_path: Path) -> None:
    topics = {"orders": {"partitions": 3, "config": {"cleanup.policy": "compact"}}}
    with odradek.KafkaBroker(data_dir=tmp_path, topics=topics) as broker:
        before = broker.topics["orders"]
        broker.create_topic("later", partitions=2)
    with odradek.KafkaBroker(data_dir=tmp_path) as broker:
        after = broker.topics
        assert after["orders"].topic_id == before.topic_id
        assert dict(after["orders"].config) == {"cleanup.policy": "compact"}
        assert len(after["later"].partitions) == 2


@pytest.mark.long
@pytest.mark.parametrize("age", AGES)
def test_serves_kafkas_directory_at_every_age(tmp_path: Path, age: str) -> None:
    directory = unpack_age(age, tmp_path)
    for start in range(2):  # as Kafka left it, and as we did
        with odradek.KafkaBroker(data_dir=directory, config={"log.retention.ms": "-1"}) as broker:
            assert set(broker.topics) == {*AGES[age], *(f"new-{number}" for number in range(start))}
            for topic, expected in AGES[age].items():
                assert [(r.offset, r.key, r.value) for r in broker.records(topic)] == expected
            broker.create_topic(f"new-{start}")
            with WireClient.at(broker.bootstrap_servers) as client:
                assert produced(client, f"new-{start}", build_batch([Record(0, 0, None, b"v")]))
            assert [r.value for r in broker.records(f"new-{start}")] == [b"v"]
    assert [item for item in dump(directory) if item["kind"] == "error"] == []


@pytest.mark.parametrize("tail", ["zeros-4096", "garbage-100", "cut-batch", "length-minus-1", "wrong-crc-then-good"])
def test_starts_after_a_death_that_left_damage_in_every_log(tmp_path: Path, tail: str) -> None:
    with (
        odradek.KafkaBroker(data_dir=tmp_path, topics={"a": 2}) as broker,
        WireClient.at(broker.bootstrap_servers) as client,
    ):
        assert produced(client, "a", build_batch([Record(0, 0, b"k", b"v")]))
    (tmp_path / CLEAN_SHUTDOWN).unlink()
    logs = list(tmp_path.rglob("*.log"))
    assert {path.parent.name for path in logs} >= {"__cluster_metadata-0", "a-0"}
    for path in logs:
        append_tail(path, TAILS[tail])
    for _ in range(2):
        with odradek.KafkaBroker(data_dir=tmp_path, config={"log.retention.ms": "-1"}) as broker:
            assert {name: len(topic.partitions) for name, topic in broker.topics.items()} == {"a": 2}
            assert [(record.key, record.value) for record in broker.records("a")] == [(b"k", b"v")]


def test_a_folder_of_something_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "letter.txt").write_text("Dear Felice")
    with pytest.raises(odradek.KafkaError, match=r"it has no meta\.properties and holds letter\.txt"):
        odradek.KafkaBroker(data_dir=tmp_path).start()
    assert main(["serve", "--port", "0", "--data-dir", str(tmp_path)]) == 2
    assert f"{tmp_path}: not a log directory" in capsys.readouterr().err
    assert main(["serve", "--port", "0", "--data-dir", str(tmp_path / "letter.txt")]) == 2
    assert f"{tmp_path / 'letter.txt'}: a file is there" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_second_broker_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    with (
        odradek.KafkaBroker(data_dir=tmp_path),
        pytest.raises(Exception, match="another broker uses this data directory"),
    ):
        odradek.KafkaBroker(data_dir=tmp_path).start()


def test_serve_names_the_file_that_stands_in_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "meta.properties").write_text("nonsense")
    assert main(["serve", "--port", "0", "--data-dir", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "meta.properties" in error


def test_one_damaged_partition_leaves_the_others_serving(kafka_log_dir: Path) -> None:
    (kafka_log_dir / "d-seg-0" / "leader-epoch-checkpoint").write_text("nonsense")
    with odradek.KafkaBroker(data_dir=kafka_log_dir) as broker:
        assert len(list(broker.records("d-codecs"))) == 100
        with pytest.raises(Exception, match="d-seg-0/leader-epoch-checkpoint"):
            list(broker.records("d-seg"))
