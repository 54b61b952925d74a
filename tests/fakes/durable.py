"""Clusters on disk whose file system a test chooses; the usual one skips the syncs, which a test need not wait for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from odradek.broker.cluster import Cluster
from odradek.broker.config.node_config import metadata_directory
from odradek.broker.controller.data_directory import DataDirectory
from odradek.storage.file_system import FileSystem
from tests.fakes.file_system import FaultyFileSystem


def durable(
    directory: Path | Sequence[Path],
    fs: FileSystem | None = None,
    config: Mapping[str, str] | None = None,
    nodes: int = 1,
) -> Cluster:
    """A cluster that has not opened its directory, or directories, yet."""
    paths = [directory] if isinstance(directory, Path) else list(directory)
    given = {**(config or {}), "log.dirs": ",".join(map(str, paths))}
    cluster = Cluster(nodes=nodes, config=given)
    assert cluster.durability is not None
    cluster.directory = DataDirectory(
        paths,
        cluster.config,
        cluster.clock,
        list(cluster.nodes),
        cluster.durability,
        fs or FaultyFileSystem(),
        metadata=metadata_directory(cluster.config),
    )
    return cluster


def opened(directory: Path | Sequence[Path], config: Mapping[str, str] | None = None, nodes: int = 1) -> Cluster:
    """A cluster that has opened its directory, and is not run."""
    cluster = durable(directory, config=config, nodes=nodes)
    cluster.open_directory()
    return cluster


def die(cluster: Cluster) -> None:
    """What the death of the process does: its directories' locks are free again."""
    assert cluster.directory is not None
    for backend in cluster.directory.backends:
        backend._unlock()
