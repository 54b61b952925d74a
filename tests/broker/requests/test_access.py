"""What registrations say of rights, and what the dispatcher makes of it."""

from __future__ import annotations

import pytest

from odradek.broker.api.served import SERVED
from odradek.broker.cluster import Cluster
from odradek.broker.requests.access import OPEN, ByItem, Whole
from odradek.broker.security.acl import SUPPORTED, Operation, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.describe_quorum import DescribeQuorumRequest
from odradek.protocol.generated.messages.update_features import UpdateFeaturesRequest
from odradek.protocol.generated.messages.write_txn_markers import WritableTxnMarker, WriteTxnMarkersRequest
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask

ALICE = Principal("User", "alice")
OPEN_APIS = {
    "ApiVersions",
    "DescribeCluster",
    "GetTelemetrySubscriptions",
    "PushTelemetry",
    "SaslAuthenticate",
    "ExpireDelegationToken",
    "RenewDelegationToken",
    "SaslHandshake",
}


def test_only_these_apis_need_no_right() -> None:
    names = {handler.spec.name for handler in SERVED.all().values() if not handler.access.needs}
    assert names <= OPEN_APIS


def test_needs_are_operations_that_their_resources_know() -> None:
    for handler in SERVED.all().values():
        for operation, resource in handler.access.needs:
            # Kafka asks for DELETE on the cluster too, which no kafka-acls would give.
            if (operation, resource) != (Operation.DELETE, Resource.CLUSTER):
                assert operation in SUPPORTED[resource], handler.spec.name


def test_without_an_authorizer_the_handler_is_called_as_it_is() -> None:
    for handler in SERVED.all().values():
        if isinstance(handler.access, ByItem) and not handler.access.guard:
            assert handler.access.guarded(handler.function) is handler.function
    assert OPEN.guarded(print) is print


def test_every_guard_is_there() -> None:
    for handler in SERVED.all().values():
        assert callable(handler.access.guarded(handler.function))


def test_a_whole_request_is_refused_before_its_handler_is_called() -> None:
    cluster = Cluster(config=SECURED)
    refused = ask(cluster, UpdateFeaturesRequest(), principal=ALICE)
    assert refused.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert refused.error_message.endswith(" needs ALTER permission.")
    (denial,) = cluster.services.denials.entries
    assert (denial.principal, denial.operation, denial.resource_type, denial.resource_name, denial.api) == (
        "User:alice",
        "ALTER",
        "CLUSTER",
        "kafka-cluster",
        "UpdateFeatures",
    )
    allow(cluster, "User:alice", Operation.ALTER, Resource.CLUSTER, "kafka-cluster")
    assert ask(cluster, UpdateFeaturesRequest(), principal=ALICE).error_code == ErrorCode.NONE


def test_an_implied_right_is_enough() -> None:
    cluster = Cluster(config=SECURED)
    allow(cluster, "User:alice", Operation.ALTER, Resource.CLUSTER, "kafka-cluster")
    assert ask(cluster, DescribeQuorumRequest(), principal=ALICE).error_code == ErrorCode.NONE


@pytest.mark.parametrize("operation", [Operation.ALTER, Operation.CLUSTER_ACTION])
def test_any_one_of_several_rights_is_enough(operation: Operation) -> None:
    cluster = Cluster(config=SECURED)
    handler = SERVED.find(WriteTxnMarkersRequest.API_KEY)
    assert handler is not None
    assert isinstance(handler.access, Whole)
    assert len(handler.access.needs) == 2
    allow(cluster, "User:alice", operation, Resource.CLUSTER, "kafka-cluster")
    ask(cluster, WriteTxnMarkersRequest(markers=[WritableTxnMarker(topics=[])]), principal=ALICE)
    assert not cluster.services.denials.entries
    allow(cluster, "User:bob", Operation.READ, Resource.TOPIC, "x")
    ask(cluster, WriteTxnMarkersRequest(markers=[]), principal=Principal("User", "bob"))
    assert [denial.operation for denial in cluster.services.denials.entries] == ["CLUSTER_ACTION"]
