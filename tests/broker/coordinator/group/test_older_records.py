"""Groups of releases before 4.3, word for word as real brokers of those releases held the conversations.

Left out is a conversation about intervals between assignments of streams groups, which 4.2 does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.broker.coordinator.group.test_conversations import PatientClock
from tests.fakes.vectors import recorded
from tests.scenarios.older_groups import KINDS, config_of, transcribe

PARTITION_METADATA = "ConsumerGroupPartitionMetadata"
RELEASES: Mapping[str, tuple[str, ...]] = {"consumer": ("4.0", "4.1", "4.2"), "share": ("4.2",), "streams": ("4.2",)}


def recording(kind: str, release: str) -> Mapping[str, list[Any]]:
    return recorded(KINDS[kind].__name__.rpartition(".")[2], release)


def cases() -> Iterator[Any]:
    for kind, releases in RELEASES.items():
        for release in releases:
            for name in recording(kind, release):
                yield pytest.param(kind, release, name, id=f"{kind}-{release}-{name}")


def without_chance(transcript: list[Any]) -> list[Any]:
    """As 4.0 tells it: how many records it gathers to a batch hangs on time, and the order of topics on their names."""
    return [
        [what, [in_order(row[1:]) for row in content]] if what.startswith("log of ") else [what, content]
        for what, content in transcript
    ]


def in_order(row: list[Any]) -> list[Any]:
    if PARTITION_METADATA in row and isinstance(row[-1], dict):
        row[-1]["topics"].sort(key=lambda topic: str(topic["topicName"]))
    return row


@pytest.mark.long
@pytest.mark.parametrize(("kind", "release", "name"), list(cases()))
def test_groups_of_older_releases_are_answered_as_recorded(kind: str, release: str, name: str) -> None:
    config = config_of(kind, release, name)
    with KafkaBroker(config=config, clock=PatientClock(), kafka_version=release) as broker:
        told, expected = transcribe(kind, release, name, broker.bootstrap_servers), recording(kind, release)[name]
        if release == "4.0":
            told, expected = without_chance(told), without_chance(expected)
        assert told == expected
        assert broker.bugs == []
