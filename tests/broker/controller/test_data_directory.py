"""The data directory: what a start finds after any end, and what it refuses."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.controller.disk_metadata_log import FOLDER
from odradek.protocol.errors import KafkaError
from odradek.protocol.uuids import uuid_to_text
from odradek.storage.backend import StorageError
from odradek.storage.file_system import FileSystem
from odradek.storage.quorum_state import read_quorum_state
from tests.fakes.archives import unpack
from tests.fakes.configs import set_configs
from tests.fakes.durable import die, durable
from tests.fakes.file_system import Crash, FaultyFileSystem, full_after
from tests.fakes.images import picture
from tests.storage.logs import NOW, put

# -- Directories that hold partitions and no metadata log.

CONFIG = {"offsets.topic.num.partitions": "2", "transaction.state.log.num.partitions": "2"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Folders of partitions without a metadata log."""
    return unpack("logdir-json.tar.gz", "logdir-json", tmp_path)


def test_partitions_alone_become_topics_with_default_settings(old: Path) -> None:
    with odradek.KafkaBroker(data_dir=old, config=CONFIG) as broker:
        topics = broker.all_topics
        assert {name: len(topic.partitions) for name, topic in topics.items()} == {
            "orders": 2,
            "idle": 1,
            "__consumer_offsets": 2,
            "__transaction_state": 2,
        }
        assert dict(topics["orders"].config) == {}
        assert topics["__consumer_offsets"].config["cleanup.policy"] == "compact"
        assert broker.groups["g"].offsets["orders", 0].offset == 7
        # Ids that the logs know are not given again.
        producers = {producer_id for record in broker.records("orders") if (producer_id := record.producer_id) >= 0}
        assert broker._call(lambda: broker.cluster.controller.producer_ids.allocate(1)) > max(producers)


def test_data_directory_puts_unknown_logs_aside(old: Path) -> None:
    with odradek.KafkaBroker(data_dir=old, config=CONFIG):
        pass
    stranger = old / "stranger-0"
    (old / "orders-0").rename(stranger)
    with odradek.KafkaBroker(data_dir=old, config=CONFIG) as broker:
        assert set(broker.topics) == {"orders", "idle"}
        assert list(broker.records("orders", 0)) == []
    assert not stranger.exists()
    assert [path.is_dir() for path in old.glob("stranger-0.*-stray")] == [True]
    # The same name with another id is another topic.
    metadata = old / "orders-1" / "partition.metadata"
    metadata.write_text(f"version: 0\ntopic_id: {uuid_to_text(b'x' * 16)}")
    with odradek.KafkaBroker(data_dir=old, config=CONFIG) as broker:
        assert list(broker.records("orders", 1)) == []
    assert len(list(old.glob("orders-1.*-stray"))) == 1


SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "300", "metadata.max.retention.bytes": "2000"}


State = dict[str, tuple[int, dict[str, str]]]


def state(cluster: Cluster) -> State:
    """Topics with number of partitions and configs."""
    image = cluster.image
    return {name: (len(topic.partitions), dict(image.configs_of(2, name))) for name, topic in image.topics.items()}


Step = tuple[Callable[[Cluster], Any], State]


def steps() -> list[Step]:
    """Changes, and the state after each."""
    return [
        (lambda c: c.create_topic("a", partitions=2, configs={"retention.ms": "5"}), {"a": (2, {"retention.ms": "5"})}),
        (
            lambda c: c.create_topic("b", partitions=1),
            {"a": (2, {"retention.ms": "5"}), "b": (1, {})},
        ),
        (
            lambda c: c.controller.create_partitions("b", 3),
            {"a": (2, {"retention.ms": "5"}), "b": (3, {})},
        ),
        (
            lambda c: set_configs(c, 2, "a", {"segment.bytes": "2000000"}),
            {"a": (2, {"segment.bytes": "2000000"}), "b": (3, {})},
        ),
        (lambda c: c.topics.by_name("b").partitions[0].log, {"a": (2, {"segment.bytes": "2000000"}), "b": (3, {})}),
        (lambda c: c.delete_topic("b"), {"a": (2, {"segment.bytes": "2000000"})}),
        (lambda c: c.close_logs(), {"a": (2, {"segment.bytes": "2000000"})}),
    ]


@pytest.mark.long
@pytest.mark.parametrize("config", [{}, SNAPSHOTS], ids=["log", "snapshots"])
def test_a_death_at_any_call_loses_nothing_that_was_acknowledged(tmp_path: Path, config: dict[str, str]) -> None:
    stop = 0
    while True:
        directory = tmp_path / str(stop)
        cluster = durable(directory, FaultyFileSystem(stop_at=stop), config)
        possible: list[State] = [{}]
        try:
            cluster.open_directory()
            for change, after in steps():
                possible = [possible[-1], after]
                change(cluster)
                possible = [after]
            break
        except Crash:
            die(cluster)
        look_at_what_is_left(directory, config, possible)
        stop += 1
    assert stop > 60


def look_at_what_is_left(directory: Path, config: dict[str, str], possible: list[State]) -> None:
    left = durable(directory, config=config)
    left.open_directory()
    assert state(left) in possible, directory
    assert all(p.leader_id == 1 for topic in left.topics.all() for p in topic.partitions)
    left.create_topic("after")
    before = picture(left.image)
    die(left)
    again = durable(directory, config=config)
    again.open_directory()
    after = picture(again.image)
    assert (after["ids"], after["configs"]) == (before["ids"], before["configs"])
    again.close_logs()


def test_a_clean_end_hands_over_as_kafka_does(tmp_path: Path) -> None:
    cluster = durable(tmp_path)
    cluster.open_directory()
    cluster.create_topic("a")
    epoch = cluster.image.brokers[1].epoch
    cluster.close_logs()
    partition = cluster.image.topics["a"].partitions[0]
    assert (partition.leader, partition.isr, partition.elr, partition.last_known_elr) == (-1, (), (1,), (1,))
    assert cluster.image.brokers[1].fenced
    assert (tmp_path / ".kafka_cleanshutdown").read_text() == f'{{"version":0,"brokerEpoch":{epoch}}}'
    again = durable(tmp_path)
    again.open_directory()
    partition = again.image.topics["a"].partitions[0]
    assert (partition.leader, partition.isr, partition.elr, partition.last_known_elr) == (1, (1,), (), ())
    assert partition.leader_epoch == 2
    assert again.image.brokers[1].epoch > epoch
    again.close_logs()


@pytest.mark.parametrize(("refused", "times"), [(FOLDER, 1), (FOLDER, 100), ("a-0", 100)])
def test_an_end_that_the_disk_refuses_is_no_clean_one(tmp_path: Path, refused: str, times: int) -> None:
    """The first that the metadata log is told at the end is that the broker shuts down."""
    mark, fs, left = tmp_path / ".kafka_cleanshutdown", FaultyFileSystem(), [times]
    cluster = durable(tmp_path, fs)
    cluster.open_directory()
    cluster.create_topic("a")
    put(cluster.topics.by_name("a").partitions[0].log, (b"k", b"v"))

    def refuse(call: str, path: Path) -> int | None:
        if refused not in path.parts or not left[0]:
            return None
        left[0] -= 1
        return errno.EIO

    fs.refuse = refuse
    cluster.close_logs()
    assert left[0] < times
    assert not mark.exists()
    die(cluster)
    again = durable(tmp_path)
    again.open_directory()
    assert list(again.image.topics) == ["a"]
    again.close_logs()
    assert mark.exists()


def test_a_directory_is_of_one_cluster(tmp_path: Path) -> None:
    wanted = "4L6g3nShT-eMCtK--X86sw"
    for cluster_id in (wanted, None, wanted):
        cluster = Cluster(data_dir=tmp_path, cluster_id=cluster_id)
        cluster.open_directory()
        assert cluster.cluster_id == wanted
        cluster.close_logs()
    with pytest.raises(StorageError, match=f"Expected AAAAAAAAAAAAAAAAAAAAAQ, but read {wanted}"):
        Cluster(data_dir=tmp_path, cluster_id="AAAAAAAAAAAAAAAAAAAAAQ").open_directory()


def test_a_start_opens_no_log_of_an_idle_topic(tmp_path: Path) -> None:
    cluster = durable(tmp_path)
    cluster.open_directory()
    cluster.create_topic("a", partitions=3)
    assert not list(tmp_path.glob("a-*"))
    cluster.close_logs()
    again = durable(tmp_path)
    again.open_directory()
    assert [partition.opened for partition in again.topics.by_name("a").partitions] == [False] * 3
    assert not list(tmp_path.glob("a-*"))
    again.close_logs()


def test_a_change_that_the_disk_refuses_did_not_happen(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    cluster = durable(tmp_path, fs)
    cluster.open_directory()
    cluster.create_topic("a")
    before = picture(cluster.image)
    fs.refuse = full_after(0)
    with pytest.raises(StorageError):
        cluster.create_topic("b")
    with pytest.raises(KafkaError):
        set_configs(cluster, 2, "a", {"retention.ms": "5"})
    assert picture(cluster.image) == before
    assert cluster.topics.get("b") is None
    fs.refuse = lambda call, path: None
    cluster.create_topic("b")
    die(cluster)
    again = durable(tmp_path)
    again.open_directory()
    assert set(again.image.topics) == {"a", "b"}
    again.close_logs()


def test_the_files_of_a_topic_go_from_a_full_disk(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    cluster = durable(tmp_path, fs, config={"log.segment.delete.delay.ms": "0"})
    cluster.open_directory()
    cluster.create_topic("a")
    log = cluster.topics.by_name("a").partitions[0].log
    for at in range(3):
        put(log, (b"k", bytes(20_000)), at=NOW + at)
    metadata = tmp_path / FOLDER
    fs.refuse = lambda call, path: (
        errno.ENOSPC if call in ("create", "write") and not path.is_relative_to(metadata) else None
    )
    cluster.delete_topic("a")
    assert not list(tmp_path.glob("a-*"))
    die(cluster)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("nodes", [1, 2])
def test_metadata_of_a_newer_release_is_refused_untouched(tmp_path: Path, nodes: int) -> None:
    newer = {"unstable.feature.versions.enable": "true", "odradek.features": "metadata.version=34"}
    cluster = Cluster(nodes=nodes, data_dir=tmp_path, config=newer)
    cluster.open_directory()
    cluster.create_topic("t")
    cluster.close_logs()
    before = _files(tmp_path)
    later = Cluster(nodes=nodes, data_dir=tmp_path)
    with pytest.raises(StorageError, match=r"metadata.version 34, and this release supports 7 to 33"):
        later.open_directory()
    assert _files(tmp_path) == before
    again = Cluster(nodes=nodes, data_dir=tmp_path, config=newer)
    again.open_directory()
    assert list(again.image.topics) == ["t"]
    again.close_logs()


@pytest.mark.parametrize("release", ["3.3-IV3", "3.7-IV1", "3.9-IV0"])
def test_an_older_metadata_version_is_kept(tmp_path: Path, release: str) -> None:
    first = Cluster(nodes=2, data_dir=tmp_path, config={"odradek.release.version": release})
    first.open_directory()
    first.create_topic("t", assignments={0: [1, 2]})
    first.membership.lose(2)
    first.membership.rejoin(2)
    features = first.image.features
    first.close_logs()
    again = Cluster(nodes=2, data_dir=tmp_path)
    again.open_directory()
    assert again.image.features == features
    assert again.image.topics["t"].partitions[0].replicas == (1, 2)
    again.close_logs()


def test_the_quorum_is_that_of_the_configuration(tmp_path: Path) -> None:
    voters = {"controller.quorum.voters": "2@localhost:9093,3@localhost:9094"}
    cluster = Cluster(nodes=3, data_dir=tmp_path, config=voters)
    cluster.open_directory()
    assert (cluster.controller_id, [each.id for each in cluster.quorum.voters]) == (2, [2, 3])
    assert sorted(cluster.image.controllers) == [2, 3]
    cluster.close_logs()
    for node_id in (1, 2, 3):
        state = read_quorum_state(FileSystem(), tmp_path / f"node-{node_id}" / FOLDER)
        assert state is not None
        assert (state.leader_id, list(state.voters)) == (2, [2, 3])


SEPARATE = {
    "process.roles": "broker",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "3000@127.0.0.1:0,3001@127.0.0.1:0",
}


def metadata_folders(directory: Path) -> set[str]:
    return {path.parent.relative_to(directory).as_posix() for path in directory.glob("**/__cluster_metadata-0")}


@pytest.mark.parametrize("nodes", [1, 2])
def test_controllers_of_their_own_keep_the_metadata_log(tmp_path: Path, nodes: int) -> None:
    cluster = Cluster(nodes=nodes, config=SEPARATE, data_dir=tmp_path)
    cluster.open_directory()
    assert cluster.controller_id == 3000
    cluster.create_topic("t", partitions=2, replication_factor=nodes)
    directories = {node.metadata_directory for node in cluster.members.values()}
    cluster.close_logs()
    brokers = {f"node-{number}" for number in range(1, nodes + 1)}
    assert metadata_folders(tmp_path) == {*brokers, "node-3000", "node-3001"}
    assert {path.name for path in tmp_path.iterdir()} == metadata_folders(tmp_path)
    again = Cluster(nodes=nodes, config=SEPARATE, data_dir=tmp_path)
    again.open_directory()
    assert [len(topic.partitions) for topic in again.topics.all()] == [2]
    assert {node.metadata_directory for node in again.members.values()} == directories
    assert again.controller.kraft_version == 0
    again.close_logs()
    less = {**SEPARATE, "controller.quorum.voters": "3000@127.0.0.1:0"}
    with pytest.raises(StorageError, match=r"node-3001; start it with all these nodes"):
        Cluster(nodes=nodes, config=less, data_dir=tmp_path).open_directory()


def test_a_node_that_is_the_voter_of_its_log_stays_a_controller(tmp_path: Path) -> None:
    cluster = Cluster(data_dir=tmp_path)
    cluster.open_directory()
    cluster.close_logs()
    with pytest.raises(StorageError, match=r"names node 1 as the voter; it has to be a controller"):
        Cluster(config=SEPARATE, data_dir=tmp_path).open_directory()


def test_controllers_of_their_own_have_the_directories_that_they_were_given(tmp_path: Path) -> None:
    own = {1: {"log.dirs": f"{tmp_path}/a,{tmp_path}/b"}, 3000: {"metadata.log.dir": f"{tmp_path}/m"}}
    config = {**SEPARATE, "controller.quorum.voters": "3000@127.0.0.1:0"}
    cluster = Cluster(config=BrokerConfig(config, nodes=own))
    cluster.open_directory()
    cluster.create_topic("t", partitions=2)
    assert [len(topic.partitions) for topic in cluster.topics.all()] == [2]
    cluster.close_logs()
    assert metadata_folders(tmp_path) == {"a", "m"}
    with pytest.raises(ConfigError, match=r"log.dirs is set for node 1, so set it for every node"):
        Cluster(config=BrokerConfig(SEPARATE, nodes=own))


def test_a_quorum_that_nobody_names_keeps_no_directory(tmp_path: Path) -> None:
    config = {**SEPARATE, "controller.quorum.bootstrap.servers": "127.0.0.1:0"}
    del config["controller.quorum.voters"]
    with pytest.raises(ValueError, match=r"with a log directory need controller\.quorum\.voters"):
        Cluster(config=config, data_dir=tmp_path)


def test_the_metadata_log_of_several_nodes_is_in_their_log_directories(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"metadata.log.dir: 3 nodes keep the metadata log"):
        Cluster(config={**SEPARATE, "log.dirs": str(tmp_path / "a"), "metadata.log.dir": str(tmp_path / "m")})
