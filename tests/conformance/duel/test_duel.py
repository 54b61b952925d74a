"""Conversations that once differed.

`make duel` holds random ones. What it finds is printed as a test that can be pasted here; the mended answer belongs
into the tests of its handler, too.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.conformance.duel.duel import Duel, as_test, run
from tests.conformance.duel.shrinking import outcome
from tests.conformance.duel.side import Side
from tests.conformance.duel.steps import read
from tests.conformance.duel.targets import both, served_by_both
from tests.conformance.duel.ways import WAYS
from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, Unavailable

ROOT = Path(__file__).parents[3]
Sides: TypeAlias = tuple[Side, Side]
REQUESTS = 3000
"""About half a minute."""
pytestmark = pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="a duel with another release is held by hand")


@pytest.fixture(scope="module")
def sides() -> Iterator[Sides]:
    """odradek, which must meet no bug, and Kafka."""
    try:
        with both(WAYS["sane"]) as started:
            yield started
            complaints = started[0].complaints()
            assert not complaints, complaints
    except Unavailable as missing:
        pytest.skip(str(missing))


def assert_alike(sides: Sides, conversation: str) -> None:
    """Hold a conversation, one step a line."""
    assert outcome(sides, read(conversation)) is None


def seed_of_commit() -> str:
    """New draws for each commit, and the same ones when its tests run again."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return asked.stdout.strip()[:12] or "no commit"


def test_random_conversations(sides: Sides) -> None:
    duel, seed = Duel(WAYS["sane"], served_by_both(sides)), seed_of_commit()
    run(sides, duel, REQUESTS, seed)
    assert not [as_test(found) for found in duel.found.values() if found.again], f"make duel WAY=sane SEED={seed}"


def test_a_member_that_leaves_a_streams_group(sides: Sides) -> None:
    assert_alike(
        sides,
        r"""
[0, "a", "CreateTopics", 7, {"topics": [{"name": "t1-${run}", "numPartitions": 2, "replicationFactor": 1, "assignments": [], "configs": []}], "timeoutMs": 10000, "validateOnly": false}]
[3, "d", "StreamsGroupHeartbeat", 1, {"groupId": "z0-${run}", "memberId": "m1-${run}", "memberEpoch": 0, "endpointInformationEpoch": 0, "instanceId": null, "rackId": null, "rebalanceTimeoutMs": 60000, "topology": {"epoch": 0, "subtopologies": [{"subtopologyId": "0", "sourceTopics": ["t1-${run}"], "sourceTopicRegex": [], "stateChangelogTopics": [], "repartitionSinkTopics": [], "repartitionSourceTopics": [], "copartitionGroups": []}]}, "activeTasks": [], "standbyTasks": [], "warmupTasks": [], "processId": "p2", "userEndpoint": null, "clientTags": [], "taskOffsets": null, "taskEndOffsets": null, "shutdownApplication": false}]
[4, "f", "StreamsGroupHeartbeat", 1, {"groupId": "z0-${run}", "memberId": "m1-${run}", "memberEpoch": -1, "endpointInformationEpoch": 0, "instanceId": null, "rackId": null, "rebalanceTimeoutMs": -1, "topology": null, "activeTasks": null, "standbyTasks": null, "warmupTasks": null, "processId": null, "userEndpoint": null, "clientTags": null, "taskOffsets": null, "taskEndOffsets": null, "shutdownApplication": false}]
""",  # noqa: E501
    )


def test_share_state_of_partitions_that_are_named_twice(sides: Sides) -> None:
    assert_alike(
        sides,
        r"""
[1, "e", "ReadShareGroupState", 0, {"groupId": "g", "topics": [{"topicId": "AAAAAAAAAAAAAAAAAAAAAg", "partitions": [{"partition": 2, "leaderEpoch": 0}, {"partition": 17, "leaderEpoch": -1}, {"partition": 2, "leaderEpoch": 0}]}, {"topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "partitions": [{"partition": 5, "leaderEpoch": 0}]}, {"topicId": "AAAAAAAAAAAAAAAAAAAAAg", "partitions": [{"partition": 0, "leaderEpoch": 0}, {"partition": -1, "leaderEpoch": 0}]}]}]
""",  # noqa: E501
    )


def test_an_unknown_isolation_level_where_there_is_nothing_to_read(sides: Sides) -> None:
    assert_alike(
        sides,
        r"""
[2, "e", "Fetch", 18, {"maxWaitMs": 1, "minBytes": 0, "maxBytes": 1048576, "isolationLevel": 127, "sessionId": 0, "sessionEpoch": -2, "topics": [], "forgottenTopicsData": [], "rackId": ""}]
[3, "e", "Fetch", 5, {"replicaId": 0, "maxWaitMs": 0, "minBytes": 1, "maxBytes": 5, "isolationLevel": 5, "topics": [{"topic": "t1-${run}", "partitions": []}]}]
""",  # noqa: E501
    )
