"""The ways of drawing: which requests, how odd."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.conformance.duel.nodes import STATE_LINES

THEMES: Mapping[str, Mapping[str, int]] = {
    "classic": {
        "JoinGroup": 8,
        "SyncGroup": 8,
        "Heartbeat": 3,
        "LeaveGroup": 1,
        "OffsetCommit": 3,
        "OffsetFetch": 2,
        "DescribeGroups": 2,
        "OffsetDelete": 1,
        "DeleteGroups": 1,
    },
    "consumer": {
        "ConsumerGroupHeartbeat": 12,
        "ConsumerGroupDescribe": 3,
        "OffsetCommit": 2,
        "OffsetFetch": 2,
        "DeleteGroups": 1,
        "OffsetDelete": 1,
    },
    "share": {
        "ShareGroupHeartbeat": 6,
        "ShareFetch": 8,
        "ShareAcknowledge": 5,
        "ShareGroupDescribe": 2,
        "DescribeShareGroupOffsets": 2,
        "AlterShareGroupOffsets": 1,
        "DeleteShareGroupOffsets": 1,
        "Produce": 3,
        "ReadShareGroupState": 1,
        "ReadShareGroupStateSummary": 1,
        "WriteShareGroupState": 1,
        "InitializeShareGroupState": 1,
        "DeleteShareGroupState": 1,
    },
    "streams": {
        "StreamsGroupHeartbeat": 10,
        "StreamsGroupDescribe": 3,
        "StreamsGroupTopologyDescriptionUpdate": 1,
        "OffsetCommit": 1,
        "OffsetFetch": 1,
        "CreatePartitions": 1,
    },
    "transactions": {
        "InitProducerId": 4,
        "AddPartitionsToTxn": 4,
        "AddOffsetsToTxn": 2,
        "TxnOffsetCommit": 3,
        "EndTxn": 5,
        "Produce": 8,
        "WriteTxnMarkers": 1,
        "DescribeTransactions": 2,
        "ListTransactions": 1,
        "DescribeProducers": 2,
        "Fetch": 3,
        "ListOffsets": 2,
        "OffsetFetch": 1,
    },
    "data": {
        "Produce": 8,
        "Fetch": 8,
        "ListOffsets": 4,
        "DeleteRecords": 1,
        "OffsetForLeaderEpoch": 1,
        "Metadata": 1,
        "DescribeProducers": 1,
        "DescribeLogDirs": 1,
        "IncrementalAlterConfigs": 1,
    },
    "administration": {
        "CreateTopics": 4,
        "DeleteTopics": 3,
        "CreatePartitions": 2,
        "Metadata": 2,
        "DescribeTopicPartitions": 2,
        "DescribeConfigs": 3,
        "AlterConfigs": 1,
        "IncrementalAlterConfigs": 3,
        "ListConfigResources": 1,
        "AlterPartitionReassignments": 1,
        "ListPartitionReassignments": 1,
        "ElectLeaders": 1,
        "DescribeCluster": 1,
        "ApiVersions": 1,
        "DescribeQuorum": 1,
        "UpdateFeatures": 1,
        "AlterReplicaLogDirs": 1,
        "UnregisterBroker": 1,
        "UnregisterController": 1,
        "AddRaftVoter": 1,
        "RemoveRaftVoter": 1,
    },
    "security": {
        "AlterClientQuotas": 3,
        "DescribeClientQuotas": 3,
        "AlterUserScramCredentials": 3,
        "DescribeUserScramCredentials": 3,
        "CreateAcls": 2,
        "DescribeAcls": 2,
        "DeleteAcls": 2,
        "CreateDelegationToken": 1,
        "RenewDelegationToken": 1,
        "ExpireDelegationToken": 1,
        "DescribeDelegationToken": 1,
        "GetTelemetrySubscriptions": 1,
        "PushTelemetry": 1,
        "SaslHandshake": 1,
        "SaslAuthenticate": 1,
    },
    "rights": {
        "CreateAcls": 10,
        "DeleteAcls": 3,
        "DescribeAcls": 2,
        "Metadata": 2,
        "DescribeCluster": 1,
        "DescribeTopicPartitions": 1,
        "DescribeDelegationToken": 1,
        "CreateDelegationToken": 1,
    },
    "lists": {"FindCoordinator": 3, "ListGroups": 1, "Metadata": 1, "Produce": 3, "Fetch": 2},
}
"""Theme -> its APIs and how often they are drawn. A conversation has one to three themes and `lists`."""
CHANGES_RIGHTS = frozenset({"CreateAcls", "DeleteAcls"})
MAY_WAIT = frozenset({"JoinGroup", "SyncGroup"})


@dataclass(frozen=True)
class Way:
    """How requests are drawn. `oddness`: the parts of odd requests in conversations; `length`: requests of one.

    `rights`: there is an authorizer, and the connections are those of three users and of a super user. `nodes`: there
    are three nodes, which come and go. `abreast`: conversations that go on at once. Rights and nodes are those of all.
    """

    name: str
    oddness: Sequence[float]
    length: int
    rights: bool = False
    nodes: bool = False
    abreast: int = 1

    @property
    def lines(self) -> str:
        """The connections, by letter. `r`: that of the super user."""
        return "abcdefrrrr" if self.rights else "abcdefaada" if self.nodes else "abcdef"

    @property
    def state_lines(self) -> str:
        """The connections that ask for the state."""
        return STATE_LINES if self.nodes else "s"

    def themes(self, rng: random.Random) -> dict[str, int]:
        """The APIs of a conversation and their weights."""
        chosen = rng.sample(sorted(THEMES.keys() - {"lists", "rights"}), rng.choice((1, 1, 2, 3)))
        weights: dict[str, int] = {}
        for theme in (*chosen, "lists", *(["rights"] if self.rights else [])):
            for api, weight in THEMES[theme].items():
                weights[api] = weights.get(api, 0) + weight
        return weights


WAYS = {
    way.name: way
    for way in (
        Way("sane", (0.0,), 60, abreast=6),
        Way("odd", (0.05, 0.2, 0.5, 0.9), 40, abreast=6),
        Way("rights", (0.0, 0.05), 60, rights=True),
        Way("nodes", (0.0,), 150, nodes=True),
    )
}
