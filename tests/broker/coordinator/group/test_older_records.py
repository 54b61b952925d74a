"""Groups of releases before 4.3, word for word as real brokers of those releases held the conversations.

Left out are conversations that cannot be held with them, because they need newer versions of requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest

from odradek.broker.config.keys import keys_of_release
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.releases.release import release_of
from tests.broker.coordinator.group.test_conversations import PatientClock
from tests.fakes.vectors import recorded
from tests.scenarios import consumer_group_conversations, share_conversations, streams_group_conversations
from tests.scenarios.streams_conversation import StreamsConversation
from tests.scenarios.target import SCENARIO_CONFIG

PARTITION_METADATA = "ConsumerGroupPartitionMetadata"
RELEASES: Mapping[ModuleType, tuple[str, ...]] = {
    consumer_group_conversations: ("4.0", "4.1", "4.2"),
    share_conversations: ("4.2",),
    streams_group_conversations: ("4.2",),
}
OTHERWISE = frozenset({("4.0", "empty_groups")})
"""See DIFFERENCES.md: a first JoinGroup to an empty group."""


def recording(module: ModuleType, release: str) -> Mapping[str, list[Any]]:
    return recorded(module.__name__.rpartition(".")[2], release)


def cases() -> Iterator[Any]:
    for module, releases in RELEASES.items():
        for release in releases:
            for name in recording(module, release):
                if (release, name) not in OTHERWISE:
                    kind = module.__name__.rpartition(".")[2].partition("_")[0]
                    yield pytest.param(module, release, name, id=f"{kind}-{release}-{name}")


def without_chance(transcript: list[Any]) -> list[Any]:
    """As 4.0 tells it: how many records it gathers to a batch hangs on time, and the order of topics on their names."""
    return [
        [what, [in_order(row[3:]) for row in content]] if what.startswith("log of ") else [what, content]
        for what, content in transcript
    ]


def in_order(row: list[Any]) -> list[Any]:
    if row[0] == PARTITION_METADATA and isinstance(row[-1], dict):
        row[-1]["topics"].sort(key=lambda topic: str(topic["topicName"]))
    return row


def configure(original: Any, self: StreamsConversation, group: str | None = None, **configs: str | None) -> None:
    """Up to 4.2 a group with configs of its own waits for members unless it says that it does not."""
    original(self, group, **{"streams_initial_rebalance_delay_ms": "0", **configs} if configs else {})


@pytest.mark.long
@pytest.mark.parametrize(("module", "release", "name"), list(cases()))
def test_as_kafka_says_it(module: Any, release: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = StreamsConversation.configure
    if module is streams_group_conversations:
        monkeypatch.setattr(StreamsConversation, "configure", lambda *a, **k: configure(original, *a, **k))
    wanted = share_conversations.CONFIG if module is share_conversations else SCENARIO_CONFIG
    known = keys_of_release(release_of(release)).broker
    config = {key: value for key, value in wanted.items() if key in known}
    with KafkaBroker(config=config, clock=PatientClock(), kafka_version=release) as broker:
        host, port = broker.bootstrap_servers.split(":")
        told, expected = module.transcribe(name, host, int(port)), recording(module, release)[name]
        if release == "4.0":
            told, expected = without_chance(told), without_chance(expected)
        assert told == expected
        assert broker.bugs == []
