"""The features of Kafka 4.3.1 (KIP-584): which levels there are, and which a new cluster has."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.metadata.image import ELR_VERSION, METADATA_VERSION, TRANSACTION_VERSION
from odradek.broker.releases.release import Release

GROUP_VERSION = "group.version"
SHARE_VERSION = "share.version"
STREAMS_VERSION = "streams.version"
KRAFT_VERSION = "kraft.version"
MIN_INSYNC_REPLICAS = "min.insync.replicas"

# What Kafka 4.3.1 supports: lowest and highest level of each feature.
SUPPORTED: Mapping[str, tuple[int, int]] = {
    GROUP_VERSION: (0, 1),
    KRAFT_VERSION: (0, 1),
    METADATA_VERSION: (7, 30),
    SHARE_VERSION: (0, 1),
    STREAMS_VERSION: (0, 1),
    TRANSACTION_VERSION: (0, 2),
    ELR_VERSION: (0, 1),
}
# What a newly formatted Kafka 4.3.1 cluster has finalized, in the order in which it writes it.
NEW_CLUSTER: Mapping[str, int] = {
    METADATA_VERSION: 30,
    ELR_VERSION: 1,
    GROUP_VERSION: 1,
    SHARE_VERSION: 1,
    STREAMS_VERSION: 1,
    TRANSACTION_VERSION: 2,
}


def supported_by(release: Release) -> Mapping[str, tuple[int, int]]:
    """Lowest and highest level of each feature that a release has. ZooKeeper mode has none."""
    return SUPPORTED if release.supported is None else release.supported


def new_cluster_of(release: Release) -> Mapping[str, int]:
    """The levels that a new cluster of a release has finalized.

    In ZooKeeper mode nobody is told of levels, but the metadata log has one all the same.
    """
    if release.finalized is None:
        return NEW_CLUSTER
    if release.zookeeper:
        return {METADATA_VERSION: NEW_CLUSTER[METADATA_VERSION]}
    first = {METADATA_VERSION: release.finalized[METADATA_VERSION]}
    return first | {name: level for name, level in sorted(release.finalized.items()) if name != METADATA_VERSION}
