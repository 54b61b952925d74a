"""Which releases there are, what each says of itself, and how a wrong one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from odradek.broker.api.served import SERVED, handlers_of
from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.controller.controller import OtherReleaseError
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.releases.release import DEFAULT, ReleaseError, release_names, release_of
from tests.broker.releases.generate import DATA, data

NAMES = ["2.8", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9", "4.0", "4.1", "4.2", "4.3", "4.4"]


def test_the_data_is_what_the_recordings_say() -> None:
    assert json.loads(DATA.read_text(encoding="utf-8")) == data()


def test_release_names_are_those_of_kafka() -> None:
    assert release_names() == NAMES
    assert release_of().name == DEFAULT == "4.4"


@pytest.mark.parametrize("name", NAMES)
def test_a_release_is_found_by_its_name_and_by_a_patch(name: str) -> None:
    release = release_of(name)
    assert release_of(f"{name}.1").name == release.name == name
    assert release.patch.startswith(name + ".")
    assert release.zookeeper is (name == "2.8")


@pytest.mark.parametrize("version", ["", "3", "2.7", "5.0", "3.6.1.2", "x.y", "3.x", "-3.6"])
def test_an_unknown_version_names_those_there_are(version: str) -> None:
    with pytest.raises(ReleaseError, match=r"it knows 2\.8, 3\.3, .*, 4\.4"):
        release_of(version)


@pytest.mark.parametrize(
    ("name", "zookeeper", "why"),
    [
        ("2.8", False, "KRaft as a preview only"),
        ("4.0", True, "no ZooKeeper mode of Kafka 4.0; it has those of 2.8, 3.3, 3.6, 3.9"),
        ("3.5", True, "no ZooKeeper mode of Kafka 3.5"),
        ("4.3", True, "no ZooKeeper mode of Kafka 4.3"),
    ],
)
def test_a_mode_that_a_release_does_not_have(name: str, zookeeper: bool, why: str) -> None:
    with pytest.raises(ReleaseError, match=why):
        release_of(name, zookeeper)


def test_the_newest_needs_no_data() -> None:
    newest = release_of()
    assert (newest.apis, newest.supported, newest.finalized, newest.configs, newest.texts) == (None, None, None, {}, {})


def test_a_wrong_version_is_a_wrong_config() -> None:
    with pytest.raises(ConfigError, match=r"does not behave as Kafka '9\.9'"):
        BrokerConfig({"odradek.kafka.version": "9.9"})


def test_a_config_that_the_release_does_not_have_is_unknown_to_it() -> None:
    BrokerConfig({"group.share.session.timeout.ms": 45_000})
    with pytest.raises(ConfigError, match=r"Kafka 3\.6 does not have it"):
        BrokerConfig({"odradek.kafka.version": "3.6", "group.share.session.timeout.ms": 45_000})
    former = BrokerConfig({"odradek.kafka.version": "3.6", "inter.broker.protocol.version": "3.5"})
    assert former.get_str("inter.broker.protocol.version") == "3.5"
    with pytest.raises(ConfigError, match="unknown config"):
        BrokerConfig({"inter.broker.protocol.version": "3.5"})


def test_one_limit_of_timestamps_counts_for_both_sides_up_to_3_9() -> None:
    before = BrokerConfig({"odradek.kafka.version": "3.5"}).log_config({"message.timestamp.difference.max.ms": "7"})
    assert (before.message_timestamp_before_max_ms, before.message_timestamp_after_max_ms) == (7, 7)
    both = BrokerConfig({"odradek.kafka.version": "3.9"}).log_config(
        {"message.timestamp.difference.max.ms": "7", "message.timestamp.after.max.ms": "9"}
    )
    assert (both.message_timestamp_before_max_ms, both.message_timestamp_after_max_ms) == (7, 9)


def test_logs_on_disk_are_those_of_the_newest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"as Kafka 3\.6 a broker has its logs in memory"):
        Cluster(config={"odradek.kafka.version": "3.6"}, data_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_of_4_4_is_one_of_4_4(tmp_path: Path) -> None:
    """Whoever is 4.3 refuses it, and leaves it as it is."""
    with KafkaBroker(kafka_version="4.4", data_dir=tmp_path, topics={"t": 1}) as broker:
        broker.produce("t", "one")
    with pytest.raises(OtherReleaseError, match=r"metadata\.version 33, and this release supports 7 to 30"):
        KafkaBroker(kafka_version="4.3", data_dir=tmp_path).start()
    with KafkaBroker(kafka_version="4.4", data_dir=tmp_path) as broker:
        assert broker.cluster.image.features["metadata.version"] == 33
        assert [record.value for record in broker.records("t")] == [b"one"]


def test_a_directory_of_4_3_keeps_its_levels_as_4_4(tmp_path: Path) -> None:
    with KafkaBroker(kafka_version="4.3", data_dir=tmp_path) as broker:
        before = dict(broker.cluster.image.features)
    assert before["metadata.version"] == 30
    with KafkaBroker(kafka_version="4.4", data_dir=tmp_path) as broker:
        assert broker.cluster.image.features == before


def test_an_api_is_served_in_the_versions_of_the_release_only() -> None:
    served = handlers_of(release_of("3.6"))
    fetch, share_fetch = served.find(1), served.find(78)
    assert fetch is not None
    assert fetch.max_version == 15
    assert share_fetch is None
    assert handlers_of(release_of()) is SERVED
