"""Two answers, or two states, and the places where they differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.conformance.duel.stored_records import LOGS
from tests.conformance.real_kafka import RELEASE

AGE = tuple(map(int, RELEASE.split(".")))
WINDOW_MS = 20_000
_TIMES = ("timestamp", "timems", "timemillis", "deadline")
_OWN = re.compile(r"\b1[0-9]{12}\b|Request\(processor=.*\)")
_UNSEEN = frozenset({"throttleTimeMs"})
_A_TIME = 10**11
_HASHED = ("topicId", "memberId")
"""What lists are in the order of hashes of, in Kafka."""
_OF_ALL = frozenset(
    {
        "ListGroups/groups",
        "ListTransactions/transactionStates",
        "ListConfigResources/configResources",
        "ApiVersions/finalizedFeatures",
        "Metadata/topics",
        "DescribeAcls/resources",
        "DescribeProducers/topics/partitions/activeProducers",
        "DescribeLogDirs/results/topics",
        "DescribeLogDirs/results/topics/partitions",
        "DescribeUserScramCredentials/results/credentialInfos",
        "DescribeAcls/resources/acls",
        "DeleteAcls/filterResults/matchingAcls",
        "DeleteGroups/results",
        "DeleteTopics/responses",
        "DescribeTransactions/transactionStates/topics",
        "ElectLeaders/replicaElectionResults",
        "OffsetFetch/topics",
        "OffsetFetch/topics/partitions",
        "OffsetFetch/groups/topics",
        "OffsetFetch/groups/topics/partitions",
        "ShareFetch/responses/partitions",
        "ShareAcknowledge/responses/partitions",
        "Produce/responses",
        "Produce/responses/partitionResponses",
        *(f"{log}/records" for log in LOGS),
        "__transaction_state/records/values/transactionPartitions",
        "__transaction_state/records/values/transactionPartitions/partitionIds",
    }
)
"""Hash maps in Kafka: of the cluster, which other conversations have grown, of what was produced and of offsets. What
DeleteTopics answers is shuffled.
"""

_OF_OLDER = frozenset(
    {
        "Metadata/topics/partitions",
        "ListOffsets/topics",
        "ListOffsets/topics/partitions",
        "DescribeConfigs/results/configs",
    }
)
"""The same of releases before 4.0."""
_IN_ANY_ORDER = _OF_ALL if AGE >= (4, 0) else _OF_ALL | _OF_OLDER
_SETS = ("/isrNodes", "/offlineReplicas")


@dataclass(frozen=True)
class Difference:
    """`path`: the API and names of fields, without the numbers of elements."""

    path: str
    odradek: Any
    kafka: Any

    def __str__(self) -> str:
        return f"{self.path}: odradek {_short(self.odradek)}, Kafka {_short(self.kafka)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 1500 else text[:1500] + "..."


def differences(odradek: Any, kafka: Any, path: str) -> Iterator[Difference]:
    """Times may be 20 s apart, and throttle times are not looked at."""
    name = path.rpartition("/")[2]
    if name in _UNSEEN or (odradek == kafka and type(odradek) is type(kafka)):
        return
    if isinstance(odradek, dict) and isinstance(kafka, dict):
        if odradek.keys() != kafka.keys():
            yield Difference(path, odradek, kafka)
            return
        for key in odradek:
            yield from differences(odradek[key], kafka[key], f"{path}/{key}")
    elif isinstance(odradek, list) and isinstance(kafka, list):
        one, other = _ordered(odradek, path), _ordered(kafka, path)
        if len(one) != len(other):
            yield Difference(f"{path}/len", odradek, kafka)
            return
        for left, right in zip(one, other, strict=True):
            yield from differences(left, right, path)
    elif isinstance(odradek, str) and isinstance(kafka, str):
        if plain(odradek) != plain(kafka):
            yield Difference(path, odradek, kafka)
    elif not (_is_time(name) and _are_near(odradek, kafka)):
        yield Difference(path, odradek, kafka)


def plain(text: str) -> str:
    """A message without times and without the text of a request in Kafka, which names threads and sockets."""
    return _OWN.sub("..", text)


def _are_near(odradek: Any, kafka: Any) -> bool:
    return (
        all(isinstance(each, int) and each > _A_TIME for each in (odradek, kafka)) and abs(odradek - kafka) < WINDOW_MS
    )


def _is_time(name: str) -> bool:
    return any(each in name.lower() for each in _TIMES)


def _ordered(elements: list[Any], path: str) -> list[Any]:
    """The elements; those whose order in Kafka has no meaning are put in one of our own."""
    if path in _IN_ANY_ORDER or path.endswith(_SETS):
        return sorted(elements, key=str)
    for name in _HASHED:
        if all(isinstance(each, dict) and name in each for each in elements):
            return sorted(elements, key=lambda each: (str(each[name]), str(each.get("name"))))
    return elements
