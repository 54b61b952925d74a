"""The whole state of a conversation's topics, groups, transactions and so on, as steps that ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.conformance.duel.pairing import Form
from tests.conformance.duel.steps import Step
from tests.conformance.duel.stored_records import LOGS
from tests.conformance.duel.world import GROUPS, TRANSACTIONAL_IDS

FIRST = 1000
"""The numbers of these steps begin here."""
_ALL_GROUPS = [name for names in GROUPS.values() for name in names]
_MOST = 0x7FFFFFFF


class State:
    """Asks for the state of `topics`, which have so many partitions at most.

    `served`: the APIs that are drawn. `lines`: the connections that ask, one to each node.
    """

    def __init__(
        self, topics: Sequence[str], partitions: int, served: Mapping[str, tuple[int, int]], lines: str = "s"
    ) -> None:
        self._topics = list(topics)
        self._partitions = partitions
        self._served = served
        self._lines = lines

    def steps(self) -> Iterator[Step]:
        """All of them."""
        number = FIRST
        for on in self._lines:
            for api, body in self._questions():
                number += 1
                low, high = self._served.get(api, (0, -1))
                if api in LOGS and len(self._lines) == 1:
                    yield Step(number, on, api, 0, {})
                elif low <= _VERSIONS.get(api, -1) <= high:
                    yield Step(number, on, api, _VERSIONS[api], body)

    def _questions(self) -> Iterator[tuple[str, Form]]:
        yield from self._of_topics()
        yield from self._of_groups()
        yield "DescribeTransactions", {"transactionalIds": list(TRANSACTIONAL_IDS)}
        yield "DescribeClientQuotas", {"components": [_entity("user", 2), _entity("client-id", 2)], "strict": False}
        yield "DescribeClientQuotas", {"components": [_entity("user", 2)], "strict": True}
        users = [{"name": f"{name}-${{run}}"} for name in ("alice", "bob")]
        yield "DescribeUserScramCredentials", {"users": users}
        any_acl = {"resourceNameFilter": None, "principalFilter": None, "hostFilter": None}
        codes = dict.fromkeys(("resourceTypeFilter", "patternTypeFilter", "operation", "permissionType"), 1)
        yield "DescribeAcls", {**any_acl, **codes}
        for log in LOGS:
            yield log, {}

    def _of_topics(self) -> Iterator[tuple[str, Form]]:
        named = [{"topicId": "AAAAAAAAAAAAAAAAAAAAAA", "name": name} for name in self._topics]
        every: Form = {"includeTopicAuthorizedOperations": True, "allowAutoTopicCreation": False}
        yield "Metadata", {"topics": named, **every}
        resources = [(2, name) for name in self._topics] + [(32, name) for name in _ALL_GROUPS]
        asked = [
            {"resourceType": kind, "resourceName": name, "configurationKeys": None}
            for kind, name in [*resources, (16, "metrics-${run}")]
        ]
        yield "DescribeConfigs", {"resources": asked, "includeSynonyms": True, "includeDocumentation": False}
        for isolation in (0, 1):
            for timestamp in (-1, -2, -3) if isolation == 0 else (-1,):
                yield "ListOffsets", {"replicaId": -1, "isolationLevel": isolation, "topics": self._logs(timestamp)}
        places = [{"name": name, "partitionIndexes": list(range(self._partitions))} for name in self._topics]
        yield "DescribeProducers", {"topics": places}
        yield from (("Fetch", self._fetched(isolation)) for isolation in (0, 1))

    def _logs(self, timestamp: int) -> list[Form]:
        partitions = [
            {"partitionIndex": at, "currentLeaderEpoch": -1, "timestamp": timestamp} for at in range(self._partitions)
        ]
        return [{"name": name, "partitions": partitions} for name in self._topics]

    def _fetched(self, isolation: int) -> Form:
        partition = {"currentLeaderEpoch": -1, "fetchOffset": 0, "lastFetchedEpoch": -1, "logStartOffset": -1}
        partitions = [{"partition": at, **partition, "partitionMaxBytes": _MOST} for at in range(self._partitions)]
        body: Form = {"maxWaitMs": 0, "minBytes": 0, "maxBytes": _MOST, "isolationLevel": isolation}
        session = {"sessionId": 0, "sessionEpoch": -1, "forgottenTopicsData": [], "rackId": "", "replicaId": -1}
        return {**body, **session, "topics": [{"topic": name, "partitions": partitions} for name in self._topics]}

    @staticmethod
    def _of_groups() -> Iterator[tuple[str, Form]]:
        yield "DescribeGroups", {"groups": _ALL_GROUPS, "includeAuthorizedOperations": False}
        described: Form = {"groupIds": _ALL_GROUPS, "includeAuthorizedOperations": False}
        yield "ConsumerGroupDescribe", described
        yield "ShareGroupDescribe", described
        yield "StreamsGroupDescribe", {**described, "includeTopologyDescription": False}
        yield "ListGroups", {"statesFilter": [], "typesFilter": []}
        asked = [{"groupId": name, "memberId": None, "memberEpoch": -1, "topics": None} for name in _ALL_GROUPS]
        yield "OffsetFetch", {"groups": asked, "requireStable": False}
        for group in GROUPS["share"]:
            yield "DescribeShareGroupOffsets", {"groups": [{"groupId": group, "topics": None}]}


def _entity(kind: str, match: int) -> Any:
    return {"entityType": kind, "matchType": match, "match": None}


_VERSIONS = {
    "Metadata": 12,
    "DescribeConfigs": 4,
    "ListOffsets": 7,
    "DescribeProducers": 0,
    "Fetch": 12,
    "DescribeGroups": 6,
    "ConsumerGroupDescribe": 1,
    "ShareGroupDescribe": 1,
    "StreamsGroupDescribe": 1,
    "ListGroups": 5,
    "OffsetFetch": 9,
    "DescribeShareGroupOffsets": 1,
    "DescribeTransactions": 0,
    "DescribeAcls": 3,
    "DescribeClientQuotas": 1,
    "DescribeUserScramCredentials": 0,
}
