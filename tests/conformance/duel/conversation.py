"""A conversation: each step is said to both brokers, and their answers are compared."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from tests.conformance.duel.comparing import Difference, differences
from tests.conformance.duel.known import known, names_twice
from tests.conformance.duel.nodes import NODE_OF, STATE_LINES, VERBS
from tests.conformance.duel.pairing import Form, Pairing
from tests.conformance.duel.side import NO_ANSWER, Side, wait_all
from tests.conformance.duel.steps import Answered, Step
from tests.conformance.duel.stored_records import FAMILIES, INTERNAL_PARTITIONS, LOGS, StoredRecords

ANSWER_S = 4.0
"""No answer within this time is an outcome of its own."""
PARKED_S = 0.06
"""A request that may wait and has no answer on either side by then does wait."""
PATIENCE_S = 3.0
"""How long a side is asked again whose answer only timing decides."""
SHARED_MS = 300
"""How long a ShareFetch waits for what Kafka does in the background."""
NODES_S = 30.0
"""How long nodes may take until all know what became of one."""
READ_AGAIN_S = 2.0
"""How long both are asked again, where that changes nothing."""
STATES_S = 0.5
"""How long Kafka may take to make the states of share partitions."""
_BUSY = frozenset({14, 15, 16, 51, 62})
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS, and
DELEGATION_TOKEN_NOT_FOUND, which Kafka's controller answers until it has heard of a token."""
_INTERNAL_TOPICS_ARE_MISSING = 3
_ALL_ACLS: Form = {
    "resourceTypeFilter": 1,
    "resourceNameFilter": None,
    "patternTypeFilter": 1,
    "principalFilter": None,
    "hostFilter": None,
    "operation": 1,
    "permissionType": 1,
}
_READS = ("Describe", "List", "ConsumerGroupDescribe", "ShareGroupDescribe", "StreamsGroupDescribe", "OffsetForLeader")
_READING = frozenset({"Metadata", "ApiVersions", "FindCoordinator", "OffsetFetch"})
_CHANGES_TOPICS = frozenset({"CreateTopics", "DeleteTopics", "CreatePartitions", "ElectLeaders"})
_CHANGES_METADATA = _CHANGES_TOPICS | {
    "AlterConfigs",
    "IncrementalAlterConfigs",
    "AlterPartitionReassignments",
    "CreateAcls",
    "DeleteAcls",
    "AlterClientQuotas",
    "AlterUserScramCredentials",
    "CreateDelegationToken",
    "RenewDelegationToken",
    "ExpireDelegationToken",
    "UpdateFeatures",
    "StreamsGroupHeartbeat",
}


class Differs(Exception):
    """Two answers to one step differ."""

    def __init__(self, answered: Answered, difference: Difference) -> None:
        super().__init__(f"v{answered.step.version} {difference}")
        self.answered = answered
        self.difference = difference


class Parted(Exception):
    """A known difference after which nothing can be compared."""


def only_reads(step: Step) -> bool:
    """Whether it may be asked again without a change of anything."""
    if step.api == "Fetch":
        return bool(step.body.get("sessionEpoch", -1) == -1)
    return step.api.startswith(_READS) or step.api in _READING


def error_codes(form: Any) -> set[int]:
    """All error codes in an answer."""
    if isinstance(form, list):
        return set[int]().union(*map(error_codes, form))
    if not isinstance(form, dict):
        return set()
    own = {value for name, value in form.items() if name == "errorCode" and isinstance(value, int)}
    return own.union(*map(error_codes, form.values()))


class Conversation:
    """`sides`: odradek and Kafka. Topics, groups and so on carry `pairing.run` in their names."""

    def __init__(self, sides: tuple[Side, Side], answer_s: float = ANSWER_S) -> None:
        self.sides = sides
        self._answer_s = answer_s
        self.pairing = Pairing(f"r{secrets.token_hex(3)}r", int(time.time() * 1000) - 60_000)
        for side in sides:  # so that the ids of its members name the conversation, too
            side.client_id = f"duel-{self.pairing.run}"
        self.parked: dict[str, Step] = {}
        self.topics: set[str] = set()
        self._tokens: list[tuple[str, str]] = []
        """Those that were created: on which connections, and their HMACs."""
        self.down: set[int] = set()
        """Nodes."""
        self._shared: set[tuple[str, str, int]] = set()
        """Share partitions that were fetched from: group, topic id and partition."""
        self._unreadable: set[str] = set()
        """Share groups with one whose state could not be read."""
        self.passed: Counter[str] = Counter()
        """Known differences that were met."""
        self._records = [StoredRecords(side, INTERNAL_PARTITIONS) for side in sides if side.cluster is None]

    def say(self, step: Step) -> list[Answered]:
        """Send one step; the answers that came: usually its own, and those of waiting ones. Raises `Differs`."""
        if step.api in LOGS:
            return [self._stored(step)]
        if step.api in VERBS:
            self._act(step.api, step.body["node"])
            return []
        if not step.api:
            time.sleep(step.pause_s)
            return self._awaited()
        if step.on in self.parked or NODE_OF.get(step.on) in self.down:
            return []
        step = self._patient(step)
        self._send(step)
        if step.waits:
            self.parked[step.on] = step
            wait_all(self.sides, step.on, PARKED_S)
            return self._awaited()
        answers = [self._answers(step, self._answer_s + step.body.get("maxWaitMs", 0) / 1000)]
        return answers + self._awaited()

    def close(self) -> None:
        """End the connections, and delete the topics."""
        for node in sorted(self.down):
            self._act("start", node)
        for on, hmac in self._tokens:
            for at, side in enumerate(self.sides):
                body = {"hmac": self.pairing.resolved(hmac, at), "expiryTimePeriodMs": -1}
                side.ask("ExpireDelegationToken", 2, body, on)
        for at, side in enumerate(self.sides):
            side.hang_up()
            names = [self.pairing.resolved(name, at) for name in sorted(self.topics)]
            side.ask("DeleteTopics", 5, {"topicNames": names, "timeoutMs": 10_000})
            side.ask("DeleteAcls", 3, {"filters": [_ALL_ACLS]})

    def _act(self, verb: str, node: int) -> None:
        """Stop, kill or start a node on both sides, and wait until both clusters have the same leaders and ISRs."""
        if (verb == "start") != (node in self.down):
            return
        for on in [each for each, at in NODE_OF.items() if at == node]:
            self.parked.pop(on, None)
            for side in self.sides:
                side.due.pop(on, None)
                side.drop(on)
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda side: getattr(side.cluster, verb)(node), self.sides))
        self.down ^= {node}
        self._shared.clear()
        self._until(self._equal_metadata, NODES_S)

    def _patient(self, step: Step) -> Step:
        """The step; a ShareFetch waits where Kafka has to ask its share coordinator first, else chance decides."""
        if step.api != "ShareFetch":
            return step
        group = step.body["groupId"]
        places = _share_partitions(step.body)
        acknowledges = any(
            each["acknowledgementBatches"] for topic in step.body["topics"] for each in topic["partitions"]
        )
        if places <= self._shared and not acknowledges and group not in self._unreadable:
            return step
        waits = {"maxWaitMs": max(step.body["maxWaitMs"], SHARED_MS), "minBytes": max(step.body["minBytes"], 1)}
        return replace(step, body={**step.body, **waits})

    def _send(self, step: Step) -> None:
        for at, side in enumerate(self.sides):
            side.send(step.on, step.api, step.version, self.pairing.resolved(step.body, at))

    def _awaited(self) -> list[Answered]:
        """The answers of parked steps that at least one side has given."""
        found: list[Answered] = []
        for on, step in list(self.parked.items()):
            if wait_any(self.sides, on):
                del self.parked[on]
                found.append(self._answers(step, self._answer_s))
        return found

    def _answers(self, step: Step, timeout_s: float) -> Answered:
        have = wait_all(self.sides, step.on, timeout_s)
        forms = [side.take(step.on) if side in have else side.give_up(step.on) for side in self.sides]
        answered = self._told(step, forms)
        difference = self._difference(answered)
        if difference:
            answered, difference = self._asked_again(answered, forms, difference)
        if difference:
            raise Differs(answered, difference)
        self._settle(answered)
        return answered

    def _stored(self, step: Step) -> Answered:
        """What both sides have written since the conversation began. Some of it they write in the background."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            written = [side.written(step.api) for side in self._records]
            for form in written:  # other conversations' groups may still end
                form["records"] = [each for each in form["records"] if self.pairing.run in str(each)]
            answered = self._told(step, written)
            difference = self._difference(answered)
            if difference is None:
                return answered
            if time.monotonic() > deadline:
                raise Differs(answered, difference)
            time.sleep(0.05)

    def _told(self, step: Step, forms: list[Form]) -> Answered:
        self.pairing.learn(step.number, *forms)
        return Answered(step, self.pairing.shown(forms[0], 0), self.pairing.shown(forms[1], 1))

    def _asked_again(
        self, answered: Answered, forms: list[Form], difference: Difference
    ) -> tuple[Answered, Difference | None]:
        """Ask the side that is not ready yet, or both where that changes nothing, for some seconds."""
        step = answered.step
        began = time.monotonic()
        pause = 0.005
        found: Difference | None = difference
        while found and NO_ANSWER not in forms:
            busy = [error_codes(form) & _BUSY for form in forms]
            again = [at for at in (0, 1) if busy[at] - busy[1 - at]] or ([0, 1] if only_reads(step) else [])
            if not again or time.monotonic() - began > (PATIENCE_S if len(again) == 1 else READ_AGAIN_S):
                break
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)
            for at in again:
                side = self.sides[at]
                side.send(step.on, step.api, step.version, self.pairing.resolved(step.body, at))
                forms[at] = side.take(step.on) if wait_all((side,), step.on, ANSWER_S) else side.give_up(step.on)
            answered = self._told(step, forms)
            found = self._difference(answered)
        return answered, found

    def _difference(self, answered: Answered) -> Difference | None:
        """The first one that is not known."""
        for each in differences(answered.odradek, answered.kafka, answered.step.api):
            entry = known(each, answered.step, nodes=self.sides[0].cluster is not None)
            if entry is None:
                return each
            self.passed[entry.line] += 1
            if entry.parts:
                raise Parted
        return None

    # -- what is in flight on one side only

    def _settle(self, answered: Answered) -> None:
        step = answered.step
        if (
            step.api == "Produce"
            and names_twice(step)
            and (step.body["acks"] == 0 or error_codes(answered.kafka) - {0})
        ):
            raise Parted  # Kafka may have written an earlier one
        if step.api == "CreateTopics":
            self.topics |= {each["name"] for each in step.body["topics"] if each["name"]}
        if step.api == "CreateDelegationToken" and answered.kafka.get("hmac"):
            self._tokens.append((step.on, answered.kafka["hmac"]))
            self._until(partial(self._is_equal, "DescribeDelegationToken", 3, {"owners": None}))
        if step.api == "StreamsGroupHeartbeat" and step.body["topology"]:
            self._wait_for_internal_topics(step.body["topology"], answered.kafka)
        if step.api == "ShareFetch" and answered.kafka.get("errorCode") == 0:
            self._shared |= _share_partitions(step.body)
            if error_codes(answered.kafka) - {0}:
                self._unreadable.add(step.body["groupId"])
        if step.api == "ShareGroupHeartbeat" and step.body["subscribedTopicNames"]:
            # Kafka makes the states of share partitions in the background.
            asked = {"groups": [{"groupId": step.body["groupId"], "topics": None}]}
            self._until(partial(self._is_equal, "DescribeShareGroupOffsets", 0, asked), STATES_S)
        if step.api in _CHANGES_METADATA and not step.body.get("validateOnly"):
            for api, version, body in _questions_about(step):
                self._until(partial(self._is_equal, api, version, body), READ_AGAIN_S)
            time.sleep(0.005)
        if step.api in _CHANGES_TOPICS and self.topics:
            self._until(self._equal_metadata)
            time.sleep(0.01)  # until Kafka's coordinators know it, too
        if step.api in ("CreateAcls", "DeleteAcls"):
            self._until(partial(self._is_equal, "DescribeAcls", 3, _ALL_ACLS))
        ids = self._ended(step)
        if ids:
            self._until(partial(self._complete, ids))

    def _wait_for_internal_topics(self, topology: Form, answer: Form) -> None:
        """Kafka creates them in the background."""
        if any(each["statusCode"] == _INTERNAL_TOPICS_ARE_MISSING for each in answer.get("status") or ()):
            names = {
                topic["name"]
                for each in topology["subtopologies"]
                for topic in each["stateChangelogTopics"] + each["repartitionSourceTopics"]
            }
            self.topics |= {name for name in names if "${run}" in name}
            self._until(self._equal_metadata)

    def _until(self, probe: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + patience_s
        while not probe() and time.monotonic() < deadline:
            time.sleep(0.004)

    def _equal_metadata(self) -> bool:
        """Whether both brokers, and all of their nodes, know the same topics, and serve their partitions."""
        if self.sides[0].cluster is None:
            return self._knows_the_same("own")
        return all(self._knows_the_same(on) for on in STATE_LINES if NODE_OF[on] not in self.down)

    def _knows_the_same(self, on: str) -> bool:
        names = [{"topicId": "AAAAAAAAAAAAAAAAAAAAAA", "name": name} for name in (*sorted(self.topics), *FAMILIES)]
        body = {"topics": names, "allowAutoTopicCreation": False, "includeTopicAuthorizedOperations": False}
        forms = [side.ask("Metadata", 12, self.pairing.resolved(body, at), on) for at, side in enumerate(self.sides)]
        if any(error_codes(form) - {0, 3} for form in forms):
            return False
        self.pairing.learn(0, *forms)
        shown = [self.pairing.shown(form, at) for at, form in enumerate(forms)]
        if any(any(differences(shown[0][name], shown[1][name], f"Metadata/{name}")) for name in ("brokers", "topics")):
            return False
        logs = [
            {
                "name": topic["name"],
                "partitions": [
                    {"partitionIndex": each["partitionIndex"], "currentLeaderEpoch": -1, "timestamp": -1}
                    for each in topic["partitions"]
                    if on == "own" or each["leaderId"] == NODE_OF[on]
                ],
            }
            for topic in forms[1]["topics"]
        ]
        asked = {"replicaId": -1, "isolationLevel": 0, "topics": logs}
        return not any(error_codes(side.ask("ListOffsets", 4, asked, on)) - {0, 3} for side in self.sides)

    def _is_equal(self, api: str, version: int, body: Form) -> bool:
        """Whether both brokers answer a question alike."""
        odradek, kafka = (
            self.pairing.shown(side.ask(api, version, self.pairing.resolved(body, at)), at)
            for at, side in enumerate(self.sides)
        )
        return not any(differences(odradek, kafka, api))

    @staticmethod
    def _ended(step: Step) -> list[str]:
        """The transactional ids whose transactions the step may have ended."""
        if step.api in ("EndTxn", "InitProducerId") and step.body["transactionalId"]:
            return [step.body["transactionalId"]]
        return []

    def _complete(self, ids: list[str]) -> bool:
        """Whether the markers of ended transactions are written."""
        body = self.pairing.resolved({"transactionalIds": ids}, 1)
        forms = [side.ask("DescribeTransactions", 0, body) for side in self.sides]
        states = [each.get("transactionState", "") for form in forms for each in form.get("transactionStates", ())]
        return not any(state.startswith(("Prepare",)) for state in states)


def _questions_about(step: Step) -> list[tuple[str, int, Form]]:
    """What tells whether Kafka's broker has heard of a change of the controller's."""
    if step.api in ("AlterConfigs", "IncrementalAlterConfigs"):
        named = {(each["resourceType"], each["resourceName"]) for each in step.body["resources"]}
        asked = [
            {"resourceType": kind, "resourceName": name, "configurationKeys": None} for kind, name in sorted(named)
        ]
        return [("DescribeConfigs", 1, {"resources": asked, "includeSynonyms": False})]
    if step.api == "AlterUserScramCredentials":
        return [("DescribeUserScramCredentials", 0, {"users": None})]
    if step.api == "AlterClientQuotas":
        components = [{"entityType": kind, "matchType": 2, "match": None} for kind in ("user",)]
        return [("DescribeClientQuotas", 0, {"components": components, "strict": False})]
    return []


def _share_partitions(body: Form) -> set[tuple[str, str, int]]:
    return {
        (body["groupId"], topic["topicId"], each["partitionIndex"])
        for topic in body["topics"]
        for each in topic["partitions"]
    }


def wait_any(sides: tuple[Side, Side], on: str) -> bool:
    """Whether a side has an answer on a connection now."""
    from tests.conformance.duel.side import ready

    return bool(ready(sides, on, 0))
