"""Log directories that are not those of one node, or not all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import format_meta_properties, parse_meta_properties
from tests.fakes.durable import opened


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
