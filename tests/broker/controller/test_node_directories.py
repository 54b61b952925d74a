"""Several nodes on disk: a directory for each, with the partitions of which it is a replica."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.data_directory import stored_node_id
from odradek.broker.controller.node_directories import NodeDirectories, directory_id
from odradek.broker.controller.partition_control import Reassignment, move_leader, reassign_partitions
from odradek.broker.partitions.replicas import NOTHING
from odradek.broker.partitions.waiters import Waiter
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import format_meta_properties, parse_meta_properties
from tests.fakes.ask import ask
from tests.fakes.durable import die, durable, opened
from tests.fakes.file_system import Crash, FaultyFileSystem

# -- Log directories that are not those of one node, or not all of them.


def test_a_start_refuses_directories_that_do_not_belong_together(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    cluster = opened([first, second])
    cluster.create_topic("t", partitions=2)
    cluster.topics.by_name("t").partitions[1].append(build_batch([Record(0, 0, None, b"x", ())]), now_ms=0)
    cluster.close_logs()
    with pytest.raises(StorageError, match=r"log\.dirs lacks a directory that the node had, with t-1"):
        opened([first, tmp_path / "c"])
    with pytest.raises(StorageError, match=r"log\.dirs lacks a directory that the node had, with t-1"):
        opened(first)
    with pytest.raises(StorageError, match="/a has the metadata log: name it first"):
        opened([second, first])
    with pytest.raises(StorageError, match=r"/b has partitions, but .*/d has no metadata log"):
        opened([tmp_path / "d", second])
    meta = parse_meta_properties((second / "meta.properties").read_bytes())
    for text, changed in (
        ("belongs to cluster foreign, not to", meta.__class__("foreign", 1, meta.directory_id)),
        ("belongs to node 7, not to 1", meta.__class__(meta.cluster_id, 7, meta.directory_id)),
    ):
        (second / "meta.properties").write_bytes(format_meta_properties(changed))
        with pytest.raises(StorageError, match=text):
            opened([first, second])
    (second / "meta.properties").write_bytes((first / "meta.properties").read_bytes())
    with pytest.raises(StorageError, match=r"has the directory id of .*/a"):
        opened([first, second])
    (second / "meta.properties").write_bytes(format_meta_properties(meta))
    again = opened([first, second])
    assert again.topics.by_name("t").partitions[1].log.log_end_offset == 1
    again.close_logs()


def test_a_directory_without_partitions_may_go(tmp_path: Path) -> None:
    cluster = opened([tmp_path / "a", tmp_path / "b"])
    cluster.create_topic("t")
    cluster.close_logs()
    again = opened(tmp_path / "a")
    assert again.topics.by_name("t").partitions[0].log.log_end_offset == 0
    assert len(again.image.brokers[1].directories) == 1
    again.close_logs()


def fill(cluster: Cluster, topic: str, index: int, *values: bytes) -> None:
    for value in values:
        partition = cluster.topics.by_name(topic).partitions[index]
        partition.append(build_batch([Record(0, 0, b"k", value, ())]), now_ms=0)


def values(cluster: Cluster, topic: str, index: int) -> int:
    return cluster.topics.by_name(topic).partitions[index].log.log_end_offset


def folders(directory: Path, node: int) -> set[str]:
    return {path.name for path in (directory / f"node-{node}").iterdir() if path.is_dir()}


def test_a_clean_end_leaves_each_node_its_replicas(tmp_path: Path) -> None:
    cluster = opened(tmp_path, nodes=3)
    cluster.create_topic("a", assignments={0: [1, 2], 1: [3, 1]})
    fill(cluster, "a", 0, b"x", b"y")
    fill(cluster, "a", 1, b"z")
    cluster.close_logs()
    assert folders(tmp_path, 1) == {"__cluster_metadata-0", "a-0", "a-1"}
    assert folders(tmp_path, 2) == {"__cluster_metadata-0", "a-0"}
    assert folders(tmp_path, 3) == {"__cluster_metadata-0", "a-1"}
    metas = [parse_meta_properties((tmp_path / f"node-{node}/meta.properties").read_bytes()) for node in (1, 2, 3)]
    assert [meta.node_id for meta in metas] == [1, 2, 3]
    assert len({meta.cluster_id for meta in metas}) == 1
    assert len({meta.directory_id for meta in metas}) == 3
    for name in ("00000000000000000000.log", "partition.metadata"):
        assert len({(tmp_path / f"node-{node}/a-0/{name}").read_bytes() for node in (1, 2)}) == 1
        assert len({(tmp_path / f"node-{node}/__cluster_metadata-0/{name}").read_bytes() for node in (1, 2, 3)}) == 1


def test_a_start_goes_on_with_one_copy(tmp_path: Path) -> None:
    for round_number in range(3):
        cluster = opened(tmp_path, nodes=3)
        if round_number == 0:
            cluster.create_topic("a", assignments={0: [2, 3, 1]})
        assert sum("a-0" in folders(tmp_path, node) for node in (1, 2, 3)) <= 1
        fill(cluster, "a", 0, b"x")
        assert values(cluster, "a", 0) == round_number + 1
        assert cluster.image.topics["a"].partitions[0].leader == 2
        cluster.close_logs()
        assert all("a-0" in folders(tmp_path, node) for node in (1, 2, 3))


def test_node_directories_after_a_death_take_the_one_copy(tmp_path: Path) -> None:
    cluster = opened(tmp_path, nodes=2)
    cluster.create_topic("a", assignments={0: [1, 2]})
    fill(cluster, "a", 0, b"x")
    cluster.close_logs()
    cluster = opened(tmp_path, nodes=2)
    fill(cluster, "a", 0, b"y")
    cluster.create_topic("b")
    die(cluster)
    cluster = opened(tmp_path, nodes=2)
    assert values(cluster, "a", 0) == 2
    assert set(cluster.image.topics) == {"a", "b"}
    cluster.close_logs()


def test_node_directories_after_a_death_take_the_last_leaders_log(tmp_path: Path) -> None:
    """The process dies while the replicas' logs differ, and the last leader's log is not in its own directory."""
    cluster = opened(tmp_path, nodes=3)
    partition = cluster.create_topic("a", assignments={0: [1, 2, 3]}).partitions[0]
    fill(cluster, "a", 0, b"both")
    cluster.controller.ask(move_leader, ("a", 0), 2)
    for node in (1, 3):
        cluster.replicator.hold(partition, node, NOTHING)
    fill(cluster, "a", 0, b"lost", b"lost")
    for node in (1, 3, 2):
        cluster.replicator.node_lost(node)
        cluster.membership.lose(node)
    cluster.membership.rejoin(1)
    cluster.replicator.node_back(1)
    cluster.controller.ask(move_leader, ("a", 0), 1, unclean=True)
    assert values(cluster, "a", 0) == 1
    assert sum("a-0" in folders(tmp_path, node) for node in (1, 2, 3)) == 2
    die(cluster)
    cluster = opened(tmp_path, nodes=3)
    assert values(cluster, "a", 0) == 1
    cluster.close_logs()


def test_replicas_that_moved_move_with_the_end(tmp_path: Path) -> None:
    cluster = opened(tmp_path, nodes=3)
    cluster.create_topic("a", assignments={0: [1, 2]})
    fill(cluster, "a", 0, b"x")
    assert cluster.controller.ask(reassign_partitions, [Reassignment(("a", 0), [3])]) == [None]
    fill(cluster, "a", 0, b"y")
    cluster.close_logs()
    assert ["a-0" in folders(tmp_path, node) for node in (1, 2, 3)] == [False, False, True]
    cluster = opened(tmp_path, nodes=3)
    assert values(cluster, "a", 0) == 2
    cluster.close_logs()


def test_a_deleted_topic_is_gone_everywhere(tmp_path: Path) -> None:
    cluster = opened(tmp_path, nodes=2)
    cluster.create_topic("a", assignments={0: [1, 2]})
    fill(cluster, "a", 0, b"x")
    cluster.close_logs()
    cluster = opened(tmp_path, nodes=2)
    cluster.delete_topic("a")
    cluster.close_logs()
    assert [folders(tmp_path, node) for node in (1, 2)] == [{"__cluster_metadata-0"}] * 2


def test_node_directory_of_one_node_becomes_the_first_of_several(tmp_path: Path) -> None:
    cluster = opened(tmp_path)
    cluster.create_topic("a")
    fill(cluster, "a", 0, b"x")
    cluster.close_logs()
    cluster = opened(tmp_path, nodes=2)
    assert values(cluster, "a", 0) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"node-1", "node-2"}
    cluster.close_logs()


def test_nodes_are_not_left_out(tmp_path: Path) -> None:
    opened(tmp_path, nodes=3).close_logs()
    with pytest.raises(StorageError, match="node-1, node-2, node-3"):
        durable(tmp_path).open_directory()
    with pytest.raises(StorageError, match="start it with all these nodes"):
        durable(tmp_path, nodes=2).open_directory()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("do not lose me")
    with pytest.raises(StorageError, match=r"thesis\.tex"):
        durable(tmp_path, nodes=2).open_directory()
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.tex"}


def test_a_directory_knows_its_node(tmp_path: Path) -> None:
    assert stored_node_id(tmp_path) is None
    opened(tmp_path / "one", {"node.id": "7"}).close_logs()
    assert stored_node_id(tmp_path / "one") == 7
    cluster = opened(tmp_path / "one")
    assert list(cluster.nodes) == [7]
    cluster.close_logs()
    with pytest.raises(StorageError, match="belongs to node 7"):
        durable(tmp_path / "one", config={"node.id": "1"}).open_directory()
    opened(tmp_path / "many", {"node.id": "5"}, nodes=2).close_logs()
    assert stored_node_id(tmp_path / "many") == 5


# -- A node with several log directories: what is where, what is recorded of it, moves, and what a start refuses.


def paths(tmp_path: Path, names: str = "ab") -> list[Path]:
    return [tmp_path / name for name in names]


def folders_of_log_directories(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir() if path.is_dir()}


def places(cluster: Cluster, topic: str) -> list[str]:
    """The name of each partition's directory, as the live partitions have it."""
    directories = cluster.topics.directories
    assert directories is not None
    return [directories.path_of(1, topic, p.index).name for p in cluster.topics.by_name(topic).partitions]


def recorded(cluster: Cluster, topic: str) -> list[str]:
    """The same as the metadata has it."""
    assert cluster.directory is not None
    names = {directory_id(backend): backend.directory.name for backend in cluster.directory.backends}
    return [names.get(p.directories[0], "unknown") for p in cluster.image.topics[topic].partitions]


def move(cluster: Cluster, topic: str, index: int, to: Path) -> None:
    directories = cluster.topics.directories
    assert isinstance(directories, NodeDirectories)
    directories.move(1, cluster.topics.by_name(topic).partitions[index], to)


def content(cluster: Cluster, topic: str, index: int) -> tuple[int, int, int]:
    log = cluster.topics.by_name(topic).partitions[index].log
    read = log.read(log.log_start_offset, max_bytes=1 << 20, up_to_offset=log.log_end_offset)
    return log.log_start_offset, log.log_end_offset, sum(len(part) for part in read.parts)


def test_new_partitions_go_where_the_fewest_are(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path, "abc"))
    cluster.create_topic("t", partitions=4)
    cluster.create_topic("u", partitions=2)
    assert places(cluster, "t") == recorded(cluster, "t") == ["a", "b", "c", "a"]
    assert places(cluster, "u") == recorded(cluster, "u") == ["b", "c"]
    fill(cluster, "t", 1, b"x")
    cluster.delete_topic("t")
    cluster.create_topic("v", partitions=2)
    assert recorded(cluster, "v") == ["a", "a"]
    cluster.controller.create_partitions("v", 3)
    assert recorded(cluster, "v") == ["a", "a", "b"]
    cluster.close_logs()


def test_a_new_partition_is_not_assigned_until_its_broker_says_where(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path))
    seen: list[tuple[bytes, ...]] = []
    cluster.controller.publishers.insert(
        0, (lambda delta, image: seen.extend(p.directories for t in image.topics.values() for p in t.partitions), ())
    )
    cluster.create_topic("t")
    first, second = seen
    assert first == (bytes(15) + b"\x01",)  # as a real Kafka records it
    assert second == (cluster.nodes[1].metadata_directory,)
    cluster.close_logs()


def test_each_directory_is_one_of_kafkas(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path))
    cluster.create_topic("t", partitions=2)
    fill(cluster, "t", 0, b"x")
    fill(cluster, "t", 1, b"y")
    registered = cluster.image.brokers[1].directories
    quorum = cluster.nodes[1].metadata_directory
    cluster.close_logs()
    metas = [parse_meta_properties((path / "meta.properties").read_bytes()) for path in paths(tmp_path)]
    assert len({meta.cluster_id for meta in metas}) == 1
    assert len({meta.directory_id for meta in metas}) == 2
    assert list(registered) == sorted(registered, key=lambda identity: struct.unpack(">qq", identity))
    assert quorum in registered
    assert [folders_of_log_directories(path) for path in paths(tmp_path)] == [{"__cluster_metadata-0", "t-0"}, {"t-1"}]
    for path, partition in zip(paths(tmp_path), ("t 0 1", "t 1 1"), strict=True):
        assert (path / ".kafka_cleanshutdown").exists()
        assert partition in (path / "recovery-point-offset-checkpoint").read_text().splitlines()
    again = opened(paths(tmp_path))
    assert places(again, "t") == recorded(again, "t") == ["a", "b"]
    assert content(again, "t", 1)[:2] == (0, 1)
    again.close_logs()


def test_the_metadata_log_may_have_a_directory_of_its_own(tmp_path: Path) -> None:
    for metadata, expected in (("b", {"__cluster_metadata-0", "t-1"}), ("m", {"__cluster_metadata-0"})):
        folder = tmp_path / metadata
        config = {"metadata.log.dir": str(folder / metadata)}
        cluster = opened(paths(folder), config)
        cluster.create_topic("t", partitions=2)
        fill(cluster, "t", 0, b"x")
        fill(cluster, "t", 1, b"x")
        cluster.close_logs()
        assert folders_of_log_directories(folder / metadata) == expected
        assert folders_of_log_directories(folder / "a") == {"t-0"}
        again = opened(paths(folder), config)
        assert content(again, "t", 0)[:2] == content(again, "t", 1)[:2] == (0, 1)
        again.close_logs()


def test_a_directory_is_added_to_those_that_are_there(tmp_path: Path) -> None:
    cluster = opened(tmp_path / "a")
    cluster.create_topic("t", partitions=3)
    fill(cluster, "t", 0, b"x")
    cluster.close_logs()
    cluster = opened(paths(tmp_path))
    cluster.create_topic("u", partitions=2)
    assert recorded(cluster, "t") == ["a", "a", "a"]
    assert recorded(cluster, "u") == ["b", "b"]
    assert content(cluster, "t", 0)[:2] == (0, 1)
    cluster.close_logs()


def test_a_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("no folder")
    with pytest.raises(StorageError, match="/b: a file is there"):
        opened(paths(tmp_path))
    (tmp_path / "b").unlink()
    opened(paths(tmp_path)).close_logs()  # nobody holds the first one's lock


def test_a_replica_moves_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path))
    cluster.create_topic("t", partitions=2, configs={"segment.bytes": "1048576"})
    fill(cluster, "t", 0, b"1", b"2", b"3" * 600_000, b"4" * 600_000)
    partition = cluster.topics.by_name("t").partitions[0]
    partition.delete_records(1)
    before, epoch = content(cluster, "t", 0), cluster.image.topics["t"].partitions[0].leader_epoch
    move(cluster, "t", 0, tmp_path / "b")
    assert places(cluster, "t") == recorded(cluster, "t") == ["b", "b"]
    assert content(cluster, "t", 0) == before
    assert cluster.image.topics["t"].partitions[0].leader_epoch == epoch
    fill(cluster, "t", 0, b"5")
    move(cluster, "t", 1, tmp_path / "a")  # never used: it has no folder
    assert recorded(cluster, "t") == ["b", "a"]
    cluster.close_logs()
    assert folders_of_log_directories(tmp_path / "a") == {"__cluster_metadata-0"}
    assert "t-0" in folders_of_log_directories(tmp_path / "b")
    again = opened(paths(tmp_path))
    assert content(again, "t", 0)[:2] == (1, 5)
    assert recorded(again, "t") == ["b", "a"]
    again.close_logs()


def test_a_move_wakes_readers_and_keeps_what_is_known_of_producers(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path))
    partition = cluster.create_topic("t").partitions[0]
    batches = [
        build_batch([Record(0, 0, None, b"x", ())], producer_id=7, producer_epoch=0, base_sequence=sequence)
        for sequence in range(3)
    ]
    for batch in batches:
        partition.append(batch, now_ms=0)
    waiter = Waiter(1)
    partition.waiters.add(waiter)
    move(cluster, "t", 0, tmp_path / "b")
    assert waiter.woken
    assert [partition.append(batch, now_ms=0).duplicate for batch in batches] == [True] * 3
    cluster.close_logs()


def test_a_partition_is_made_where_it_was_asked_for(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path))
    assert cluster.topics.directories is not None
    cluster.topics.directories.prefer(1, "t", 0, tmp_path / "b")
    cluster.create_topic("t", partitions=2)
    assert recorded(cluster, "t") == ["b", "a"]
    cluster.close_logs()


def test_move_of_a_partition_whose_replicas_differ_is_refused(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path))
    cluster.create_topic("t")
    cluster.topics.by_name("t").partitions[0].track_replicas(cluster.replicator, 0)
    with pytest.raises(KafkaError, match="replicas that differ") as refused:
        move(cluster, "t", 0, tmp_path / "b")
    assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    cluster.close_logs()


@pytest.mark.long
def test_a_death_at_any_call_of_a_move_loses_nothing(tmp_path: Path) -> None:
    stop = 0
    while True:
        folder = tmp_path / str(stop)
        fs = FaultyFileSystem()
        cluster = durable(paths(folder), fs)
        cluster.open_directory()
        cluster.create_topic("t", partitions=1)
        fill(cluster, "t", 0, b"1", b"2", b"3")
        cluster.topics.by_name("t").partitions[0].delete_records(1)
        expected = content(cluster, "t", 0)
        fs.calls, fs.stop_at = 0, stop
        try:
            move(cluster, "t", 0, folder / "b")
            fill(cluster, "t", 0, b"4")
        except Crash:
            die(cluster)
        else:
            die(cluster)
            break
        left = opened(paths(folder))
        assert content(left, "t", 0) == expected, stop
        assert places(left, "t") == recorded(left, "t")
        assert sum("t-0" in folders_of_log_directories(path) for path in paths(folder)) == 1, stop
        assert not list(folder.glob("*/*-future"))
        fill(left, "t", 0, b"4")
        left.delete_topic("t")
        left.create_topic("t", partitions=2)
        assert [content(left, "t", index) for index in (0, 1)] == [(0, 0, 0)] * 2
        left.close_logs()
        stop += 1
    assert stop > 15
    again = opened(paths(tmp_path / str(stop)))
    assert content(again, "t", 0)[:2] == (1, 4)
    again.close_logs()


def of_node(cluster: Cluster, node_id: int, topic: str) -> list[str]:
    """The name of the directory of each of a node's replicas. The metadata has the same."""
    directories = cluster.topics.directories
    assert directories is not None
    assert cluster.directory is not None
    names = {directory_id(backend): backend.directory for backend in cluster.directory.backends}
    found = []
    for index, registration in enumerate(cluster.image.topics[topic].partitions):
        path = directories.path_of(node_id, topic, index)
        known = dict(zip(registration.replicas, registration.directories, strict=True))
        assert names[known[node_id]] == path
        found.append(path.parent.name)
    return found


def replica_of(cluster: Cluster, node_id: int, topic: str, to: Path) -> None:
    """Move a node's replica of the first partition."""
    directories = cluster.topics.directories
    assert isinstance(directories, NodeDirectories)
    directories.move(node_id, cluster.topics.by_name(topic).partitions[0], to / f"node-{node_id}")


def test_each_of_several_nodes_has_directories(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path), nodes=2)
    cluster.create_topic("t", partitions=3, replication_factor=2)
    cluster.create_topic("u", assignments={0: [2]})
    assert of_node(cluster, 1, "t") == of_node(cluster, 2, "t") == ["a", "b", "a"]
    assert of_node(cluster, 2, "u") == ["b"]
    for index in range(3):
        fill(cluster, "t", index, b"x")
    cluster.close_logs()
    metadata = "__cluster_metadata-0"
    assert folders_of_log_directories(tmp_path / "a" / "node-1") == {metadata, "t-0", "t-2"}
    assert folders_of_log_directories(tmp_path / "a" / "node-2") == {metadata, "t-0", "t-2"}
    assert [folders_of_log_directories(tmp_path / "b" / name) for name in ("node-1", "node-2")] == [{"t-1"}, {"t-1"}]
    for path in tmp_path.glob("*/node-*/t-1"):
        assert (path / "00000000000000000000.log").stat().st_size > 0
    again = opened(paths(tmp_path), nodes=2)
    assert of_node(again, 1, "t") == of_node(again, 2, "t") == ["a", "b", "a"]
    assert [content(again, "t", index)[:2] for index in range(3)] == [(0, 1)] * 3
    again.close_logs()


@pytest.mark.parametrize("ends", ["cleanly", "by a crash"])
def test_the_replicas_of_nodes_move_one_by_one(tmp_path: Path, ends: str) -> None:
    cluster = opened(paths(tmp_path), nodes=2)
    cluster.create_topic("t", replication_factor=2)
    fill(cluster, "t", 0, b"1")
    replica_of(cluster, 2, "t", tmp_path / "b")
    assert [of_node(cluster, node_id, "t") for node_id in (1, 2)] == [["a"], ["b"]]
    fill(cluster, "t", 0, b"2")
    replica_of(cluster, 1, "t", tmp_path / "b")
    replica_of(cluster, 2, "t", tmp_path / "a")
    fill(cluster, "t", 0, b"3")
    if ends == "cleanly":
        cluster.close_logs()
        held = {path.parent.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/*/t-0")}
        assert held == {"b/node-1", "a/node-2"}
    else:
        die(cluster)
    again = opened(paths(tmp_path), nodes=2)
    assert [of_node(again, node_id, "t") for node_id in (1, 2)] == [["b"], ["a"]]
    assert content(again, "t", 0)[:2] == (0, 3)
    again.close_logs()


def test_a_replica_that_a_node_gets_goes_where_it_was_asked_for(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path), nodes=2)
    cluster.create_topic("t", assignments={0: [1]})
    fill(cluster, "t", 0, b"1")
    wanted = AlterReplicaLogDir(str(tmp_path / "b" / "node-2"), [AlterReplicaLogDirTopic("t", [0])])
    [told] = ask(cluster, AlterReplicaLogDirsRequest([wanted]), node_id=2).results
    assert told.partitions[0].error_code == ErrorCode.REPLICA_NOT_AVAILABLE
    assert cluster.controller.ask(reassign_partitions, [Reassignment(("t", 0), [2])]) == [None]
    assert list(cluster.image.topics["t"].partitions[0].replicas) == [2]
    assert of_node(cluster, 2, "t") == ["b"]
    cluster.close_logs()
    assert {path.parent.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/*/t-0")} == {"b/node-2"}
    again = opened(paths(tmp_path), nodes=2)
    assert content(again, "t", 0)[:2] == (0, 1)
    again.close_logs()


def test_nodes_have_the_directories_that_they_were_given(tmp_path: Path) -> None:
    own = {number: {"log.dirs": f"{tmp_path}/{number}a,{tmp_path}/{number}b"} for number in (1, 2)}
    cluster = Cluster(nodes=2, config=BrokerConfig(nodes=own))
    cluster.open_directory()
    cluster.create_topic("t", partitions=2, replication_factor=2)
    fill(cluster, "t", 1, b"x")
    cluster.close_logs()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1a", "1b", "2a", "2b"]
    assert {path.parent.name for path in tmp_path.glob("*/t-1")} == {"1b", "2b"}
    swapped = {1: own[1], 2: {"log.dirs": ",".join(reversed(own[2]["log.dirs"].split(",")))}}
    with pytest.raises(StorageError, match=r"/2a has the metadata log: name it first"):
        Cluster(nodes=2, config=BrokerConfig(nodes=swapped)).open_directory()
    again = Cluster(nodes=2, config=BrokerConfig(nodes=own))
    again.open_directory()
    assert content(again, "t", 1)[:2] == (0, 1)
    again.close_logs()


def test_a_node_without_a_directory_that_it_had_is_refused(tmp_path: Path) -> None:
    cluster = opened(paths(tmp_path), nodes=2)
    cluster.create_topic("t", partitions=2)
    fill(cluster, "t", 1, b"x")
    cluster.create_topic("u", assignments={0: [2], 1: [2]})
    fill(cluster, "u", 1, b"x")
    cluster.close_logs()
    with pytest.raises(StorageError, match=r"log\.dirs lacks a directory that the node had"):
        opened(paths(tmp_path, "a"), nodes=2)
