"""What each API answers to whom: every request of `authorization_rows`, asked by users with some of the rights.

A user stands for one set of rights; the super user `admin` makes topics, groups of each kind, a transaction and a
token first. Two brokers must give the same answers. Those of a real Kafka 4.4.0 lie in
`tests/vectors/authorization.json.gz`; this writes them:

    python -m tests.scenarios.authorization tests/vectors/authorization.json.gz
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import re
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from odradek.protocol.json_form import from_json, to_json
from odradek.protocol.message_codec import codec
from tests.conformance.real_kafka import free_ports
from tests.fakes.wire_client import ConnectionClosed, WireClient
from tests.scenarios.authorization_rows import NO_ID, Form, Row, World, batch, rows
from tests.scenarios.odd_requests import completed
from tests.scenarios.target import served, wait_until

Answers = dict[str, dict[str, Any]]
"""API, version and label -> rights (sorted, joined by commas) -> answer."""
LogIn = Callable[[str], WireClient]

ADMIN, OWNER, PASSWORD = "admin", "owner", "secret"
PEOPLE = ("ann", "ben", "cho")
"""Further users, who begin without any right."""
OPERATIONS = [
    *("UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"),
    *("DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT"),
]
RESOURCES = ["UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"]
_NO_TASKS: Form = {"activeTasks": [], "standbyTasks": [], "warmupTasks": []}
_NO_TOPICS: Form = {
    "sourceTopicRegex": [],
    "stateChangelogTopics": [],
    "repartitionSinkTopics": [],
    "repartitionSourceTopics": [],
    "copartitionGroups": [],
}
_DENY, _ALLOW, _LITERAL = 2, 3, 3
ZERO_ID = "A" * 22

# Beside the listeners: members that live as long as the scenario, and nobody to wait for.
CONFIG: Mapping[str, str] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": f"User:{ADMIN};User:ANONYMOUS",
    "delegation.token.secret.key": "master",
    "sasl.enabled.mechanisms": "PLAIN",
    "group.consumer.max.session.timeout.ms": "1800000",
    "group.consumer.session.timeout.ms": "1800000",
    "group.share.max.session.timeout.ms": "1800000",
    "group.share.session.timeout.ms": "1800000",
    "group.streams.max.session.timeout.ms": "1800000",
    "group.streams.session.timeout.ms": "1800000",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "share.coordinator.state.topic.num.partitions": "5",
}


# -- users


def users() -> dict[frozenset[str], str]:
    """The name of the user for each set of rights."""
    names: dict[frozenset[str], str] = {}
    for row in rows(World()):
        for rights in row.right_sets():
            names.setdefault(frozenset(rights), f"az{len(names)}")
    return names


def jaas() -> str:
    """The line of `sasl.jaas.config` that knows all users."""
    known = " ".join(f'user_{name}="{PASSWORD}"' for name in (ADMIN, OWNER, *PEOPLE, *users().values()))
    return f"org.apache.kafka.common.security.plain.PlainLoginModule required {known};"


@contextmanager
def broker_with_users(side: str, config: Mapping[str, str] | None = None) -> Iterator[int]:
    """A broker of a side with a plain listener, where everybody is a super user, and one for users: that one's port."""
    plain, users_port = free_ports(2)
    properties = {
        **CONFIG,
        "listeners": f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{users_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": jaas(),
        **(config or {}),
    }
    with served(side, properties):
        yield users_port


def log_in(port: int, user: str, password: str = PASSWORD, host: str = "127.0.0.1") -> WireClient:
    """A client that has logged in with PLAIN."""
    client = WireClient(host, port, timeout_s=60)
    client.request(SaslHandshakeRequest("PLAIN"), 1)
    answer = client.request(SaslAuthenticateRequest(f"\0{user}\0{password}".encode()), 2)
    if answer.error_code:
        raise AssertionError(f"{user} is not logged in: {answer.error_message}")
    return client


def ask(client: WireClient, api: str, version: int, form: Form) -> Any:
    """The answer as JSON; fields that are missing in the form have their defaults."""
    body = codec(API_BY_NAME[api].request, version).construct
    request = from_json(API_BY_NAME[api].request, version, completed(body, form))
    return to_json(client.request(request, version), version)


# -- what the super user makes


class Stage:
    """The things that the rows name, made through a client of the super user."""

    def __init__(self, log_in: LogIn) -> None:
        self.log_in = log_in
        self.admin = log_in(ADMIN)
        self.world = World()
        self.sharers = 0
        self._session: WireClient | None = None

    def ask(self, api: str, version: int, form: Form) -> Any:
        return ask(self.admin, api, version, form)

    def done(self, api: str, version: int, form: Form, until: Callable[[Any], bool] | None = None) -> Any:
        """Ask until the answer has no error, or is as wanted."""
        wanted = until or (lambda answer: not any(error_codes(answer)))

        def probe() -> Any:
            answer = self.ask(api, version, form)
            return answer if wanted(answer) else None

        return wait_until(f"{api} v{version}", probe)

    def prepare(self) -> None:
        self._make_topics()
        self._make_offsets()
        self._join_classic()
        self._join_others()
        self._consume_shared()
        self._begin_transactions()
        self._make_token()
        self._grant()

    def make_topic(self, name: str, partitions: int = 1) -> None:
        wanted = {"name": name, "numPartitions": partitions, "replicationFactor": 1}
        made = self.ask("CreateTopics", 7, {"topics": [wanted], "timeoutMs": 10_000})["topics"][0]
        expected = made["topicId"] if made["errorCode"] == 0 else self.world.id(name)

        def shown(answer: Any) -> bool:
            return not any(error_codes(answer)) and bool(answer["topics"][0]["topicId"] == expected)

        self.done("Metadata", 12, {"topics": [{"name": name}], "allowAutoTopicCreation": False}, shown)
        self.world.ids[name] = expected

    def drop_topic(self, name: str) -> None:
        self.ask("DeleteTopics", 5, {"topicNames": [name], "timeoutMs": 10_000})
        gone: Callable[[Any], bool] = lambda answer: error_codes(answer)[0] == 3  # noqa: E731
        self.done("Metadata", 12, {"topics": [{"name": name}], "allowAutoTopicCreation": False}, gone)

    def _make_topics(self) -> None:
        self.make_topic("az-a", 2)
        self.make_topic("az-b")
        self.world.node = self.ask("Metadata", 12, {"topics": []})["brokers"][0]["nodeId"]
        for name in ("az-a", "az-b"):
            data = {"name": name, "partitionData": [{"index": 0, "records": batch()}]}
            self.done("Produce", 9, {"acks": -1, "timeoutMs": 3000, "topicData": [data]})

    def find(self, kind: int, *keys: str) -> None:
        self.done("FindCoordinator", 6, {"coordinatorKeys": list(keys), "keyType": kind})

    def _make_offsets(self) -> None:
        self.find(0, "az-offsets", "az-free", "az-classic", "az-nobody", "az-consumer", "az-share", "az-streams")
        self.find(1, "az-txn", "az-init")
        self.find(2, *(f"{group}:{self.world.id('az-a')}:0" for group in ("az-share", "az-state")))
        for group in ("az-nobody", "az-free", "az-share-2", "az-streams-2"):
            asked = {"groupId": group, "generationId": 1, "memberId": "m"}
            self.done("Heartbeat", 4, asked, lambda answer: bool(answer["errorCode"] == 25))
        kept = {"partitionIndex": 0, "committedOffset": 1, "committedMetadata": "m"}
        places = [{"name": name, "partitions": [kept]} for name in ("az-a", "az-b")]
        self.done("OffsetCommit", 8, {"groupId": "az-offsets", "generationIdOrMemberEpoch": -1, "topics": places})

    def _join_classic(self) -> None:
        names = b"".join(struct.pack(">h4s", 4, name) for name in (b"az-a", b"az-b"))
        subscription = base64.b64encode(struct.pack(">hi", 0, 2) + names + struct.pack(">i", -1)).decode()
        join: Form = {"groupId": "az-classic", "sessionTimeoutMs": 1_800_000, "rebalanceTimeoutMs": 10_000}
        join |= {"memberId": "", "protocolType": "consumer"}
        join["protocols"] = [{"name": "range", "metadata": subscription}]
        joined = self.done("JoinGroup", 3, join)
        member: Form = {"groupId": "az-classic", "memberId": joined["memberId"]}
        member["generationId"] = joined["generationId"]
        share = [{"memberId": joined["memberId"], "assignment": base64.b64encode(b"all of it").decode()}]
        self.done("SyncGroup", 3, {**member, "assignments": share})

    def _join_others(self) -> None:
        names = {"subscribedTopicNames": ["az-a", "az-b"]}
        consumer: Form = {"groupId": "az-consumer", "memberId": "m-consumer", "memberEpoch": 0, **names}
        consumer |= {"rebalanceTimeoutMs": 10_000, "topicPartitions": []}
        self.settle("ConsumerGroupHeartbeat", 1, consumer, "topicPartitions")
        share: Form = {"groupId": "az-share", "memberId": "m-share", "memberEpoch": 0, **names}
        self.settle("ShareGroupHeartbeat", 1, share, "")
        streams: Form = {"groupId": "az-streams", "memberId": "m-streams", "memberEpoch": 0, "processId": "process"}
        parts = [
            {"subtopologyId": part, "sourceTopics": [name], **_NO_TOPICS}
            for part, name in (("0", "az-a"), ("1", "az-b"))
        ]
        streams |= {"topology": {"epoch": 0, "subtopologies": parts}, "clientTags": [], "rebalanceTimeoutMs": 10_000}
        streams |= _NO_TASKS
        self.settle("StreamsGroupHeartbeat", 0, streams, "activeTasks")

    def settle(self, api: str, version: int, joining: Form, owned: str) -> None:
        """Join, and go on until the member has partitions and has said so."""
        answer = self.done(api, version, joining)
        form = {key: joining[key] for key in ("groupId", "memberId")}
        form |= {"rebalanceTimeoutMs": -1, "subscribedTopicNames": None, "topicPartitions": None}
        form |= dict.fromkeys(("activeTasks", "standbyTasks", "warmupTasks", "topology", "processId", "clientTags"))

        def settled() -> bool:
            nonlocal answer
            given = answer.get("assignment") if "Streams" not in api else answer.get("activeTasks")
            if given:
                if owned:
                    held = given["topicPartitions"] if isinstance(given, dict) else given
                    form.update(_NO_TASKS if "Streams" in api else {})
                    self.done(api, version, {**form, "memberEpoch": answer["memberEpoch"], owned: held})
                return True
            answer = self.done(api, version, {**form, "memberEpoch": answer["memberEpoch"]})
            return False

        wait_until(f"partitions for {joining['memberId']}", settled)

    @property
    def sharer(self) -> str:
        """The member whose share session was opened last: a new one each time, as a closed connection ends its own."""
        return f"sharer-{self.sharers}"

    def _share(self, client: WireClient, member: str, epoch: int, **fields: Any) -> Any:
        parts = [{"partitionIndex": 0, **fields}]
        topics = [{"topicId": self.world.id(name), "partitions": parts} for name in ("az-a", "az-b")]
        form: Form = {"groupId": "az-share", "memberId": member, "shareSessionEpoch": epoch, "topics": topics}
        return ask(client, "ShareFetch", 2, {**form, "maxBytes": 1 << 20, "maxRecords": 100, "batchSize": 100})

    def _consume_shared(self) -> None:
        """The share partitions are known to their leader, and their records are consumed."""
        reset = {"name": "share.auto.offset.reset", "configOperation": 0, "value": "earliest"}
        self.done("IncrementalAlterConfigs", 1, {"resources": [self._group_configs(reset)]})
        with self.log_in(ADMIN) as client:
            taken: set[str] = set()
            epochs = itertools.count()

            def both() -> bool:
                answer = self._share(client, "first", next(epochs))
                taken.update(t["topicId"] for t in answer["responses"] if t["partitions"][0]["acquiredRecords"])
                return len(taken) == 2

            wait_until("shared records", both)
            accepted = [{"firstOffset": 0, "lastOffset": 0, "acknowledgeTypes": [1]}]
            last = self._share(client, "first", next(epochs), acknowledgementBatches=accepted)
        assert not any(error_codes(last)), last

    def _group_configs(self, *configs: Form) -> Form:
        return {"resourceType": 32, "resourceName": "az-share", "configs": list(configs)}

    def _begin_transactions(self) -> None:
        for name in ("az-init", "az-txn"):
            begun: Form = {"transactionalId": name, "transactionTimeoutMs": 900_000, "producerId": -1}
            answer = self.done("InitProducerId", 4, {**begun, "producerEpoch": -1})
        added: Form = {"v3AndBelowTransactionalId": "az-txn", "v3AndBelowProducerId": answer["producerId"]}
        added["v3AndBelowProducerEpoch"] = answer["producerEpoch"]
        added["v3AndBelowTopics"] = [{"name": name, "partitions": [0]} for name in ("az-a", "az-b")]
        self.done("AddPartitionsToTxn", 3, added)

    def _make_token(self) -> None:
        with self.log_in(OWNER) as owner:
            token = ask(owner, "CreateDelegationToken", 1, {"renewers": [], "maxLifetimeMs": -1})
        assert token["errorCode"] == 0, token
        self.world.token_id, self.world.hmac = token["tokenId"], token["hmac"]
        self.done("DescribeDelegationToken", 1, {"owners": None}, lambda answer: bool(answer["tokens"]))

    def _grant(self) -> None:
        creations = [self.acl(right, name) for rights, name in users().items() for right in sorted(rights)]
        creations.append(self.acl("READ TOPIC az-acl", "nobody"))
        for start in range(0, len(creations), 200):
            self.done("CreateAcls", 3, {"creations": creations[start : start + 200]})
        last: Form = {"resourceTypeFilter": 1, "patternTypeFilter": 1, "operation": 1, "permissionType": 1}
        last |= {"resourceNameFilter": None, "principalFilter": "User:nobody", "hostFilter": None}
        self.done("DescribeAcls", 3, last, lambda answer: bool(answer["resources"]))

    def acl(self, right: str, user: str) -> Form:
        operation, kind, name = right.removeprefix("-").replace("{token}", self.world.token_id).split(" ", 2)
        return {
            "resourceType": RESOURCES.index(kind),
            "resourceName": name,
            "resourcePatternType": _LITERAL,
            "principal": f"User:{user}",
            "host": "*",
            "operation": OPERATIONS.index(operation),
            "permissionType": _DENY if right.startswith("-") else _ALLOW,
        }

    # -- between the rows

    def before(self, row: Row) -> None:
        match row.before:
            case "az-gone":
                for name in ("az-gone-a", "az-gone-b"):
                    self.make_topic(name)
            case "share session":
                self.sharers += 1
                self._session = self.log_in(ADMIN)
                self._share(self._session, self.sharer, 0)
            case "share offsets":
                moved = [{"partitionIndex": 0, "startOffset": 1}]
                topics = [{"topicName": name, "partitions": moved} for name in ("az-a", "az-b")]
                self.done("AlterShareGroupOffsets", 0, {"groupId": "az-share-2", "topics": topics})

    def after(self, row: Row, answer: Any) -> Any:
        """What is noted of the answer."""
        if row.after == "no az-auto" and [code for code in error_codes(answer) if code] == [3]:
            # Kafka makes the topic after it has answered.
            self.done("Metadata", 12, {"topics": [{"name": "az-auto"}], "allowAutoTopicCreation": False})
            self.drop_topic("az-auto")
        if row.after == "share session" and self._session is not None:
            self._session.close()
            self._session = None
        if row.after == "no streams" and isinstance(answer, dict) and answer["errorCode"] == 0:
            group = row.form["groupId"]
            leaving: Form = {"groupId": group, "memberId": "streamer", "memberEpoch": -1, "rebalanceTimeoutMs": -1}
            leaving |= dict.fromkeys(("activeTasks", "standbyTasks", "warmupTasks", "topology", "clientTags"))
            self.done("StreamsGroupHeartbeat", 0, leaving)
            self.done("DeleteGroups", 2, {"groupsNames": [group]})
        if row.after == "pattern" and not answer["errorCode"]:
            return self._assigned_by_pattern(row.form, answer)
        return answer

    def _assigned_by_pattern(self, form: Form, answer: Any) -> Any:
        """What the member is given in the end; then it leaves."""
        member: Form = {key: form[key] for key in ("groupId", "memberId")}
        member |= {"rebalanceTimeoutMs": -1, "subscribedTopicNames": None, "topicPartitions": None}

        def given() -> Any:
            nonlocal answer
            if answer["assignment"] and answer["assignment"]["topicPartitions"]:
                return answer["assignment"]
            answer = self.done("ConsumerGroupHeartbeat", 1, {**member, "memberEpoch": answer["memberEpoch"]})
            return None

        assigned = wait_until("partitions by a pattern", given)
        self.done("ConsumerGroupHeartbeat", 1, {**member, "memberEpoch": -1})
        self.done("DeleteGroups", 2, {"groupsNames": [form["groupId"]]})
        return {"errorCode": 0, "assignment": assigned}


# -- asking


def tell_all(log_in: LogIn, only: Callable[[Row], bool] = lambda row: True) -> Answers:
    """Every answer; "closed" and "no answer" stand for themselves."""
    stage = Stage(log_in)
    stage.prepare()
    names = users()
    told: Answers = {}
    clients: dict[str, WireClient] = {}
    try:
        for row in filter(only, rows(stage.world)):
            for version in row.versions:
                key = f"{row.api} v{version}" + (f", {row.label}" if row.label else "")
                assert key not in told, key
                told[key] = {}
                for rights in row.right_sets():
                    user = names[frozenset(rights)]
                    stage.before(row)
                    answer = _ask_as(clients, partial(log_in, user), user, row, version, stage)
                    answer = stage.after(row, answer)
                    shown = _brief(answer) if row.brief and isinstance(answer, dict) else answer
                    told[key][", ".join(sorted(rights))] = Mask(stage.world, row.api).masked(shown)
    finally:
        for client in (stage.admin, *clients.values()):
            client.close()
    return told


def _ask_as(
    clients: dict[str, WireClient], connect: Callable[[], WireClient], user: str, row: Row, version: int, stage: Stage
) -> Any:
    client = clients.get(user) or clients.setdefault(user, connect())
    text = re.sub(r'"id of ([\w-]+)"', lambda found: f'"{stage.world.id(found[1])}"', json.dumps(row.form))
    form = json.loads(text.replace('"the sharer"', f'"{stage.sharer}"'))
    try:
        if form.get("acks") != 0:
            return ask(client, row.api, version, form)
        body = codec(API_BY_NAME[row.api].request, version).construct
        client.send(from_json(API_BY_NAME[row.api].request, version, completed(body, form)), version)
        ask(client, "ApiVersions", 0, {})
        return "no answer"
    except ConnectionClosed:
        clients.pop(user).close()
        return "closed"


def error_codes(answer: Any) -> list[int]:
    """All error codes in an answer, whatever their level."""
    if isinstance(answer, list):
        return [code for each in answer for code in error_codes(each)]
    if not isinstance(answer, dict):
        return []
    own = [value for key, value in answer.items() if key.lower().endswith("errorcode")]
    return own + [code for each in answer.values() for code in error_codes(each)]


def _brief(answer: Any) -> Any:
    """The answer's errors, and how many of what stand in it."""
    if isinstance(answer, list):
        return [_brief(each) for each in answer if isinstance(each, dict) and any(error_codes(each))]
    return {
        key: _brief(value) if isinstance(value, list) else value
        for key, value in answer.items()
        if isinstance(value, list) or "error" in key.lower() or key == "name"
    }


# -- masking

_MADE_UP = frozenset(
    (
        "baseOffset",
        "clientId",
        "clusterId",
        "controllerId",
        "currentLeader",
        "endOffset",
        "expiryTimestamp",
        "expiryTimestampMs",
        "highWatermark",
        "hmac",
        "host",
        "issueTimestamp",
        "issueTimestampMs",
        "lag",
        "lastStableOffset",
        "leaderId",
        "logAppendTimeMs",
        "logStartOffset",
        "lowWatermark",
        "maxTimestamp",
        "maxTimestampMs",
        "nodeId",
        "port",
        "producerEpoch",
        "producerId",
        "startOffset",
        "throttleTimeMs",
        "timestamp",
        "tokenId",
        "transactionStartTimeMs",
    )
)
_LEFT_OUT = frozenset(("brokers", "nodeEndpoints"))
# Kafka's order hangs on the hashes of topic ids, which are new in each run.
_BY_HASH_EVERYWHERE = frozenset(("responses", "topicPartitions"))
_BY_HASH = frozenset((("DescribeShareGroupOffsets", "topics"), ("ListGroups", "groups")))


class Mask:
    """An answer without what a broker makes up, and in one order where Kafka's hangs on that."""

    def __init__(self, world: World, api: str) -> None:
        self.api = api
        self.names = {topic_id: f"id of {name}" for name, topic_id in world.ids.items()}
        self.world = world

    def masked(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            shown = {name: self.masked(each, name) for name, each in value.items() if name not in _LEFT_OUT}
            if "records" in shown:
                shown["records"] = bool(value["records"])
            return shown
        if isinstance(value, list):
            return self._list(value, key)
        if key == "topicId" and value not in self.names and value not in (NO_ID, ZERO_ID):
            return "another"
        if key in _MADE_UP:
            return value if value in (-1, 0, "", None) else "*"
        return self._text(value) if isinstance(value, str) else value

    def _list(self, value: list[Any], key: str) -> list[Any]:
        if (self.api, key) == ("ShareFetch", "responses"):
            # Kafka leaves partitions out that it did not come to look at.
            value = [topic for topic in value if any(error_codes(topic))]
        shown = [self.masked(each, key) for each in value]
        if key == "configs" and shown and "configSource" in shown[0]:
            return [len(shown) > 0]
        return sorted(shown, key=json.dumps) if (self.api, key) in _BY_HASH or key in _BY_HASH_EVERYWHERE else shown

    def _text(self, text: str) -> str:
        text = re.sub(r"[A-Za-z0-9_-]{22}", lambda found: self.names.get(found[0], found[0]), text)
        text = text.replace(self.world.token_id, "{token}")
        text = re.sub(r"Request Request\(.*\) needs", "Request ... needs", text)
        return re.sub(r"\w+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "made up", text)


def recorded(path: Path) -> Answers:
    answers: Answers = json.loads(gzip.decompress(path.read_bytes()))
    return answers


def differing(told: Answers, expected: Answers) -> dict[str, tuple[Any, Any]]:
    """What was answered otherwise than expected, and both answers, under API and rights."""
    return {
        f"{api} [{rights}]": (told.get(api, {}).get(rights), answer)
        for api, answers in expected.items()
        for rights, answer in answers.items()
        if told.get(api, {}).get(rights) != answer
    }


def main(arguments: Sequence[str]) -> None:
    with broker_with_users("kafka") as port:
        told = tell_all(partial(log_in, port))
    Path(arguments[0]).write_bytes(gzip.compress(json.dumps(told).encode(), mtime=0))
    print(f"{sum(map(len, told.values()))} answers")


if __name__ == "__main__":
    main(sys.argv[1:])
