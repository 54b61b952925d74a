"""Feature levels are updated as real brokers of each release answered, word for word."""

from __future__ import annotations

import pytest

import odradek
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.controller.feature_levels import features_at_start, name_of
from odradek.broker.metadata.image import METADATA_VERSION
from tests.fakes.vectors import recorded
from tests.scenarios.feature_updates import stories, tell

RECORDED = recorded("feature_updates")
STORIES = [(release, name) for release, told in RECORDED.items() for name in told["stories"]]
FORMATS = [
    pytest.param(release, *row, id=f"{release} {' '.join(row[0])}")
    for release, told in RECORDED.items()
    for row in told.get("formats", ())
]


@pytest.mark.long
@pytest.mark.parametrize(("release", "name"), STORIES)
def test_update_features_is_answered_as_the_release_did(release: str, name: str) -> None:
    story, expected = stories(release)[name], RECORDED[release]["stories"][name]
    config = {"node.id": "0", **story.config, "odradek.features": ",".join(story.features)}
    if story.release is not None:
        config["odradek.release.version"] = story.release
    with odradek.KafkaBroker(kafka_version=release, config=config) as broker:
        told = tell(story, next(iter(broker.nodes.values())).port)
    assert told["supported"] == expected["supported"]
    assert len(told["steps"]) == len(expected["steps"])
    for step, answered in zip(told["steps"], expected["steps"], strict=True):
        assert step == answered


@pytest.mark.parametrize(("release", "arguments", "status", "line"), FORMATS)
def test_format_says_what_kafkas_says(release: str, arguments: list[str], status: int, line: str) -> None:
    given = list(zip(arguments[::2], arguments[1::2], strict=True))
    features = ",".join(text for option, text in given if option == "--feature")
    config = {"odradek.kafka.version": release, "odradek.features": features}
    for option, text in given:
        if option == "--release-version":
            config["odradek.release.version"] = text
    if any("kraft.version" in text for text in arguments):
        with pytest.raises(ConfigError, match=r"kraft\.version is up to the quorum"):
            features_at_start(BrokerConfig(config))
    elif status:
        with pytest.raises(ConfigError) as refused:
            features_at_start(BrokerConfig(config))
        assert str(refused.value) == line.rpartition("Exception: ")[2]
    else:
        level = features_at_start(BrokerConfig(config))[METADATA_VERSION]
        directory = "metadata directory /DATA" if "metadata directory" in line else "/DATA"
        assert line == f"Formatting {directory} with metadata.version {name_of(level)}."
