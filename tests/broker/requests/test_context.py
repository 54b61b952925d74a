"""What a handler asks its context about rights."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.requests.context import ConnectionInfo, RequestContext
from odradek.broker.security.acl import Operation, Pattern, Permission, Resource, all_operations
from odradek.broker.security.authorizer import Authorizer
from odradek.broker.security.principal import Principal
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.acls import SECURED, allow

METADATA = 3
TOPIC, READ = Resource.TOPIC, Operation.READ


def context(cluster: Cluster) -> RequestContext:
    connection = ConnectionInfo(id="c", peer_host="10.0.0.7", principal=Principal("User", "alice"))
    return RequestContext(cluster.services, cluster.nodes[1], connection, METADATA, 12, 1, "test")


def test_without_an_authorizer_everybody_may_do_everything() -> None:
    ctx = context(Cluster())
    assert ctx.allows(READ, TOPIC, "a")
    assert ctx.allowed(READ, TOPIC, ["a", "b"]) == {"a", "b"}
    assert ctx.allows_by_type(Operation.WRITE, TOPIC)
    assert ctx.operations(TOPIC, "a") == all_operations(TOPIC)
    ctx.require(READ, TOPIC, "a")


def test_with_one_its_decision_counts_and_refusals_are_told() -> None:
    cluster = Cluster(config=SECURED)
    allow(cluster, "User:alice", READ, TOPIC, "a", pattern=Pattern.PREFIXED)
    ctx = context(cluster)
    assert ctx.allowed(READ, TOPIC, ["a", "b", "ab", "b"]) == {"a", "ab"}
    assert [(denial.resource_name, denial.api) for denial in cluster.services.denials.entries] == [("b", "Metadata")]
    assert not ctx.allows(READ, TOPIC, "c", tell=False)
    assert len(cluster.services.denials.entries) == 1
    assert ctx.operations(TOPIC, "a") == 1 << Operation.READ | 1 << Operation.DESCRIBE
    assert not ctx.allows_by_type(Operation.WRITE, TOPIC)
    assert ctx.allows_by_type(READ, TOPIC)


def test_the_clients_own_address_counts() -> None:
    cluster = Cluster(config=SECURED)
    allow(cluster, "User:alice", READ, TOPIC, "*")
    ctx = context(cluster)
    assert ctx.allows(READ, TOPIC, "a")
    allow(cluster, "User:alice", READ, TOPIC, "*", host="10.0.0.7", permission=Permission.DENY)
    assert not ctx.allows(READ, TOPIC, "a")


@pytest.mark.parametrize(
    ("resource", "code"),
    [
        (TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (Resource.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
        (Resource.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    ],
)
def test_a_required_right_that_is_missing_has_the_resources_error(resource: Resource, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as caught:
        context(Cluster(config=SECURED)).require(Operation.DESCRIBE, resource, "x")
    assert caught.value.code is code


FORWARDED = {
    *("CreateTopics", "DeleteTopics", "CreatePartitions", "CreateAcls", "DeleteAcls"),
    *("AlterConfigs", "IncrementalAlterConfigs", "AlterClientQuotas", "AlterUserScramCredentials"),
    *("CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken"),
    *("ElectLeaders", "AlterPartitionReassignments", "ListPartitionReassignments"),
    *(
        "DescribeQuorum",
        "UpdateFeatures",
        "UnregisterBroker",
        "UnregisterController",
        "AddRaftVoter",
        "RemoveRaftVoter",
    ),
}
"""What a broker of Kafka 4.4.0 forwards to its controller."""


def test_the_controller_decides_about_what_brokers_forward() -> None:
    cluster = Cluster(config=SECURED)
    of_brokers, of_controller = Authorizer(), Authorizer()
    cluster.services.authorizer, cluster.services.controller_authorizer = of_brokers, of_controller
    forwarded = set()
    for key, spec in API_BY_KEY.items():
        ctx = RequestContext(cluster.services, cluster.nodes[1], ConnectionInfo(), key, 0, 1, None)
        assert ctx.authorizer in (of_brokers, of_controller)
        if ctx.authorizer is of_controller:
            forwarded.add(spec.name)
    assert forwarded == FORWARDED


def test_who_lacks_a_right_on_the_cluster_is_told_in_kafkas_words() -> None:
    ctx = context(Cluster())
    session = f"org.apache.kafka.network.Session@{id(ctx.connection) & 0xFFFFFFFF:x}"
    assert ctx.needs_permission(Operation.ALTER) == (
        f"Request Request(processor=0, connectionId=c, session={session}, listenerName=ListenerName(PLAINTEXT), "
        "securityProtocol=PLAINTEXT, buffer=null, envelope=None) needs ALTER permission."
    )
