"""The differences that are known: each has its line in DIFFERENCES.md. Anything else that differs is a bug."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.conformance.duel.comparing import AGE, Difference
from tests.conformance.duel.meaning import CONFIGS
from tests.conformance.duel.nodes import MOVING, NODE_OF
from tests.conformance.duel.pairing import Form
from tests.conformance.duel.steps import Step

CLIENT_METRICS = 16
NOT_COORDINATOR = 16


@dataclass(frozen=True)
class Known:
    """A difference at a path (a pattern). `line`: how its line of DIFFERENCES.md begins.

    `parts`: what follows differs, too, so the conversation ends here. `nodes`: only where there are several of them.
    """

    path: str
    line: str
    when: Callable[[Difference, Step], bool] = lambda difference, step: True
    parts: bool = False
    nodes: bool = False


def _telemetry_apis(difference: Difference, step: Step) -> bool:
    keys = [{each["apiKey"] for each in side} for side in (difference.odradek, difference.kafka)]
    return keys[0] - keys[1] == {71, 72} and not keys[1] - keys[0]


def _names(forms: list[Form]) -> set[str]:
    return {each["name"] for each in forms}


def _repeats(named: list[Any]) -> bool:
    """Whether something is in the list twice."""
    return len(set(named)) < len(named)


def names_twice(step: Step) -> bool:
    """Whether a Produce names a partition twice."""
    named = [
        (topic.get("name"), topic.get("topicId"), each["index"])
        for topic in step.body["topicData"]
        for each in topic["partitionData"]
    ]
    return _repeats(named)


def _follows(difference: Difference, step: Step) -> bool:
    """Whether the fetch may have gone to a follower that has not heard of the high watermark yet."""
    later = difference.kafka in ("", None) or (
        isinstance(difference.kafka, int) and difference.kafka < difference.odradek
    )
    return later and step.body.get("replicaId", -1) < 0


def _internal_topics(difference: Difference, step: Step) -> bool:
    return bool(difference.kafka == 3 or "nternal topics are missing" in str(difference.kafka))


def _alters_twice(step: Step) -> bool:
    """Whether an AlterConfigs names a resource twice. To Kafka all unknown types are one."""
    named = [
        (each["resourceType"] if each["resourceType"] in CONFIGS else 0, each["resourceName"])
        for each in step.body["resources"]
    ]
    return _repeats(named)


def _offers_twice(step: Step) -> bool:
    """Whether a JoinGroup names a protocol twice."""
    return _repeats([each["name"] for each in step.body["protocols"]])


def _never_answered(difference: Difference, step: Step) -> bool:
    return bool(difference.kafka == {"outcome": "no answer"})


def _reads_internal_topics(difference: Difference, step: Step) -> bool:
    return step.body["topics"] is None or "'__" in str(step.body["topics"])


def _appended_to_nothing(difference: Difference, step: Step) -> bool:
    text = str(difference.odradek)
    fixed = re.search(r"dynamically: \[(process\.roles|controller\.listener\.names)\]$", text)
    return (difference.odradek, difference.kafka) == (42, -1) or bool(fixed and difference.kafka is None)


KNOWN: tuple[Known, ...] = (
    Known(
        "AlterConfigs",
        "odradek answers requests that Kafka never answers: Produce with null records",
        lambda difference, step: _never_answered(difference, step) and _alters_twice(step),
    ),
    Known(
        "(Share)?Fetch/errorCode",
        "Fetch v13+ of several partitions of topic id zero tells each that the id is unknown, and ShareFetch takes",
        lambda difference, step: (difference.odradek, difference.kafka) == (0, -1),
        parts=True,
    ),
    Known(
        "Fetch",
        "Fetch v13+ of several partitions of topic id zero tells each that the id is unknown, and ShareFetch takes",
        lambda difference, step: (
            _never_answered(difference, step) and "'topicId': 'AAAAAAAAAAAAAAAAAAAAAA'" in str(step.body)
        ),
        parts=True,
    ),
    Known(
        "JoinGroup(/errorCode|/protocolName)?",
        "odradek answers requests that Kafka never answers: Produce with null records",
        lambda difference, step: (
            difference.kafka in ({"outcome": "no answer"}, -1, "roundrobin") and _offers_twice(step)
        ),
        parts=True,
    ),
    Known(
        "JoinGroup|SyncGroup",
        "If a member sends JoinGroup or SyncGroup again while its first one waits,",
        lambda difference, step: _never_answered(difference, step) and difference.odradek.get("errorCode") == 27,
    ),
    Known(
        "AddPartitionsToTxn|Produce|WriteTxnMarkers",
        "odradek answers requests that Kafka never answers: Produce with null records",
        _never_answered,
    ),
    Known(
        "DescribeLogDirs/results/logDir",
        "DescribeLogDirs calls the log directory of a broker in memory `memory`",
        nodes=True,
    ),
    Known(
        "Fetch/responses/partitions/(highWatermark|lastStableOffset|records)",
        "A follower knows the high watermark as soon as it has the records below it.",
        _follows,
        parts=True,
        nodes=True,
    ),
    Known(
        "DescribeLogDirs/results/topics/partitions/partitionSize",
        "What a topic compresses itself (`compression.type`) may take some more or fewer bytes.",
        lambda difference, step: 0 < abs(difference.odradek - difference.kafka) < difference.kafka / 8,
    ),
    Known(
        "DescribeConfigs/results/configs/.*",
        "A node that starts again does not know configs of topics that were deleted.",
        lambda difference, step: NODE_OF.get(step.on) in MOVING,
        nodes=True,
    ),
    Known(
        "DescribeShareGroupOffsets",
        "DescribeShareGroupOffsets of a partition that does not exist is answered at once.",
        _never_answered,
    ),
    Known(
        "WriteTxnMarkers/markers/.*",
        "A marker without a producer id or epoch (WriteTxnMarkers) is refused in the partitions that there are.",
        lambda difference, step: any(
            -1 in (each["producerId"], each["producerEpoch"]) for each in step.body["markers"]
        ),
        parts=True,
    ),
    Known(
        "Produce/(responses/partitionResponses/.*|outcome)",
        "Of a partition that a Produce request names twice the last entry is written and answered.",
        lambda difference, step: names_twice(step),
    ),
    Known(
        "(Add|Remove)RaftVoter/error(Code|Message)",
        "`kraft.version` is 1 for one node on disk",
        lambda difference, step: difference.kafka == 35 or "kraft.version" in str(difference.kafka),
    ),
    Known(
        "ApiVersions/apiKeys/len",
        "GetTelemetrySubscriptions and PushTelemetry are advertised while there is a client-metrics subscription.",
        _telemetry_apis,
    ),
    Known("ApiVersions/finalizedFeaturesEpoch", "The metadata log has no NoOpRecords: an idle cluster writes nothing."),
    Known(
        "StreamsGroupHeartbeat/status(/statusCode|/statusDetail|/len)?",
        "The internal topics of an application (KIP-1071) are created before its first heartbeat is answered",
        _internal_topics,
    ),
    Known(
        "DescribeQuorum/nodes/listeners(/.*)?",
        "`process.roles`, `controller.listener.names` and `controller.quorum.voters` need not be set.",
    ),
    Known(
        "UpdateFeatures/(error(Code|Message)|results/len)",
        "`kraft.version` is 1 for one node on disk",
        lambda difference, step: "kraft.version" in str(step.body),
    ),
    Known(
        "ApiVersions/(finalized|supported)Features/len",
        "`kraft.version` is 1 for one node on disk",
        lambda difference, step: _names(difference.odradek) - _names(difference.kafka) == {"kraft.version"},
    ),
    Known(
        "DescribeQuorum/(topics/partitions/currentVoters|nodes)(/replicaDirectoryId|/len)?",
        "`kraft.version` is 1 for one node on disk",
        lambda difference, step: difference.kafka == "AAAAAAAAAAAAAAAAAAAAAA",
    ),
    Known(
        "DescribeConfigs/results/configs/synonyms/value",
        "`group.initial.rebalance.delay.ms` and `group.streams.initial.rebalance.delay.ms` are 0 by default",
        lambda difference, step: (difference.odradek, difference.kafka) == ("0", "3000"),
    ),
    Known(
        "IncrementalAlterConfigs/responses/(errorCode|errorMessage)",
        "APPEND to and SUBTRACT from `process.roles` and `controller.listener.names` are refused",
        _appended_to_nothing,
    ),
    Known("DescribeConfigs/results/configs/documentation", "DescribeConfigs documents configs in our own words."),
)
OLDER: tuple[Known, ...] = (
    Known(
        "DescribeConfigs/results/configs/(len|configType|documentation)",
        "As a release before 4.1 odradek also shows defaults and types of a client-metrics subscription",
        lambda difference, step: any(each["resourceType"] == CLIENT_METRICS for each in step.body["resources"]),
    ),
    Known(
        "UnregisterBroker/errorMessage",
        "As a release before 4.1 odradek also shows defaults and types of a client-metrics subscription",
        lambda difference, step: difference.kafka == "",
    ),
    Known(
        "DescribeTransactions/transactionStates/transactionStartTimeMs",
        "As a release before 4.0, DescribeTransactions of an id that began anew shows no start time.",
        lambda difference, step: difference.odradek == -1,
    ),
    Known(
        "(ListGroups/groups|DescribeGroups/groups|DeleteGroups/results|OffsetDelete)/.*",
        "As a release before 4.0, TxnOffsetCommit of an unknown producer makes no group.",
        parts=True,
    ),
)
"""The same of releases before 4.1."""


def _rows_are_empty(difference: Difference, step: Step) -> bool:
    """Whether only rows differ that say nothing of their partitions."""

    def telling(rows: list[Form]) -> list[str]:
        parts = [(row.get("topicId"), part) for row in rows for part in row.get("partitions", [row])]
        said = ("records", "errorCode", "acknowledgeErrorCode")
        return sorted(str(each) for each in parts if any(each[1].get(name) for name in said))

    return telling(difference.odradek) == telling(difference.kafka)


def _names_a_made_up_group(difference: Difference, step: Step) -> bool:
    return ".memberId}" in str(step.body)


def _states_fail_later(difference: Difference, step: Step) -> bool:
    """Whether there are share partitions whose state cannot be read, and the others with records are alike."""
    rows = [row for side in (difference.odradek, difference.kafka) for row in side]
    if -1 not in {row.get("errorCode") for each in rows for row in each.get("partitions", [each])}:
        return False

    def readable(rows: list[Form]) -> list[Form]:
        kept = [{**row, "partitions": readable(row["partitions"])} if "partitions" in row else row for row in rows]
        says = (row for row in kept if row.get("errorCode") != -1 and row.get("partitions") != [])
        return sorted((row for row in says if row.get("records") != "" or row["acknowledgeErrorCode"]), key=str)

    return readable(difference.odradek) == readable(difference.kafka)


CHANCE: tuple[Known, ...] = (
    Known(
        "ShareFetch/responses(/partitions)?/len",
        "Kafka reads the states of share partitions side by side, and answers when one of them has enough.",
        _states_fail_later,
        parts=True,
    ),
    Known(
        "ShareFetch/responses(/partitions)?/len",
        "Kafka tells of a share partition without records if its state was read in time.",
        _rows_are_empty,
    ),
    Known(
        "ShareFetch/responses(/partitions)?/len",
        "Kafka answers a fetch that must not wait without partitions whose state is not read yet.",
        lambda difference, step: not difference.kafka and step.body["maxWaitMs"] <= 0,
        parts=True,
    ),
    Known(
        "(DescribeGroups|ConsumerGroupDescribe|ShareGroupDescribe|StreamsGroupDescribe)/groups/.*",
        "Kafka answers in the order of the partitions of group ids, some of which are random here.",
        _names_a_made_up_group,
    ),
    Known(
        "JoinGroup/leader",
        "Kafka draws a new leader: the first in a hash map of random member ids.",
        parts=True,
    ),
    Known(
        "ShareGroup(Heartbeat|Describe)/.*assignment/.*",
        "Kafka assigns share partitions in the order of a hash map of random topic ids.",
        parts=True,
    ),
    Known(
        "DescribeQuorum/topics/partitions/(leaderEpoch|highWatermark|(currentVoters|observers)/(logEndOffset|last.*Timestamp))",
        "Each cluster counts its metadata log for itself.",
    ),
    Known("DescribeQuorum/.*", "The controller of the real cluster is a node of its own.", nodes=True),
    Known(
        "(Initialize|Read|Write|Delete)ShareGroupState(Summary)?/.*",
        "Which node coordinates a share partition depends on the random id of its topic.",
        lambda difference, step: NOT_COORDINATOR in (difference.odradek, difference.kafka),
        parts=True,
        nodes=True,
    ),
    Known("(Metadata|DescribeCluster)/controllerId", "A broker beside a controller of its own names any broker."),
    Known(
        "(Fetch/responses|(ListOffsets|DescribeProducers|OffsetForLeaderEpoch)/topics|DescribeLogDirs/results)/.*",
        "Kafka joins what several conversations write to an internal topic at once in one batch.",
        _reads_internal_topics,
    ),
    Known(
        "AlterReplicaLogDirs/results/.*",
        "Kafka answers in the order of a hash map of random ids.",
        _names_a_made_up_group,
    ),
    Known("DescribeLogDirs/results/(totalBytes|usableBytes)", "The disk is used by others, too."),
)
"""What Kafka leaves to chance, and why. No line of DIFFERENCES.md is about it."""


def known(difference: Difference, step: Step, *, nodes: bool = False) -> Known | None:
    """The entry for a difference in the answer to a step. `nodes`: there are several."""
    for each in (*KNOWN, *(OLDER if AGE < (4, 1) else ()), *CHANCE):
        if nodes >= each.nodes and re.fullmatch(each.path, difference.path) and each.when(difference, step):
            return each
    return None
