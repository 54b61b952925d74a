"""Which levels of features a release has, and which a new cluster of it begins with."""

from __future__ import annotations

from odradek.broker.controller.feature_levels import NEW_CLUSTER, SUPPORTED, new_cluster_of, supported_by
from odradek.broker.metadata.image import METADATA_VERSION, TRANSACTION_VERSION
from odradek.broker.releases.release import release_of


def test_the_newest_release_has_those_of_the_definition() -> None:
    assert supported_by(release_of()) is SUPPORTED
    assert new_cluster_of(release_of()) is NEW_CLUSTER


def test_an_older_one_has_its_own_and_writes_the_metadata_version_first() -> None:
    release = release_of("4.0")
    assert supported_by(release)[METADATA_VERSION] == (7, 25)
    assert list(new_cluster_of(release).items()) == [
        (METADATA_VERSION, 25),
        ("group.version", 1),
        (TRANSACTION_VERSION, 2),
    ]
    assert TRANSACTION_VERSION not in new_cluster_of(release_of("3.9"))


def test_zookeeper_mode_tells_of_none_and_has_a_metadata_log_all_the_same() -> None:
    release = release_of("2.8")
    assert supported_by(release) == {}
    assert list(new_cluster_of(release)) == [METADATA_VERSION]
