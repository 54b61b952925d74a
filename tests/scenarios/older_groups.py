"""How conversations about groups are held with brokers before 4.3, which lack some of the words.

What real brokers told lies in ``tests/vectors/*_conversations-RELEASE.json.gz``. This writes conversations of one kind
(`classic`, `consumer`, `share` or `streams`) into such a file, beside those that are in it:

    ASK_KAFKA=4.0.2 python -m tests.scenarios.older_groups consumer NAME...
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from odradek.broker.config.keys import keys_of_release
from odradek.broker.releases.release import release_of
from tests.conformance.older_kafka import OLDER_VERSIONS, OlderKafka
from tests.conformance.real_kafka import RELEASE, RealKafka
from tests.fakes.vectors import VECTORS
from tests.fakes.wire_client import WireClient
from tests.scenarios import (
    consumer_group_conversations,
    group_conversations,
    share_conversations,
    streams_group_conversations,
)
from tests.scenarios.consumer_group_conversations import ConsumerConversation
from tests.scenarios.group_conversations import Conversation, Transcript
from tests.scenarios.share_conversations import ShareConversation
from tests.scenarios.streams_conversation import StreamsConversation
from tests.scenarios.target import SCENARIO_CONFIG
from tests.scenarios.transcripts import held

KINDS: Mapping[str, ModuleType] = {
    "classic": group_conversations,
    "consumer": consumer_group_conversations,
    "share": share_conversations,
    "streams": streams_group_conversations,
}
_BY_EPOCH = frozenset({"commits", "rebalance_timeout", "subscriptions"})
"""Conversations that come to nothing if their members name other epochs than they have."""
_OF_THE_BROKER: Mapping[str, tuple[str, str]] = {
    "share_delivery_count_limit": ("group.share.delivery.count.limit", "4"),
    "share_partition_max_record_locks": ("group.share.partition.max.record.locks", "100"),
}
"""Configs that groups have got since: the broker's, and the values that the conversations want."""


class OlderClient(WireClient):
    """Asks in the newest version that the release has, whatever version is asked for."""

    apis: Mapping[int, tuple[int, int]]

    def send(self, request: Any, version: int | None = None) -> int:
        newest = self.apis[request.API_KEY][1]
        return super().send(request, newest if version is None else min(version, newest))

    def receive(self, request: Any, version: int, correlation_id: int) -> Any:
        return super().receive(request, min(version, self.apis[request.API_KEY][1]), correlation_id)


class OlderVersions(Conversation):
    """With such clients."""

    def __init__(self, host: str, port: int, release: str) -> None:
        self._apis = release_of(release).apis or {}
        super().__init__(host, int(port))

    def _client(self, name: str) -> WireClient:
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = OlderClient(self.host, self.port, client_id=name, timeout_s=60)
            client.apis = self._apis
        return client


class FirstEpochs(ConsumerConversation):
    """A group's first epoch is 1, where later releases have 2."""

    newest = 10
    """The newest version of OffsetCommit and OffsetFetch."""

    def begin_hb(self, member: str, epoch: int, version: int = 1, who: str = "a", **options: Any) -> None:
        super().begin_hb(member, _before(epoch), version, who, **options)

    def epoch(self, group: str | None = None) -> int:
        return super().epoch(group) + 1

    def touch(self, member: str, epoch: int) -> bool:
        return super().touch(member, _before(epoch))

    def wait_until_epoch(self, member: str, epoch: int, wanted: int, **options: Any) -> None:
        super().wait_until_epoch(member, _before(epoch), _before(wanted), **options)

    def fetch_as(self, member: str | None, epoch: int, version: int = 9) -> Any:
        return super().fetch_as(member, _before(epoch), min(version, self.newest))

    def commit_as(
        self, member: str, epoch: int, partitions: Iterable[int] = (0, 1), version: int = 9, **options: Any
    ) -> Any:
        return super().commit_as(member, _before(epoch), partitions, min(version, self.newest), **options)

    def commit_in_transaction(self, member: str, epoch: int, version: int = 4, instance: str | None = None) -> Any:
        return super().commit_in_transaction(member, _before(epoch), version, instance)


class FirstEpochsByName(FirstEpochs):
    """The same before 4.2, when offsets were of topics by name."""

    newest = 9


def _before(epoch: int) -> int:
    return epoch - 1 if epoch > 0 else epoch


class FewerConfigs(ShareConversation):
    """Some of a group's configs are the broker's alone."""

    def configured(self, **configs: str) -> None:
        super().configured(**{name: value for name, value in configs.items() if name not in _OF_THE_BROKER})


class ImpatientConversation(StreamsConversation):
    """A group with configs of its own waits for members unless it says that it does not."""

    def configure(self, group: str | None = None, **configs: str | None) -> None:
        super().configure(group, **{"streams_initial_rebalance_delay_ms": "0", **configs} if configs else {})


def config_of(kind: str, release: str, name: str) -> Mapping[str, str]:
    """The configs of the broker for a conversation."""
    wanted = dict(share_conversations.CONFIG if kind == "share" else SCENARIO_CONFIG)
    if name in ("deliveries", "many_locks"):
        wanted |= dict(_OF_THE_BROKER.values())
    known = keys_of_release(release_of(release)).broker
    return {key: value for key, value in wanted.items() if key in known}


def transcribe(kind: str, release: str, name: str, bootstrap: str) -> Transcript:
    """Hold one conversation."""
    host, port = bootstrap.rsplit(":", 1)
    if kind == "classic":
        return held(OlderVersions(host, int(port), release), group_conversations.CONVERSATIONS[name])
    if kind == "share":
        return held(FewerConfigs(host, int(port)), share_conversations.CONVERSATIONS[name])
    if kind == "streams":
        return held(ImpatientConversation(host, int(port)), streams_group_conversations.CONVERSATIONS[name])
    talk = consumer_group_conversations.CONVERSATIONS[name]
    if name not in _BY_EPOCH:
        return held(ConsumerConversation(host, int(port)), talk)
    return held((FirstEpochs if release == "4.2" else FirstEpochsByName)(host, int(port)), talk)


def _kafka(config: Mapping[str, str]) -> RealKafka:
    if RELEASE not in OLDER_VERSIONS:
        return RealKafka(config=config)
    kafka = OlderKafka(RELEASE)
    kafka._config |= config
    return kafka


def main(kind: str, names: Sequence[str]) -> None:
    module = KINDS[kind].__name__.rpartition(".")[2]
    file = VECTORS / f"{module}-{RELEASE}.json.gz"
    told = json.loads(gzip.decompress(file.read_bytes())) if file.exists() else {}
    for name in names:
        with _kafka(config_of(kind, RELEASE, name)) as kafka:
            told[name] = transcribe(kind, RELEASE, name, kafka.bootstrap_servers)
    with gzip.GzipFile(file, "w", mtime=0) as out:
        out.write(json.dumps(told, indent=1, sort_keys=True).encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
