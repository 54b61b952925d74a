"""Conversations of raw requests about groups, written down so that two brokers can be compared word for word.

A transcript is a list of [what was asked, what came back], with member ids, topic ids and the group's own name replaced
by names of ours, and at the end what the group's records in `__consumer_offsets` say. The transcripts of a real Kafka
4.4.0 lie in ``tests/vectors/group_conversations.json.gz``.
"""

from __future__ import annotations

import base64
import json
import re
import select
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from struct import pack
from typing import Any

from odradek.broker.coordinator.service import partition_for
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from odradek.protocol.generated.stored.group_metadata import GroupMetadataValue
from odradek.protocol.generated.stored.offset_commit import OffsetCommitKey, OffsetCommitValue
from odradek.protocol.json_form import to_json
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import iter_batches
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until
from tests.scenarios.transcripts import conversations, transcriber

Transcript = list[Any]
_MEMBER_ID = re.compile(r"^(.*)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_SECRET = re.compile(r"[0-9a-f]{12}")
_UNSEEN = frozenset({"throttleTimeMs", "currentStateTimestamp", "commitTimestamp"})
_BYTES = frozenset({"memberMetadata", "memberAssignment", "subscription", "assignment"})
_SORTED = {"members": "memberId", "topics": "name", "partitions": "partitionIndex", "responses": "topicId"}
"""Lists in an order of no meaning, such as one by the hashes of topic ids, and by which field they are put in order."""
INTERNAL = "__consumer_offsets"


def subscription(*topics: str, user_data: bytes | None = None) -> bytes:
    """ConsumerProtocolSubscription 0."""
    names = b"".join(pack(">h", len(topic)) + topic.encode() for topic in topics)
    return pack(">hi", 0, len(topics)) + names + (b"\xff\xff\xff\xff" if user_data is None else b"\0\0\0\0")


class Conversation:
    """One or more connections to one broker, and the transcript of what is said."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.secret = uuid.uuid4().hex[:12]
        self.group = f"g-{self.secret}"
        self.topic = f"t-{self.secret}"
        self.transcript: Transcript = []
        self.groups = [self.group]
        self._clients: dict[str, WireClient] = {}
        self._open: dict[str, tuple[Any, int, int]] = {}
        self._names: dict[str, str] = {}
        self._prepare()

    def _prepare(self) -> None:
        client = self._client("setup")
        client.request(CreateTopicsRequest(topics=[CreatableTopic(self.topic, 2, 1)], timeout_ms=30_000), 7)

        def known() -> Any:
            topic = client.request(MetadataRequest(topics=[MetadataRequestTopic(name=self.topic)])).topics[0]
            return topic if topic.error_code == 0 and len(topic.partitions) == 2 else None

        self.topic_id: bytes = wait_until("the topic", known).topic_id
        self._names[uuid_to_text(self.topic_id)] = "<topic id>"
        for group in (self.group, f"{self.group}-b", f"{self.group}-none"):
            find = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
            wait_until("a coordinator", partial(self._found, client, find))
            wait_until("its groups", partial(self._serves, group))

    @staticmethod
    def _found(client: WireClient, find: FindCoordinatorRequest) -> bool:
        return bool(client.request(find, 4).coordinators[0].error_code == 0)

    def _serves(self, group: str) -> bool:
        return bool(self._probe(group).error_code == 25)

    def _probe(self, group: str) -> Any:
        """The answer to the heartbeat of a stranger, which changes nothing."""
        return self._client("setup").request(HeartbeatRequest(group, 1, "x"), 4)

    def _client(self, name: str) -> WireClient:
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = WireClient(self.host, self.port, client_id=name, timeout_s=60)
        return client

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    # -- saying

    def ask(self, request: Any, version: int, who: str = "a") -> Any:
        """Ask and write down the answer."""
        self.begin(request, version, who)
        return self.end(who)

    def begin(self, request: Any, version: int, who: str) -> None:
        """Ask something that is not answered at once."""
        self._open[who] = (request, version, self._client(who).send(request, version))

    def waits(self, who: str) -> None:
        """Write down whether the answer is outstanding, when the broker has had the time to come to the request.

        Not only time, as a busy machine may give it none: others have asked after that and were answered.
        """
        for _ in range(5):
            self._probe(self.group)
        answered = bool(select.select([self._client(who)._socket], [], [], 0.15)[0])
        self.transcript.append([f"{who} waits", not answered])

    def end(self, who: str) -> Any:
        """Take the answer and write it down."""
        request, version, correlation_id = self._open.pop(who)
        response = self._client(who).receive(request, version, correlation_id)
        name = API_BY_KEY[request.API_KEY].name
        self.note(f"{who}: {name} {version}", to_json(response, version))
        return response

    def note(self, what: str, content: Any) -> None:
        self.transcript.append([_SECRET.sub("*", what), self._clean(content)])

    def _clean(self, value: Any, key: str = "") -> Any:
        if isinstance(value, Mapping):
            return {k: self._clean(v, k) for k, v in value.items() if k not in _UNSEEN}
        if isinstance(value, list):
            items = [self._clean(item, key) for item in value]
            if key in _SORTED and all(isinstance(item, dict) and _SORTED[key] in item for item in items):
                items.sort(key=lambda item: (item[_SORTED[key]], json.dumps(item)))
            return items
        if not isinstance(value, str):
            return value
        if key in _BYTES or (key == "metadata" and value.startswith("AA")):
            return _SECRET.sub("*", base64.b64decode(value).decode("latin1"))
        if value in self._names:
            return self._names[value]
        match = _MEMBER_ID.match(value)
        if match:
            self._names[value] = f"<{self._clean(match.group(1))} {len(self._names)}>"
            return self._names[value]
        return _SECRET.sub("*", value)

    # -- short forms

    def join(self, member_id: str = "", version: int = 9, who: str = "a", **options: Any) -> Any:
        self.begin_join(member_id, version, who, **options)
        return self.end(who)

    def begin_join(self, member_id: str = "", version: int = 9, who: str = "a", **options: Any) -> None:
        protocols = options.pop("protocols", ("range",))
        data = options.pop("data", subscription(self.topic))
        request = JoinGroupRequest(
            group_id=options.pop("group_id", self.group),
            session_timeout_ms=options.pop("session", 30_000),
            rebalance_timeout_ms=options.pop("rebalance", 30_000),
            member_id=member_id,
            group_instance_id=options.pop("instance", None),
            protocol_type=options.pop("kind", "consumer"),
            protocols=[JoinGroupRequestProtocol(name, data) for name in protocols],
        )
        assert not options, options
        self.begin(request, version, who)

    def enter(self, who: str = "a", **options: Any) -> str:
        """Join as a new dynamic member up to the join phase; returns the member id."""
        told = self.join("", 9, who, **options)
        return str(told.member_id)

    def begin_sync(self, member_id: str, generation: int, who: str = "a", version: int = 5, **options: Any) -> None:
        assignments: Mapping[str, bytes] = options.pop("assignments", {})
        request = SyncGroupRequest(
            group_id=self.group,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=options.pop("instance", None),
            protocol_type=options.pop("kind", "consumer"),
            protocol_name=options.pop("protocol", "range"),
            assignments=[SyncGroupRequestAssignment(m, a) for m, a in assignments.items()],
        )
        assert not options, options
        self.begin(request, version, who)

    def sync(self, member_id: str, generation: int, who: str = "a", version: int = 5, **options: Any) -> Any:
        self.begin_sync(member_id, generation, who, version, **options)
        return self.end(who)

    def beat(self, member_id: str, generation: int, who: str = "a", instance: str | None = None) -> Any:
        return self.ask(HeartbeatRequest(self.group, generation, member_id, instance), 4, who)

    def leave(self, *members: tuple[str, str | None], version: int = 5, who: str = "a") -> Any:
        return self.ask(LeaveGroupRequest(self.group, members=[MemberIdentity(*m) for m in members]), version, who)

    def commit(
        self, offsets: Sequence[tuple[int, int]], version: int = 9, *, topic: str | None = None, **options: Any
    ) -> Any:
        partitions = [
            OffsetCommitRequestPartition(
                index, offset, options.get("epoch", -1), committed_metadata=options.get("metadata", "m")
            )
            for index, offset in offsets
        ]
        name = topic or self.topic
        request = OffsetCommitRequest(
            group_id=options.get("group_id", self.group),
            generation_id_or_member_epoch=options.get("generation", -1),
            member_id=options.get("member", ""),
            group_instance_id=options.get("instance"),
            retention_time_ms=options.get("retention", -1),
            topics=[OffsetCommitRequestTopic(name, self.topic_id, partitions)],
        )
        return self.ask(request, version)

    def fetch(self, version: int = 7, *, topics: Sequence[str] | None = None, stable: bool = False) -> Any:
        names = topics
        if version < 8:
            rows = None if names is None else [OffsetFetchRequestTopic(name, [0, 1, 7]) for name in names]
            return self.ask(OffsetFetchRequest(self.group, rows, require_stable=stable), version)
        wanted = None if names is None else [OffsetFetchRequestTopics(name, self.topic_id, [0, 1, 7]) for name in names]
        group = OffsetFetchRequestGroup(self.group, topics=wanted)
        return self.ask(OffsetFetchRequest(groups=[group], require_stable=stable), version)

    def describe(self, version: int = 6, *groups: str) -> Any:
        return self.ask(DescribeGroupsRequest(list(groups or (self.group,)), version >= 3), version)

    def listed(self) -> None:
        """What ListGroups says of the conversation's groups."""
        response = self._client("lister").request(ListGroupsRequest(), 5)
        rows = [g for g in response.groups if g.group_id in self.groups]
        self.note("listed", [[g.group_id, g.protocol_type, g.group_state, g.group_type] for g in rows])

    def stable(self, members: int = 1, **options: Any) -> list[str]:
        """A stable group of members a, b, c..., not written down."""
        kept, self.transcript = self.transcript, []
        names = [chr(ord("a") + i) for i in range(members)]
        ids = {"a": self.enter("a", **options)}
        generation = self.join(ids["a"], who="a", **options).generation_id
        for name in names[1:]:
            ids[name] = self.enter(name, **options)
            self.begin_join(ids[name], 9, name, **options)
            self.waits(name)
            for other in [n for n in names if n in ids and n not in (name, "a")]:
                if other not in self._open:
                    self.begin_join(ids[other], 9, other, **options)
            self.begin_join(ids["a"], 9, "a", **options)
            for other in [n for n in names if n in self._open and n != "a"]:
                self.end(other)
            generation = self.end("a").generation_id
        for name in names[1:]:
            self.begin_sync(ids[name], generation, name)
            self.waits(name)
        self.sync(ids["a"], generation, "a", assignments={m: m[:1].encode() for m in ids.values()})
        for name in names[1:]:
            self.end(name)
        self.transcript = kept
        self.note("stable", [generation, list(ids.values())])
        return list(ids.values())

    # -- what the log says

    def log(self) -> None:
        """The records of the conversation's groups."""
        client = self._client("reader")
        internal = client.request(MetadataRequest(topics=[MetadataRequestTopic(name=INTERNAL)])).topics[0]
        for group in sorted(self.groups):
            partition = partition_for(group, len(internal.partitions))
            rows = list(group_records(client, partition, group))
            self.note(f"log of {group}", rows)


def group_records(
    client: WireClient, partition: int, group: str, decode: Callable[[bytes, bytes | None, str], Any] | None = None
) -> Any:
    """The records of one group, with the shape of their batches; ``decode`` says which ones, and what is in them."""
    decode = decode or _record
    for batch in batches_from(client, INTERNAL, partition, 0):
        for record in batch.records():
            row = decode(record.key or b"", record.value, group)
            if row is not None:
                yield [batch.record_count, batch.base_sequence, batch.is_transactional, *row]


def batches_from(client: WireClient, topic: str, partition: int, offset: int) -> Any:
    """The batches of a partition from an offset on."""
    while True:
        wanted = FetchTopic(topic, partitions=[FetchPartition(partition, fetch_offset=offset)])
        wanted.partitions[0].partition_max_bytes = 1 << 20
        answer = client.request(FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 24, topics=[wanted]), 11)
        data = answer.responses[0].partitions[0]
        assert data.error_code == 0, data
        batches = list(iter_batches(bytes(data.records or b"")))
        if not batches:
            return
        for batch in batches:
            offset = batch.next_offset
            yield batch


def _record(key: bytes, value: bytes | None, group: str) -> list[Any] | None:
    kind = int.from_bytes(key[:2], "big")
    if kind == 2 and key[4:].decode() == group:
        return ["group", _value(GroupMetadataValue, value)]
    if kind == 1:
        decoded = codec(OffsetCommitKey, 0).decode(key, 2)[0]
        if decoded.group == group:
            return [f"{decoded.topic}-{decoded.partition}", _value(OffsetCommitValue, value)]
    return None


def _value(message: Any, value: bytes | None) -> Any:
    if value is None:
        return None
    version = int.from_bytes(value[:2], "big")
    form = to_json(codec(message, version).decode(value, 2)[0], version)
    if "expireTimestamp" in form:
        form["expireTimestamp"] = int(form["expireTimestamp"]) - int(form["commitTimestamp"])
    return {"version": version, **form}


# -- the conversations


def every_version(c: Conversation) -> None:
    """A member's life in every version of every API."""
    for version in range(10):
        c.note("version", version)
        joined = c.join("", version)
        if joined.error_code == 79:
            joined = c.join(joined.member_id, version)
        member, generation = joined.member_id, joined.generation_id
        c.sync(member, generation, version=min(version, 5), assignments={member: b"x"})
        c.ask(HeartbeatRequest(c.group, generation, member), min(version, 4))
        c.commit([(0, version), (9, 1)], max(2, version), generation=generation, member=member)
        c.fetch(max(1, version), topics=[c.topic, "t-nope"] if version < 10 else [c.topic])
        c.describe(min(version, 6))
        if version < 3:
            c.ask(LeaveGroupRequest(c.group, member), version)
        else:
            c.leave((member, None), version=min(version, 5))
    c.listed()


def votes(c: Conversation) -> None:
    """Which protocol wins when votes are even."""
    for names in (
        (("range", "roundrobin"), ("roundrobin", "range")),
        (("sticky", "range"), ("range", "sticky")),
        (("cooperative-sticky", "range"), ("range", "cooperative-sticky")),
        (("zzz", "aaa", "mmm"), ("aaa", "zzz", "mmm")),
        (("mmm", "aaa"), ("aaa", "mmm")),
        (("b", "a"), ("a", "b")),
    ):
        a = c.enter("a", protocols=names[0])
        c.join(a, protocols=names[0])
        b = c.enter("b", protocols=names[1])
        c.begin_join(b, 9, "b", protocols=names[1])
        c.waits("b")
        c.begin_join(a, 9, "a", protocols=names[0])
        c.end("b")
        c.end("a")
        c.leave((a, None), (b, None))


def followers(c: Conversation) -> None:
    """What a follower and a leader get for joining again, unchanged and changed."""
    a, b = c.stable(2)
    c.join(b, who="b")
    c.describe()
    c.begin_join(b, 9, "b", protocols=("range", "other"))
    c.waits("b")
    c.beat(a, 2)
    c.sync(a, 2)
    c.commit([(0, 4)], generation=2, member=a)
    c.describe()
    c.join(a)
    c.end("b")
    c.join(b, who="b", protocols=("range", "other"))
    c.commit([(0, 5)], generation=3, member=a)
    c.beat(b, 3, "b")
    c.begin_sync(b, 3, "b")
    c.waits("b")
    c.sync(a, 3, assignments={a: b"1"})
    c.end("b")
    c.begin_join(a)
    c.waits("a")
    c.leave((b, None), who="b")
    c.end("a")
    c.log()


def leader_leaves(c: Conversation) -> None:
    """Somebody else leads; a waiting follower is let go."""
    a, b = c.stable(2)
    c.begin_join(a)
    c.waits("a")
    c.begin_join(b, 9, "b")
    c.end("b")
    c.end("a")
    c.begin_sync(b, 3, "b")
    c.waits("b")
    c.leave((a, None))
    c.end("b")
    c.describe()
    c.beat(b, 3, "b")
    c.join(b, who="b")
    c.sync(b, 4, "b", assignments={b: b"z"})
    c.describe()
    c.log()


def static_members(c: Conversation) -> None:
    """Coming back, fencing, removal."""
    first = c.join(instance="i", version=9).member_id
    c.sync(first, 1, instance="i", assignments={first: b"all"})
    second = c.join(instance="i", version=5).member_id
    c.describe()
    c.beat(first, 1, instance="i")
    c.beat(second, 1, instance="i")
    c.beat(second, 1)
    c.beat(second, 1, instance="other")
    c.sync(second, 1, instance="i")
    c.sync(first, 1, instance="i")
    third = c.join(instance="i", version=9).member_id
    c.join(second, instance="i", version=9)
    c.commit([(0, 1)], generation=1, member=second, instance="i")
    c.commit([(0, 1)], generation=1, member=third, instance="i")
    fourth = c.join(instance="i", version=9, data=subscription(c.topic, "u")).member_id
    c.describe()
    c.leave((third, "i"), (fourth, "j"), ("", "j"))
    c.describe()
    c.join(instance="i", version=9, protocols=("sticky", "range"))
    c.describe()
    c.leave(("", "i"))
    c.describe()
    c.log()


def static_while_rebalancing(c: Conversation) -> None:
    """A static member comes back while the group gathers, and while it hands out."""
    a = c.stable(1)[0]
    c.begin_join(who="b", instance="i")
    c.waits("b")
    c.begin_join(who="d", instance="i")
    c.end("b")
    c.waits("d")
    c.begin_join(a)
    d = c.end("d").member_id
    c.end("a")
    c.describe()
    c.begin_sync(d, 2, "d", instance="i")
    c.waits("d")
    c.begin_join(who="e", instance="i")
    c.end("d")
    c.waits("e")
    c.begin_join(a)
    e = c.end("e").member_id
    c.end("a")
    c.begin_sync(e, 3, "e", instance="i")
    c.waits("e")
    c.sync(a, 3, assignments={a: b"A", e: b"E"})
    c.end("e")
    c.join(who="f", instance="i", version=6)
    c.describe()
    c.log()


def static_follower(c: Conversation) -> None:
    """A static follower comes back in a stable group, in each version of the answer."""
    a = c.stable(1)[0]
    c.begin_join(who="b", instance="i")
    c.waits("b")
    c.begin_join(a)
    b = c.end("b").member_id
    c.end("a")
    c.begin_sync(b, 2, "b", instance="i")
    c.waits("b")
    c.sync(a, 2, assignments={a: b"A", b: b"B"})
    c.end("b")
    for version in (5, 7, 9):
        b = c.join(who="b", instance="i", version=version).member_id
        c.sync(b, 2, "b", instance="i")
    c.join(b, who="b", instance="i")
    c.describe()
    c.log()


def pending_members(c: Conversation) -> None:
    """Ids given out: they hold up a rebalance, can be given back, and do not expire with others."""
    a = c.stable(1)[0]
    b = c.enter("b")
    c.beat(b, 1, "b")
    c.sync(b, 1, "b")
    c.beat(a, 1)
    c.begin_join(a)
    c.waits("a")
    c.leave((b, None), who="b")
    c.end("a")
    c.sync(a, 2)
    d = c.enter("d")
    c.leave((d, None), who="d")
    c.join(d, who="d")
    c.describe()
    e = c.enter("e")
    c.leave((a, None), (e, None))
    c.describe()
    c.log()


def refused(c: Conversation) -> None:
    """Requests that do not fit."""
    c.join("nobody")
    c.join("", session=99)
    c.join("", session=1_800_001)
    c.join("", group_id="")
    c.join("", protocols=())
    c.join("", kind="")
    c.describe()
    a = c.stable(1)[0]
    c.join("", kind="connect")
    c.join("", protocols=("sticky",))
    c.join(a, kind="connect")
    c.join("", kind="")
    c.join(a, instance="i")
    c.sync(a, 1, protocol="sticky")
    c.sync(a, 1, kind="connect")
    c.ask(SyncGroupRequest(c.group, 1, a), 5)
    c.ask(SyncGroupRequest(c.group, 1, a), 4)
    c.ask(SyncGroupRequest("", 1, a), 4)
    c.ask(HeartbeatRequest("", 1, a), 4)
    c.ask(LeaveGroupRequest("", a), 2)
    c.ask(LeaveGroupRequest("", members=[MemberIdentity(a)]), 4)
    c.leave()
    c.beat("", -1)
    c.beat(a, -1)
    c.beat(a, 1, instance="i")
    c.leave((a, "i"))
    c.describe()


def another_kind(c: Conversation) -> None:
    """Groups of Kafka Connect and the like; an empty group can change its kind."""
    a = c.stable(1)[0]
    c.leave((a, None))
    c.listed()
    told = c.join("", kind="connect", protocols=("sessioned",), data=b"\x01")
    c.join(told.member_id, kind="connect", protocols=("sessioned",), data=b"\x01")
    c.sync(told.member_id, 3, kind="connect", protocol="sessioned", assignments={told.member_id: b"\x02"})
    c.describe()
    c.listed()
    c.commit([(0, 3)], generation=3, member=told.member_id)
    delete_offsets(c, (c.topic, (0,)))
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.leave((told.member_id, None))
    delete_offsets(c, (c.topic, (0,)))
    c.log()


def delete_offsets(c: Conversation, *topics: tuple[str, Sequence[int]]) -> None:
    rows = [OffsetDeleteRequestTopic(t, [OffsetDeleteRequestPartition(p) for p in ps]) for t, ps in topics]
    c.ask(OffsetDeleteRequest(c.group, rows), 0)


def offsets_without_members(c: Conversation) -> None:
    """Commits of consumers that are in no group."""
    c.commit([(0, 3), (1, 4), (7, 5)])
    c.describe()
    c.listed()
    c.fetch(topics=[c.topic, "t-nope"])
    c.fetch()
    c.commit([(0, 5)], member="m")
    c.commit([(0, 6)], generation=0)
    c.commit([(0, 6)], generation=0, member="m")
    c.commit([(0, 6)], instance="i")
    c.commit([(0, 7)], 6, metadata=None, epoch=4)
    c.commit([(0, 8), (1, 9)], metadata="x" * 4097)
    c.commit([(1, 8)], metadata="ä" * 4096)
    c.commit([(0, -1)])
    c.commit([(0, 2)], 3, retention=60_000)
    c.commit([(0, 2)], 4, retention=0)
    c.commit([], 9)
    c.commit([(0, 1)], 9, topic="t-nope")
    c.commit([(0, 11)], 10)
    c.commit([(0, 12)], generation=3, member="m", group_id=f"{c.group}-none")
    c.commit([(0, 12)], 8, generation=3, member="m", group_id=f"{c.group}-none")
    c.fetch(1, topics=[c.topic])
    c.fetch(9, topics=[])
    c.fetch(9, stable=True)
    c.fetch(10)
    c.fetch(10, topics=["by id"])
    delete_offsets(c, (c.topic, (0, 1, 5)), ("t-nope", (0,)))
    c.fetch()
    c.describe()
    c.listed()
    delete_offsets(c, (c.topic, (0,)))
    c.log()


def simple_group_gets_members(c: Conversation) -> None:
    """Offsets first, members later."""
    c.commit([(0, 3)])
    told = c.join("")
    c.describe()
    c.commit([(0, 4)])
    c.join(told.member_id)
    c.commit([(0, 5)])
    c.commit([(0, 5)], generation=1, member=told.member_id)
    c.sync(told.member_id, 1)
    c.commit([(0, 6)], generation=1, member=told.member_id)
    c.commit([(0, 6)], generation=0, member=told.member_id)
    c.commit([(0, 6)], generation=-1, member=told.member_id)
    delete_offsets(c, (c.topic, (0,)))
    c.leave((told.member_id, None))
    c.commit([(0, 7)])
    c.commit([(0, 7)], generation=2, member=told.member_id)
    c.fetch()
    c.log()


def deletion(c: Conversation) -> None:
    """Groups and topics are deleted."""
    c.groups.append(f"{c.group}-b")
    a = c.stable(1)[0]
    c.commit([(0, 3), (1, 4)], generation=1, member=a)
    c.commit([(0, 3)], group_id=f"{c.group}-b")
    c.ask(DeleteGroupsRequest([c.group]), 1)
    c.leave((a, None))
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.ask(DeleteGroupsRequest([""]), 2)
    c.describe()
    c.describe(5)
    c.fetch()
    c.listed()
    c.beat(a, 1)
    c.join(a)
    delete_offsets(c, (c.topic, (0,)))


def unreadable_subscriptions(c: Conversation) -> None:
    """A consumer group whose members' metadata is no subscription."""
    told = c.join("", data=b"\xff")
    c.join(told.member_id, data=b"\xff")
    c.sync(told.member_id, 1, assignments={told.member_id: b"\xfe\xfe", "stranger": b"q"})
    c.commit([(0, 3)], generation=1, member=told.member_id)
    delete_offsets(c, (c.topic, (0,)))
    c.describe()
    c.log()


def rebalance_timeout(c: Conversation) -> None:
    """A member that does not join again in time is out."""
    a, b = c.stable(2, rebalance=4_000)
    c.join(a, rebalance=4_000)
    c.beat(b, 2, "b")
    c.beat(b, 3, "b")
    c.describe()
    c.log()


def sync_timeout(c: Conversation) -> None:
    """A member that does not sync in time is out; it takes a rebalance to tell the others."""
    a, b = c.stable(2, rebalance=4_000)
    c.begin_join(b, 9, "b", protocols=("range", "x"), rebalance=4_000)
    c.waits("b")
    c.begin_join(a, 9, "a", rebalance=4_000)
    c.end("b")
    c.end("a")
    c.sync(a, 3, assignments={a: b"1"})
    wait_until("a rebalance", lambda: c._client("x").request(HeartbeatRequest(c.group, 3, a), 4).error_code == 27)
    c.describe()
    c.beat(b, 3, "b")
    c.join(a, rebalance=4_000)
    c.log()


def topic_deletion(c: Conversation) -> None:
    """Offsets go with their topic."""
    c.commit([(0, 3), (1, 4)])
    state = [DeleteTopicState(name=c.topic)]
    c._client("admin").request(DeleteTopicsRequest(topics=state, timeout_ms=30_000), 6)
    wait_until("no offsets", lambda: not c._client("x").request(OffsetFetchRequest(c.group, None), 7).topics)
    c.fetch()
    c.describe()
    c.log()


CONVERSATIONS = conversations(__name__)
transcribe = transcriber(Conversation, CONVERSATIONS)
