"""Conversations of raw requests about consumer groups (KIP-848), in the manner of `group_conversations`.

The transcripts of a real Kafka 4.4.0 lie in ``tests/vectors/consumer_group_conversations.json.gz``.
The broker needs the settings of `tests.scenarios.target.SCENARIO_CONFIG`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import count
from struct import pack
from typing import Any

from odradek.broker.coordinator.service import partition_for
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.generated.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from odradek.protocol.generated.stored.index import RECORDS
from odradek.protocol.json_form import to_json
from odradek.protocol.message_codec import codec
from odradek.protocol.uuids import uuid_to_text
from tests.scenarios.group_conversations import INTERNAL, Conversation, delete_offsets, group_records, subscription
from tests.scenarios.target import SCENARIO_CONFIG, wait_until
from tests.scenarios.transcripts import conversations, transcriber

_UNSEEN = frozenset({"assignmentTimestamp", "timestamp", "version", "metadataHash", "expireTimestamp"})
_SORTED = {
    "groups": "groupId",
    "topicPartitions": "topicName",
    "assignedPartitions": "topicId",
    "partitionsPendingRevocation": "topicId",
}
_RECORDS = {row[1]: row for row in RECORDS if row[0] == "group"}
EVERYTHING = (0, 1, 2, 3)
GROUP_PARTITIONS = int(SCENARIO_CONFIG["offsets.topic.num.partitions"])
_GENERATED = re.compile(r"^[A-Za-z0-9_-]{22}$")


class ConsumerConversation(Conversation):
    """A `Conversation` with the words of the consumer protocol: members name themselves, `big` has four partitions."""

    def __init__(self, host: str, port: int) -> None:
        self.ids: dict[str, bytes] = {}
        self.size = 0
        super().__init__(host, port)

    def _prepare(self) -> None:
        super()._prepare()
        self.wait_for_topic(self.topic, 2)
        self.use("big", 4)

    # -- topics

    def make(self, label: str, partitions: int = 4) -> str:
        """Create a topic; returns its name."""
        name = f"{label}-{self.secret}"
        client = self._client("setup")
        client.request(CreateTopicsRequest(topics=[CreatableTopic(name, partitions, 1)], timeout_ms=30_000), 7)
        self.wait_for_topic(name, partitions)
        return name

    def wait_for_topic(self, name: str, partitions: int) -> None:
        client = self._client("setup")

        def known() -> Any:
            topic = client.request(MetadataRequest(topics=[MetadataRequestTopic(name=name)])).topics[0]
            return topic if topic.error_code == 0 and len(topic.partitions) == partitions else None

        self.ids[name] = wait_until("the topic", known).topic_id
        for group in (self.group, f"{self.group}-b"):
            self.wait_for_coordinator(group, name, partitions)
        self.call(uuid_to_text(self.ids[name]), f"<id of {name.removesuffix(self.secret)}*>")

    def wait_for_coordinator(self, group: str, name: str, partitions: int) -> None:
        """Until the coordinator of a group has learned of a topic: each partition of a real one learns by itself."""
        client = self._client("setup")
        of_group = partition_for(group, GROUP_PARTITIONS)
        probe = next(f"p-{n}-{group}" for n in count() if partition_for(f"p-{n}-{group}", GROUP_PARTITIONS) == of_group)

        def assigned() -> bool:
            join = ConsumerGroupHeartbeatRequest(probe, "probe", 0, None, None, 1000, [name], None, None, [])
            joined = client.request(join, 1)
            client.request(ConsumerGroupHeartbeatRequest(probe, "probe", -1), 1)
            topics = joined.assignment.topic_partitions if joined.assignment else []
            return sum(len(topic.partitions) for topic in topics) == partitions

        wait_until("the coordinator knows the topic", assigned)
        client.request(DeleteGroupsRequest([probe]), 2)

    def grow(self, name: str, partitions: int) -> None:
        rows = [CreatePartitionsTopic(name, partitions, None)]
        self._client("setup").request(CreatePartitionsRequest(topics=rows, timeout_ms=30_000), 3)
        self.wait_for_topic(name, partitions)

    def delete(self, name: str) -> None:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=30_000)
        self._client("setup").request(request, 6)

    # -- names

    def call(self, real: str, name: str) -> None:
        """Write ``name`` where the broker says ``real``."""
        self._names[real] = name

    def end(self, who: str) -> Any:
        """Ids that the broker gives get names."""
        request, version, _ = self._open[who]
        kept, self.transcript = self.transcript, []
        response = super().end(who)
        member_id = getattr(response, "member_id", None)
        if member_id and _GENERATED.match(member_id) and member_id not in self._names:
            self.call(member_id, f"<generated {len(self._names)}>")
        self.transcript = kept
        name = API_BY_KEY[request.API_KEY].name
        self.note(f"{who}: {name} {version}", to_json(response, version))
        return response

    def _clean(self, value: Any, key: str = "") -> Any:
        if isinstance(value, Mapping):
            value = {k: v for k, v in value.items() if k not in _UNSEEN}
        cleaned = super()._clean(value, key)
        if key == "subscribedTopicNames" and isinstance(cleaned, list):
            cleaned.sort()
        if isinstance(cleaned, list) and key in _SORTED and all(isinstance(item, dict) for item in cleaned):
            place = _SORTED[key]
            cleaned.sort(key=lambda item: str(item.get(place, item.get("topicId"))))
        if isinstance(cleaned, str):
            for real, name in self._names.items():
                cleaned = cleaned.replace(real, name)
        return cleaned

    # -- short forms

    def owned(self, owned: Mapping[str, Sequence[int]] | Sequence[int]) -> list[TopicPartitions]:
        by_name = owned if isinstance(owned, Mapping) else ({self.big: owned} if owned else {})
        return [TopicPartitions(self.ids[name], list(indexes)) for name, indexes in by_name.items()]

    def begin_hb(self, member: str, epoch: int, version: int = 1, who: str = "a", **options: Any) -> None:
        names = options.pop("names", None)
        owned = options.pop("owned", None)
        request = ConsumerGroupHeartbeatRequest(
            group_id=options.pop("group_id", self.group),
            member_id=member,
            member_epoch=epoch,
            instance_id=options.pop("instance", None),
            rack_id=options.pop("rack", None),
            rebalance_timeout_ms=options.pop("rebalance", -1),
            subscribed_topic_names=None if names is None else list(names),
            subscribed_topic_regex=options.pop("regex", None),
            server_assignor=options.pop("assignor", None),
            topic_partitions=None if owned is None else self.owned(owned),
        )
        assert not options, options
        self.begin(request, version, who)

    def hb(self, member: str, epoch: int, version: int = 1, who: str = "a", **options: Any) -> Any:
        """A heartbeat."""
        self.begin_hb(member, epoch, version, who, **options)
        return self.end(who)

    def enter_group(self, member: str, version: int = 1, **options: Any) -> Any:
        """The first heartbeat of a member."""
        defaults: dict[str, Any] = {"rebalance": 30_000, "owned": ()}
        if "regex" not in options:
            defaults["names"] = [self.big]
        return self.hb(member, 0, version, **{**defaults, **options})

    def quit(self, member: str, epoch: int = -1, **options: Any) -> Any:
        return self.hb(member, epoch, **options)

    def show(self, *groups: str, version: int = 1) -> Any:
        """What ConsumerGroupDescribe says."""
        return self.ask(ConsumerGroupDescribeRequest(list(groups or (self.group,)), True), version)

    def state(self, group: str | None = None) -> str:
        request = ConsumerGroupDescribeRequest([group or self.group], False)
        return str(self._client("x").request(request, 1).groups[0].group_state)

    def members(self, group: str | None = None) -> list[str]:
        request = ConsumerGroupDescribeRequest([group or self.group], False)
        return sorted(m.member_id for m in self._client("x").request(request, 1).groups[0].members)

    def epoch(self, group: str | None = None) -> int:
        request = ConsumerGroupDescribeRequest([group or self.group], False)
        return int(self._client("x").request(request, 1).groups[0].group_epoch)

    def touch(self, member: str, epoch: int) -> bool:
        """A heartbeat that is not written down."""
        self._client("x").request(ConsumerGroupHeartbeatRequest(self.group, member, epoch), 1)
        return True

    def interval(self) -> int:
        """The heartbeat interval that the group's members are told, asked as a member that comes and goes."""
        client = self._client("x")
        group = ConsumerGroupHeartbeatRequest(self.group, "m-probe", 0, None, None, 1000, [], None, None, [])
        told = client.request(group, 1)
        client.request(ConsumerGroupHeartbeatRequest(self.group, "m-probe", -1), 1)
        client.request(DeleteGroupsRequest([self.group]), 2)
        return int(told.heartbeat_interval_ms)

    def wait_until_epoch(self, member: str, epoch: int, wanted: int, **options: Any) -> None:
        """Heartbeat, without writing it down, until the member is in an epoch."""
        request = ConsumerGroupHeartbeatRequest(self.group, member, epoch, topic_partitions=options.get("owned"))
        wait_until(f"epoch {wanted}", lambda: self._client("x").request(request, 1).member_epoch == wanted)

    def configure(self, group: str | None = None, **configs: str | None) -> None:
        """Set configs of the group; dots are written as underscores."""
        rows = [
            AlterableConfig(name.replace("_", "."), 1 if value is None else 0, value) for name, value in configs.items()
        ]
        resource = AlterConfigsResource(32, group or self.group, rows)
        self.ask(IncrementalAlterConfigsRequest([resource]), 1)

    def fetch_as(self, member: str | None, epoch: int, version: int = 9) -> Any:
        topics = [OffsetFetchRequestTopics(self.big, self.ids[self.big], [0, 1, 2])]
        group = OffsetFetchRequestGroup(self.group, member, epoch, topics)
        return self.ask(OffsetFetchRequest(groups=[group]), version)

    def commit_as(
        self, member: str, epoch: int, partitions: Iterable[int] = (0, 1), version: int = 9, **options: Any
    ) -> Any:
        offsets = [(index, 7) for index in partitions]
        kept, self.topic_id = self.topic_id, self.ids[self.big]
        try:
            return self.commit(offsets, version, topic=self.big, member=member, generation=epoch, **options)
        finally:
            self.topic_id = kept

    def commit_in_transaction(self, member: str, epoch: int, version: int = 4, instance: str | None = None) -> Any:
        txn = f"txn-{self.secret}"
        client = self._client("txn")
        find = FindCoordinatorRequest(key_type=1, coordinator_keys=[txn])
        wait_until("a coordinator", lambda: client.request(find, 4).coordinators[0].error_code == 0)
        found = wait_until("a producer id", lambda: self._producer(InitProducerIdRequest(txn, 60_000)))
        added = AddOffsetsToTxnRequest(txn, found.producer_id, found.producer_epoch, self.group)
        assert client.request(added, 3).error_code == 0
        rows = [TxnOffsetCommitRequestPartition(index, 5, -1, "m") for index in (0, 1)]
        request = TxnOffsetCommitRequest(
            txn,
            self.group,
            found.producer_id,
            found.producer_epoch,
            epoch,
            member,
            instance,
            [TxnOffsetCommitRequestTopic(self.big, partitions=rows)],
        )
        return self.ask(request, version)

    def _producer(self, request: Any) -> Any:
        found = self._client("txn").request(request, 4)
        return found if found.error_code == 0 else None

    def classic_join(self, member: str, who: str = "a", **options: Any) -> Any:
        options.setdefault("data", subscription(self.big))
        return self.join(member, who=who, **options)

    def owning(self, *partitions: int) -> bytes:
        """ConsumerProtocolSubscription 1 of a member that owns partitions."""
        name = pack(">h", len(self.big)) + self.big.encode()
        indexes = b"".join(pack(">i", index) for index in partitions)
        return pack(">hi", 1, 1) + name + pack(">ii", -1, 1) + name + pack(">i", len(partitions)) + indexes

    def assignment(self, *partitions: int, user_data: bytes | None = None) -> bytes:
        """ConsumerProtocolAssignment 0."""
        name = pack(">h", len(self.big)) + self.big.encode()
        indexes = b"".join(pack(">i", index) for index in partitions)
        data = pack(">i", -1) if user_data is None else pack(">i", len(user_data)) + user_data
        return pack(">hi", 0, 1) + name + pack(">i", len(partitions)) + indexes + data

    def stable_consumer(self, **options: Any) -> str:
        """A classic group of one consumer that has all partitions; returns its member id."""
        told = self.classic_join("", **options)
        self.classic_join(told.member_id, **options)
        self.sync(told.member_id, 1, assignments={told.member_id: self.assignment(*range(self.size))})
        return str(told.member_id)

    def use(self, label: str, partitions: int) -> None:
        """Another topic for members to subscribe to, of ``size`` partitions."""
        self.big = self.make(label, partitions)
        self.size = partitions

    def kinds(self) -> None:
        """The log, but only which kinds of records are in it."""
        kept, self.transcript = self.transcript, []
        self.log()
        rows = [[what, [[row[0], row[3], row[5] is None] for row in rows]] for what, rows in self.transcript]
        self.transcript = kept + rows

    def log(self) -> None:
        client = self._client("reader")
        internal = client.request(MetadataRequest(topics=[MetadataRequestTopic(name=INTERNAL)])).topics[0]
        for group in sorted(self.groups):
            partition = partition_for(group, len(internal.partitions))
            rows = _resolutions_apart(list(group_records(client, partition, group, _record)))
            self.note(f"log of {group}", rows)
            self.transcript[-1][1] = [row for run in _runs(self.transcript[-1][1]) for row in sorted(run, key=str)]


def _resolutions_apart(rows: list[Any]) -> list[Any]:
    """The rows, with what a regular expression resolves to counted as a batch of its own.

    A real Kafka resolves it in another thread. If that ends before the member's records are on the disk,
    both are appended as one batch; no client can tell, and which of them comes first hangs on the load.
    """
    apart: list[Any] = []
    while rows:
        batch, rows = rows[: rows[0][0]], rows[rows[0][0] :]
        resolved = [at for at, row in enumerate(batch) if row[3] == "ConsumerGroupRegularExpression" and row[5]]
        cut = resolved[0] if resolved else 0
        apart += [[cut, *row[1:]] for row in batch[:cut]]
        apart += [[row[0] - cut, *row[1:]] for row in batch[cut:]]
    return apart


def _runs(rows: list[Any]) -> list[list[Any]]:
    """Rows of one batch and one kind in a row, whose order hangs on random member ids."""
    runs: list[list[Any]] = []
    for row in rows:
        if runs and runs[-1][-1][0] == row[0] and runs[-1][-1][3] == row[3]:
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs


def _record(key: bytes, value: bytes | None, group: str) -> list[Any] | None:
    kind = int.from_bytes(key[:2], "big")
    if kind == 0 or kind not in _RECORDS:
        return None
    _, _, module, key_name, value_name = _RECORDS[kind]
    classes = vars(import_module(f"odradek.protocol.generated.stored.{module}"))
    key_form = to_json(codec(classes[key_name], 0).decode(key, 2)[0], 0)
    if key_form.pop("groupId", None) != group and key_form.pop("group", None) != group:
        return None
    if value is None:
        return [value_name.removesuffix("Value"), key_form, None]
    version = int.from_bytes(value[:2], "big")
    form = to_json(codec(classes[value_name], version).decode(value, 2)[0], version)
    return [value_name.removesuffix("Value"), key_form, {"valueVersion": version, **form}]


# -- the conversations


def one_member(c: ConsumerConversation) -> None:
    """A member's life, in both versions."""
    joined = c.enter_group("m-a")
    c.hb("m-a", joined.member_epoch)
    c.hb("m-a", joined.member_epoch, owned=EVERYTHING)
    c.show()
    c.listed()
    c.describe()
    c.describe(5)
    c.quit("m-a")
    c.show()
    c.listed()
    c.log()
    given = c.enter_group("", version=0)
    c.hb(given.member_id, given.member_epoch, version=0, owned=EVERYTHING)
    c.show(version=0)
    c.quit(given.member_id, version=0)
    c.log()


def two_members(c: ConsumerConversation) -> None:
    """The second member gets what the first has given up."""
    c.enter_group("m-a")
    c.enter_group("m-b", who="b")
    c.show()
    c.hb("m-b", 3, who="b")
    c.hb("m-a", 2)
    c.show()
    c.hb("m-a", 2, owned=EVERYTHING)
    c.hb("m-b", 3, who="b", owned=())
    c.hb("m-a", 2, owned=(0, 1))
    c.show()
    c.hb("m-b", 3, who="b")
    c.hb("m-b", 3, who="b", owned=(2, 3))
    c.hb("m-a", 3)
    c.show()
    c.quit("m-b", who="b")
    c.hb("m-a", 3)
    c.show()
    c.log()


def three_members(c: ConsumerConversation) -> None:
    """A third member comes while the first two are at it; one leaves in the middle."""
    c.enter_group("m-a")
    c.enter_group("m-b", who="b")
    c.hb("m-a", 2)
    c.enter_group("m-c", who="c")
    c.show()
    c.hb("m-a", 2, owned=(0, 1))
    c.hb("m-b", 3, who="b")
    c.show()
    c.hb("m-c", 4, who="c")
    c.quit("m-b", who="b")
    c.hb("m-a", 4)
    c.hb("m-c", 4, who="c")
    c.show()
    c.hb("m-c", 5, who="c", owned=())
    c.hb("m-a", 5, owned=(0, 1))
    c.show()
    c.log()


def fencing(c: ConsumerConversation) -> None:
    """Epochs and members that do not fit."""
    c.hb("m-a", 1)
    c.quit("m-a")
    c.enter_group("m-a")
    c.hb("m-x", 2)
    c.hb("m-a", 3)
    c.hb("m-a", 1)
    c.hb("m-a", 0, owned=(), names=[c.big], rebalance=30_000)
    c.enter_group("m-b", who="b")
    c.hb("m-a", 2)
    c.hb("m-a", 2, owned=(0, 1))
    c.hb("m-a", 2, owned=EVERYTHING)
    c.hb("m-a", 2, owned=())
    c.hb("m-a", 2, owned=(0,))
    c.hb("m-a", 2)
    c.hb("m-a", 1, owned=())
    c.hb("m-a", 3, names=[c.big], owned=(0, 1), rebalance=20_000)
    c.hb("m-a", 3, names=[c.big], rebalance=20_000)
    c.enter_group("m-a")
    c.show()
    c.quit("m-x")
    c.quit("m-a", instance="i")
    c.log()


def refused(c: ConsumerConversation) -> None:
    """Every request that is not well formed."""
    c.enter_group("", version=1)
    c.hb(" ", 0)
    c.hb("", 1, version=0)
    c.hb("", -1, version=0)
    c.enter_group("m-a", group_id="")
    c.enter_group("m-a", group_id="  ")
    c.enter_group("m-a", instance="")
    c.enter_group("m-a", rack="")
    c.enter_group("m-a", rebalance=-1)
    c.hb("m-a", 0, names=[c.big], rebalance=1000)
    c.hb("m-a", 0, names=[c.big], rebalance=1000, owned=(0,))
    c.hb("m-a", 0, rebalance=1000, owned=())
    c.hb("m-a", -2)
    c.hb("m-a", -3)
    c.enter_group("m-a", assignor="")
    c.enter_group("m-a", assignor="sticky")
    c.show()
    c.show("", "nope", c.group)
    c.enter_group("m-a", names=[])
    c.enter_group("m-b", who="b", names=["not a topic!", c.big, c.big, ""], rebalance=0)
    c.hb("m-a", 2, assignor="nope")
    c.hb("m-a", -1, assignor="nope")
    c.enter_group("m-" + "x" * 300, who="c")
    c.show()
    c.log()


def newcomer_without_topics(c: ConsumerConversation) -> None:
    """A member without topics joins while an assignment is due: the group still counts as homogeneous."""
    c.enter_group("m-a")
    c.enter_group("m-b", who="b")
    c.quit("m-a")
    c.enter_group("m-c", who="c", names=[])
    c.hb("m-b", 3, who="b", owned=())
    c.show()


def static_members(c: ConsumerConversation) -> None:
    """Instances that come back, or do not."""
    c.enter_group("m-a", instance="i")
    c.enter_group("m-b", who="b", instance="i")
    c.enter_group("m-a", instance="i")
    c.hb("m-a", 2, instance="i")
    c.hb("m-b", 2, who="b", instance="i")
    c.hb("m-a", 2, instance="j")
    c.hb("m-a", 2)
    c.quit("m-b", -2, instance="i")
    c.quit("m-a", -2, instance="j")
    c.quit("m-a", -2, instance="i")
    c.show()
    c.hb("m-a", 2, instance="i")
    c.enter_group("m-b", who="b", instance="i")
    c.show()
    c.hb("m-a", 2, instance="i")
    c.hb("m-b", 2, who="b", instance="i", owned=EVERYTHING)
    c.enter_group("m-c", who="c")
    c.hb("m-b", 2, who="b", instance="i", owned=EVERYTHING)
    c.quit("m-b", -2, who="b", instance="i")
    c.hb("m-c", 3, who="c")
    c.enter_group("m-d", who="d", instance="i", names=[c.big, c.topic])
    c.hb("m-c", 3, who="c")
    c.show()
    c.quit("m-b", -1, who="b", instance="i")
    c.quit("m-d", -1, who="d", instance="i")
    c.hb("m-c", 4, who="c")
    c.show()
    c.log()


def subscriptions(c: ConsumerConversation) -> None:
    """Members change their minds, and topics come, grow and go."""
    c.enter_group("m-a", names=[c.big, f"late-{c.secret}"])
    c.enter_group("m-b", who="b", names=[c.topic])
    c.hb("m-a", 2, owned=EVERYTHING)
    c.show()
    c.hb("m-b", 3, who="b", names=[c.big, c.topic])
    c.hb("m-a", 3, owned=EVERYTHING)
    c.hb("m-a", 3, owned=(0, 1, 2))
    c.show()
    c.hb("m-b", 4, who="b", names=[], owned={c.topic: (0, 1)})
    c.show()
    c.hb("m-b", 4, who="b", owned=())
    c.hb("m-b", 5, who="b", owned=())
    c.hb("m-a", 4)
    c.show()
    late = c.make("late", 2)
    c.wait_until_epoch("m-a", 5, 6)
    c.show()
    c.grow(late, 3)
    c.wait_until_epoch("m-a", 6, 7)
    c.show()
    c.delete(late)
    wait_until("a rebalance", lambda: c.touch("m-a", 7) and c.epoch() > 7)
    c.hb("m-a", 7, owned=EVERYTHING)
    c.show()
    c.log()


def session_expiry(c: ConsumerConversation) -> None:
    """A member that is silent is out; heartbeats tell the interval that the group is configured with."""
    c.configure(consumer_session_timeout_ms="700", consumer_heartbeat_interval_ms="150")
    wait_until("the config", lambda: c.interval() == 150)
    c.enter_group("m-a")
    wait_until("an empty group", lambda: not c.members())
    c.hb("m-a", 2)
    c.show()
    c.enter_group("m-a", instance="i")
    c.quit("m-a", -2, instance="i")
    wait_until("an empty group", lambda: not c.members())
    c.log()


def rebalance_timeout(c: ConsumerConversation) -> None:
    """A member that does not give up its partitions in time is out."""
    c.enter_group("m-a", rebalance=700)
    c.enter_group("m-b", who="b")
    c.hb("m-a", 2)
    wait_until("one member", lambda: c.members() == ["m-b"])
    c.hb("m-b", 3, who="b")
    c.hb("m-a", 2, owned=(0, 1))
    c.show()
    c.log()


def assignors(c: ConsumerConversation) -> None:
    """The assignor that most members ask for; nobody's wish counts for the broker's first one."""
    c.enter_group("m-a", names=[c.big, c.topic])
    c.enter_group("m-b", who="b", names=[c.big, c.topic], assignor="range")
    c.show()
    c.hb("m-a", 2, assignor="uniform", owned={c.big: EVERYTHING, c.topic: (0, 1)})
    c.show()
    c.enter_group("m-c", who="c", names=[c.big, c.topic], assignor="range")
    c.show()
    c.quit("m-b", who="b")
    c.quit("m-c", who="c")
    c.hb("m-a", 2, owned={c.big: (0, 1), c.topic: (0,)})
    c.show()
    c.log()


def assignment_interval(c: ConsumerConversation) -> None:
    """The next target assignment waits for the interval, and the group is Assigning meanwhile."""
    c.configure(consumer_assignment_interval_ms="3000")
    c.enter_group("m-a")
    c.enter_group("m-b", who="b")
    c.show()
    c.listed()
    c.hb("m-b", 2, who="b")
    wait_until("an assignment", lambda: c.touch("m-a", 2) and c.state() != "Assigning")
    c.show()
    c.hb("m-b", 2, who="b")
    c.log()


def regexes(c: ConsumerConversation) -> None:
    """Patterns instead of names."""
    c.enter_group("m-a", regex="(unclosed")
    c.enter_group("m-a", regex=f"big-{c.secret}")
    wait_until("it is resolved", lambda: c.epoch() == 2)
    c.hb("m-a", 1)
    c.hb("m-a", 2, owned=EVERYTHING)
    c.show()
    c.enter_group("m-b", who="b", regex=f"big-{c.secret}", names=[c.topic])
    c.show()
    c.hb("m-b", 3, who="b", regex=f"(?<n>big)-{c.secret}")
    c.show()
    c.hb("m-b", 3, who="b", regex="")
    c.hb("m-b", 4, who="b", regex="*")
    c.hb("m-a", 2, owned=EVERYTHING)
    c.show()
    c.quit("m-a")
    c.quit("m-b", who="b")
    c.show()
    c.enter_group("m-a", regex="")
    c.show()
    c.log()


def commits(c: ConsumerConversation) -> None:
    """Offsets with member epochs."""
    c.enter_group("m-a")
    c.commit_as("m-a", 2)
    c.commit_as("m-a", 2, version=10)
    c.commit_as("m-a", 2, version=8)
    c.commit_as("m-a", 1)
    c.commit_as("m-a", 3)
    c.commit_as("m-x", 2)
    c.commit_as("", -1)
    c.commit_as("m-a", -1)
    c.fetch_as("m-a", 2)
    c.fetch_as("m-a", 1)
    c.fetch_as("m-a", 3)
    c.fetch_as("m-x", 2)
    c.fetch_as(None, -1)
    c.fetch_as("", -1)
    c.fetch_as("m-a", -1)
    c.fetch_as("m-a", 2, version=10)
    c.fetch(7, topics=[c.big])
    c.enter_group("m-b", who="b")
    c.hb("m-a", 2)
    c.hb("m-a", 2, owned=(0, 1))
    c.hb("m-b", 3, who="b")
    c.commit_as("m-a", 2, (0, 1))
    c.commit_as("m-a", 2, (0, 1, 2))
    c.commit_as("m-a", 2, (2,), version=10)
    c.commit_as("m-a", 3, (2,))
    c.commit_as("m-b", 2, (2,))
    c.commit_as("m-b", 3, (0,))
    c.fetch_as("m-a", 2)
    c.commit_in_transaction("m-a", 3)
    c.commit_in_transaction("m-a", 2)
    c.commit_in_transaction("m-b", 2)
    c.commit_in_transaction("m-b", 4)
    c.commit_in_transaction("m-x", 3)
    c.commit_in_transaction("", -1)
    c.commit_in_transaction("", -1, version=2)
    c.commit_as("m-nobody", 1, group_id=f"{c.group}-none")
    delete_offsets(c, (c.big, (0,)), (c.topic, (0,)))
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.quit("m-a")
    c.quit("m-b", who="b")
    c.commit_as("", -1, (0,))
    c.commit_as("m-a", 3, (0,))
    delete_offsets(c, (c.big, (0,)))
    c.log()
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.show()
    c.fetch_as("m-a", 2)
    c.log()


def classic_api(c: ConsumerConversation) -> None:
    """What the classic protocol's requests get from a group of the consumer protocol."""
    c.enter_group("m-a")
    c.enter_group("m-s", who="s", instance="i")
    c.beat("m-a", 2)
    c.beat("m-x", 2)
    c.sync("m-a", 2)
    c.leave(("m-x", None), ("", "j"), ("m-a", "i"))
    c.leave(("", None))
    c.leave(("m-a", None))
    c.show()
    c.leave(("", "i"))
    c.show()
    c.ask(LeaveGroupRequest(c.group, "m-a"), 2)
    c.beat("m-a", 2)
    c.sync("m-a", 2)
    c.log()


def empty_groups(c: ConsumerConversation) -> None:
    """An empty group changes its kind with who comes next."""
    told = c.classic_join("")
    c.classic_join(told.member_id)
    c.leave((told.member_id, None))
    c.commit_as("", -1)
    c.hb("m-a", 1)
    c.show()
    c.enter_group("m-a")
    c.show()
    c.quit("m-a")
    c.listed()
    told = c.classic_join("")
    c.listed()
    c.classic_join(told.member_id)
    c.describe()
    c.fetch_as(None, -1)
    c.log()


def upgrade(c: ConsumerConversation) -> None:
    """A consumer member joins a classic group; it becomes a consumer group, with members of both kinds."""
    c.use("dozen", 12)
    a = c.stable_consumer()
    c.enter_group("m-b", who="b")
    c.show()
    c.describe()
    c.listed()
    c.beat(a, 1)
    c.commit_as(a, 1, (0,), version=8)
    c.classic_join(a)
    c.beat(a, 1)
    c.show()
    c.sync(a, 1)
    c.beat(a, 1)
    c.classic_join(a, data=c.owning(*range(6)))
    c.show()
    c.sync(a, 2)
    c.hb("m-b", 2, who="b")
    c.hb("m-b", 2, who="b", owned=range(6, 12))
    c.beat(a, 2)
    c.beat(a, 7)
    c.sync(a, 7)
    c.sync(a, 2, protocol="other")
    c.sync(a, 2, kind="connect")
    c.beat("m-b", 2)
    c.sync("m-b", 2)
    c.show()
    told = c.classic_join("", who="c")
    c.classic_join(told.member_id, who="c")
    c.show()
    c.sync(told.member_id, 3, who="c")
    c.classic_join("", who="d", protocols=("sticky",))
    c.classic_join("", who="d", kind="connect")
    c.classic_join("", who="d", protocols=())
    c.classic_join("", who="d", version=3)
    c.commit_as(told.member_id, 2, (0,), version=8)
    c.commit_as(told.member_id, 9, (0,), version=8)
    c.fetch_as(told.member_id, 2)
    c.log()


def downgrade(c: ConsumerConversation) -> None:
    """The last consumer member leaves; what is left is a classic group."""
    a = c.stable_consumer()
    c.enter_group("m-b", who="b")
    c.classic_join(a, data=c.owning(0, 1, 2, 3))
    c.sync(a, 1)
    c.quit("m-b", who="b")
    c.show()
    c.describe()
    c.listed()
    c.beat(a, 1)
    c.classic_join(a, data=c.owning(0, 1))
    c.describe()
    c.hb("m-b", 2, who="b")
    c.log()


def downgrade_by_leaving(c: ConsumerConversation) -> None:
    """The same, by LeaveGroup and by a session that ends."""
    c.stable_consumer()
    c.enter_group("m-b", who="b")
    c.leave(("m-b", None))
    c.describe()
    c.log()


def upgrade_refused(c: ConsumerConversation) -> None:
    """Classic groups that cannot become consumer groups."""
    told = c.join("", kind="connect", protocols=("p",), data=b"\x01")
    c.join(told.member_id, kind="connect", protocols=("p",), data=b"\x01")
    c.enter_group("m-b", who="b")
    c.leave((told.member_id, None))
    told = c.join("", data=b"\xff")
    c.join(told.member_id, data=b"\xff")
    c.enter_group("m-b", who="b")
    c.sync(told.member_id, 3, assignments={told.member_id: b"\xff"})
    c.enter_group("m-b", who="b")
    c.leave((told.member_id, None))
    told = c.classic_join("")
    c.classic_join(told.member_id)
    c.sync(told.member_id, 5, assignments={told.member_id: c.assignment(0, user_data=b"x")})
    c.enter_group("m-b", who="b")
    c.describe()
    c.log()


def upgrade_while_rebalancing(c: ConsumerConversation) -> None:
    """Classic members that wait are told to join again."""
    a = c.stable_consumer()
    told = c.classic_join("", who="b")
    c.begin_join(told.member_id, 9, "b", data=subscription(c.big))
    c.waits("b")
    c.enter_group("m-c", who="c")
    c.end("b")
    c.note("state", c.state())
    c.beat(a, 1)
    c.kinds()


def static_changes(c: ConsumerConversation) -> None:
    """Static members change the protocol under their instance ids."""
    a = c.classic_join("", instance="i")
    c.sync(a.member_id, 1, assignments={a.member_id: c.assignment(0, 1, 2, 3)})
    c.enter_group("m-b", who="b", instance="i")
    c.show()
    c.beat(a.member_id, 1, instance="i")
    c.hb("m-b", 2, who="b", instance="i", owned=EVERYTHING)
    c.log()
    again = c.classic_join("", instance="i")
    c.describe()
    c.listed()
    c.hb("m-b", 2, who="b", instance="i")
    c.sync(again.member_id, 2, instance="i")
    c.log()


def session_of_classic_members(c: ConsumerConversation) -> None:
    """Classic members of a consumer group have the time-outs that they asked for."""
    a = c.stable_consumer(session=1_000, rebalance=1_000)
    c.enter_group("m-b", who="b")
    c.show()
    wait_until("one member", lambda: c.members() == ["m-b"])
    c.beat(a, 1)
    c.hb("m-b", 2, who="b")
    c.log()


def full(c: ConsumerConversation) -> None:
    """No more members than `group.consumer.max.size`."""
    kept, c.transcript = c.transcript, []
    for number in range(12):
        c.enter_group(f"m-{number}")
    c.transcript = kept
    c.enter_group("m-12")
    c.enter_group("", version=0)
    c.hb("m-3", 5, owned=())
    c.enter_group("m-3")
    told = c.classic_join("")
    c.quit("m-5")
    joined = c.enter_group("m-12")
    c.note("epoch", joined.member_epoch)
    c.note("members", [told.error_code, c.members()])


def deleted_group(c: ConsumerConversation) -> None:
    """DeleteGroups of groups with and without members."""
    c.groups.append(f"{c.group}-b")
    c.enter_group("m-a")
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.enter_group("m-r", group_id=f"{c.group}-b", regex=f"big-{c.secret}")
    wait_until("it is resolved", lambda: c.epoch(f"{c.group}-b") == 2)
    c.quit("m-a")
    c.quit("m-r", group_id=f"{c.group}-b")
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.ask(DeleteGroupsRequest([f"{c.group}-b"]), 2)
    c.show(c.group)
    c.hb("m-a", 2)
    c.enter_group("m-a")
    c.log()


CONVERSATIONS = conversations(__name__)
transcribe = transcriber(ConsumerConversation, CONVERSATIONS)
