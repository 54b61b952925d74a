"""Several nodes on disk: a directory for each, with the partitions of which it is a replica."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.commands import MoveLeader, Reassignment, ReassignPartitions
from odradek.broker.controller.data_directory import stored_node_id
from odradek.broker.partitions.replicas import NOTHING
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import parse_meta_properties
from tests.fakes.durable import die, durable, opened


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


def test_after_a_death_the_one_copy_counts(tmp_path: Path) -> None:
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


def test_after_a_death_the_log_of_the_last_leader_counts(tmp_path: Path) -> None:
    """The process dies while the replicas' logs differ, and the last leader's log is not in its own directory."""
    cluster = opened(tmp_path, nodes=3)
    partition = cluster.create_topic("a", assignments={0: [1, 2, 3]}).partitions[0]
    fill(cluster, "a", 0, b"both")
    cluster.controller.ask(MoveLeader(("a", 0), 2))
    for node in (1, 3):
        cluster.replicator.hold(partition, node, NOTHING)
    fill(cluster, "a", 0, b"lost", b"lost")
    for node in (1, 3, 2):
        cluster.replicator.node_lost(node)
        cluster.membership.lose(node)
    cluster.membership.rejoin(1)
    cluster.replicator.node_back(1)
    cluster.controller.ask(MoveLeader(("a", 0), 1, unclean=True))
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
    assert cluster.controller.ask(ReassignPartitions([Reassignment(("a", 0), [3])])) == [None]
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


def test_one_node_becomes_the_first_of_several(tmp_path: Path) -> None:
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
