"""Handlers are found through an index, and imported when they are first asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from odradek.broker.api.served import ALL, SERVED
from odradek.broker.cluster import Cluster
from odradek.broker.releases.release import release_of
from odradek.broker.requests.handlers import OPEN, ByItem, HandlerRegistry, Whole, handles
from odradek.broker.security.acl import SUPPORTED, Operation, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.describe_quorum import DescribeQuorumRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.update_features import UpdateFeaturesRequest
from odradek.protocol.generated.messages.write_txn_markers import WritableTxnMarker, WriteTxnMarkersRequest
from tests.broker.conftest import Install
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask

HEARTBEAT = 12
PACKAGE = "odradek.broker.api"


def test_a_handler_is_imported_when_it_is_asked_for_and_not_before() -> None:
    program = (
        "import sys\n"
        "from odradek.broker.api.served import SERVED\n"
        "SERVED.advertised()\n"
        "assert 'odradek.broker.api.groups' not in sys.modules\n"
        "print(SERVED.find(12).function.__module__)\n"
        "assert 'odradek.broker.api.fetch' not in sys.modules\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "odradek.broker.api.groups\n"


def test_what_the_index_does_not_name_is_not_served() -> None:
    SERVED.all()
    registry = HandlerRegistry(PACKAGE, {HEARTBEAT: ("groups", 0, 4)})
    assert registry.find(11) is None
    assert list(registry.all()) == [HEARTBEAT]


def test_versions_default_to_those_of_kafka(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    handler = SERVED.find(HEARTBEAT)
    assert handler is not None
    assert (handler.min_version, handler.max_version) == (0, 4)


def test_a_registry_is_cut_to_the_versions_of_a_release() -> None:
    index = {HEARTBEAT: ("groups", 0, 4), 0: ("produce", 0, 13), 11: ("groups", 0, 9)}
    cut = HandlerRegistry(PACKAGE, index).of({0: (3, 20), 5: (1, 2)})
    assert cut.advertised() == {0: (3, 13)}
    assert list(cut.all()) == [0]


def test_an_older_release_has_functions_of_its_own() -> None:
    produce, heartbeat = ALL.find(0), ALL.find(HEARTBEAT)
    assert produce is not None
    assert heartbeat is not None
    release = release_of("3.9")
    assert heartbeat.as_older(heartbeat.function, 0, release) is heartbeat.function
    assert produce.as_older(produce.function, 3, release) is produce.function
    assert produce.within(0, 11).as_older(produce.function, 2, release) is not produce.function


def test_an_api_has_one_handler(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    with pytest.raises(RuntimeError, match="two handlers for Heartbeat"):

        @handles(HeartbeatRequest, access=OPEN)
        def another(ctx: object, request: HeartbeatRequest) -> HeartbeatResponse:
            return HeartbeatResponse()


# -- Rights.

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


def test_every_handler_with_a_guard_has_it() -> None:
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
