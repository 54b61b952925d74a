"""What controllers answer through their listeners. Codes and texts are those of a real Kafka 4.3.1."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.api.controller_listener import SERVED_BY_CONTROLLERS, controller_handlers_of
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.releases.release import release_of
from odradek.client_security.options import AuthenticationError, ClientSecurity
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages import alter_configs, incremental_alter_configs
from odradek.protocol.generated.messages.add_raft_voter import AddRaftVoterRequest, Listener
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from odradek.protocol.generated.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.describe_acls import DescribeAclsRequest
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.protocol.generated.messages.describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from odradek.protocol.generated.messages.elect_leaders import ElectLeadersRequest
from odradek.protocol.generated.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.remove_raft_voter import RemoveRaftVoterRequest
from odradek.protocol.generated.messages.unregister_broker import UnregisterBrokerRequest
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.wire_client import ConnectionClosed, WireConnection
from tests.fakes.brokers import broker_fixture

CONFIG = {
    "process.roles": "broker",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "3000@127.0.0.1:0,3001@127.0.0.1:0",
}
LEADER, FOLLOWER, BROKER = 3000, 3001, 1
NOT_LEADING = (ErrorCode.NOT_CONTROLLER, "The active controller appears to be node 3000.")
QUORUM = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
TOPIC, BROKER_CONFIG, LOGGER = 2, 4, 8
broker = broker_fixture(scope="module", config=CONFIG)


def ask(broker: KafkaBroker, node_id: int, request: Any, version: int | None = None) -> Any:
    node = broker.cluster.members[node_id]
    chosen = request.MAX_VERSION if version is None else version
    with WireConnection("127.0.0.1", node.all_endpoints[0].port) as client:
        return client.receive(request, chosen, client.send(request, chosen))


def test_api_versions_at_a_controller_lists_what_controllers_serve(broker: KafkaBroker) -> None:
    told = ask(broker, LEADER, ApiVersionsRequest("x", "1"))
    listed = {each.api_key: (each.min_version, each.max_version) for each in told.api_keys}
    assert listed == SERVED_BY_CONTROLLERS.advertised()
    assert {"Produce", "Fetch", "Metadata", "FindCoordinator"}.isdisjoint(API_BY_KEY[key].name for key in listed)
    assert ("metadata.version", 33) in {(each.name, each.max_version_level) for each in told.finalized_features}
    with pytest.raises(ConnectionClosed):
        ask(broker, LEADER, MetadataRequest(None))


def test_api_versions_of_controllers_and_brokers_differ(broker: KafkaBroker) -> None:
    listed = {
        node_id: {each.api_key for each in ask(broker, node_id, ApiVersionsRequest("x", "1")).api_keys}
        for node_id in (LEADER, BROKER, LEADER)
    }
    (metadata,) = (key for key, api in API_BY_KEY.items() if api.name == "Metadata")
    assert metadata not in listed[LEADER]
    assert metadata in listed[BROKER]


def test_an_older_and_a_newer_release_list_their_own() -> None:
    listed = {name: controller_handlers_of(release_of(name)).advertised() for name in ("3.9", "4.3", "4.4")}
    assert [94 in apis for apis in listed.values()] == [False, False, True]
    assert listed["3.9"][80] == (0, 0)
    assert listed["4.3"][80] == (0, 1)


def test_describe_cluster_at_a_controller_tells_the_controllers(broker: KafkaBroker) -> None:
    ports = {number: node.all_endpoints[0].port for number, node in broker.cluster.separate.items()}
    for node_id in ports:
        told = ask(broker, node_id, DescribeClusterRequest(endpoint_type=2))
        assert (told.error_code, told.endpoint_type, told.controller_id) == (0, 2, LEADER)
        assert [(each.broker_id, each.host, each.port) for each in told.brokers] == [
            (number, "127.0.0.1", port) for number, port in ports.items()
        ]
    for version, code in ((0, ErrorCode.INVALID_REQUEST), (1, ErrorCode.MISMATCHED_ENDPOINT_TYPE)):
        refused = ask(broker, LEADER, DescribeClusterRequest(), version)
        text = "The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type BROKER"
        assert (refused.error_code, refused.error_message) == (code, text)
    unknown = ask(broker, LEADER, DescribeClusterRequest(endpoint_type=3))
    assert (unknown.error_code, unknown.error_message) == (115, "Unsupported endpoint type 3")


def test_brokers_name_a_broker_as_the_controller(broker: KafkaBroker) -> None:
    assert ask(broker, BROKER, MetadataRequest([]), 12).controller_id == BROKER
    assert ask(broker, BROKER, DescribeClusterRequest()).controller_id == BROKER


def test_a_controller_describes_the_quorum(broker: KafkaBroker) -> None:
    for node_id in (BROKER, LEADER):
        told = ask(broker, node_id, QUORUM)
        [partition] = told.topics[0].partitions
        assert (partition.leader_id, [each.replica_id for each in partition.current_voters]) == (LEADER, [3000, 3001])
        assert [each.replica_id for each in partition.observers] == [BROKER]
        assert [(each.node_id, each.listeners[0].name) for each in told.nodes] == [
            (3000, "CONTROLLER"),
            (3001, "CONTROLLER"),
        ]
    [partition] = ask(broker, FOLLOWER, QUORUM).topics[0].partitions
    assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert partition.error_message.startswith("For requests intended only for the leader, this error indicates")
    [partition] = ask(broker, FOLLOWER, QUORUM, 1).topics[0].partitions
    assert (partition.error_code, partition.error_message) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, "")
    other = DescribeQuorumRequest([TopicData("x", [PartitionData(3)])])
    [partition] = ask(broker, FOLLOWER, other).topics[0].partitions
    assert partition.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_controller_describes_itself(broker: KafkaBroker) -> None:
    def described(node_id: int, kind: int, name: str) -> Any:
        [result] = ask(broker, node_id, DescribeConfigsRequest([DescribeConfigsResource(kind, name, None)])).results
        return result

    own = {each.name: each.value for each in described(FOLLOWER, BROKER_CONFIG, "3001").configs}
    port = broker.cluster.separate[FOLLOWER].all_endpoints[0].port
    assert (own["process.roles"], own["node.id"], own["listeners"]) == (
        "controller",
        "3001",
        f"CONTROLLER://127.0.0.1:{port}",
    )
    roles = {each.name: each.value for each in described(BROKER, BROKER_CONFIG, "1").configs}["process.roles"]
    assert roles == "broker"
    refused = described(LEADER, BROKER_CONFIG, "1")
    text = "Unexpected broker id, expected 3000 or empty string, but received 1"
    assert (refused.error_code, refused.error_message) == (ErrorCode.INVALID_REQUEST, text)


def altered(broker: KafkaBroker, node_id: int, kind: int, name: str, key: str, value: str | None) -> tuple[int, Any]:
    change = incremental_alter_configs.AlterableConfig(key, 0 if value is not None else 1, value)
    resource = incremental_alter_configs.AlterConfigsResource(kind, name, [change])
    request = incremental_alter_configs.IncrementalAlterConfigsRequest([resource])
    [answer] = ask(broker, node_id, request).responses
    return answer.error_code, answer.error_message


def test_the_active_controller_changes_the_configs_of_any_node(broker: KafkaBroker) -> None:
    key = "log.cleaner.threads"
    for name in ("1", "3001", ""):
        assert altered(broker, LEADER, BROKER_CONFIG, name, key, "2") == (0, None)
        assert broker.cluster.image.configs_of(BROKER_CONFIG, name)[key] == "2"
        assert altered(broker, LEADER, BROKER_CONFIG, name, key, None) == (0, None)
    assert altered(broker, LEADER, BROKER_CONFIG, "77", key, "2") == (102, "No node with id 77 found.")
    text = "Unable to parse broker name as a base 10 number."
    assert altered(broker, LEADER, BROKER_CONFIG, "abc", key, "2") == (ErrorCode.INVALID_REQUEST, text)
    assert altered(broker, LEADER, 1, "x", "a", "b") == (ErrorCode.UNSUPPORTED_VERSION, "Unknown resource type 1.")
    assert altered(broker, FOLLOWER, 1, "x", "a", "b") == (ErrorCode.UNSUPPORTED_VERSION, "Unknown resource type 1.")
    assert altered(broker, FOLLOWER, BROKER_CONFIG, "1", key, "2") == NOT_LEADING
    assert altered(broker, FOLLOWER, TOPIC, "nope", "retention.ms", "1") == NOT_LEADING
    assert altered(broker, LEADER, BROKER_CONFIG, "3001", "listeners", "A://:1")[0] == ErrorCode.INVALID_REQUEST


def test_loggers_are_the_nodes_own(broker: KafkaBroker) -> None:
    name = "org.apache.kafka.controller.QuorumController"
    text = "Unexpected node id. Expected 3001, but received 3000"
    assert altered(broker, FOLLOWER, LOGGER, "3000", name, "DEBUG") == (ErrorCode.INVALID_REQUEST, text)
    assert altered(broker, FOLLOWER, LOGGER, "3001", name, None) == (0, None)


def test_alter_configs_at_a_controller_replaces_dynamic_configs(broker: KafkaBroker) -> None:
    def replaced(node_id: int, kind: int, name: str, **configs: str) -> tuple[int, Any]:
        given = [alter_configs.AlterableConfig(key.replace("_", "."), text) for key, text in configs.items()]
        resource = alter_configs.AlterConfigsResource(kind, name, given)
        [answer] = ask(broker, node_id, alter_configs.AlterConfigsRequest([resource])).responses
        return answer.error_code, answer.error_message

    assert replaced(LEADER, BROKER_CONFIG, "1", log_cleaner_threads="2") == (0, None)
    assert replaced(LEADER, BROKER_CONFIG, "1") == (0, None)
    assert broker.cluster.image.configs_of(BROKER_CONFIG, "1") == {}
    assert replaced(FOLLOWER, BROKER_CONFIG, "1") == NOT_LEADING
    text = "Unexpected resource type BROKER_LOGGER."
    assert replaced(FOLLOWER, LOGGER, "1", a="DEBUG") == (ErrorCode.INVALID_REQUEST, text)


def test_only_the_active_controller_changes_metadata(broker: KafkaBroker) -> None:
    code, text = NOT_LEADING
    create = CreateTopicsRequest([CreatableTopic("t", 1, 1)])
    [topic] = ask(broker, FOLLOWER, create).topics
    assert (topic.error_code, topic.error_message) == NOT_LEADING
    [topic] = ask(broker, LEADER, create).topics
    assert topic.error_code == 0
    [topic] = ask(broker, FOLLOWER, DeleteTopicsRequest([DeleteTopicState("t")], timeout_ms=1000)).responses
    assert (topic.error_code, topic.error_message) == (code, None)
    assert ask(broker, FOLLOWER, ElectLeadersRequest()).error_code == code
    moved = AlterPartitionReassignmentsRequest(1000, topics=[ReassignableTopic("t", [ReassignablePartition(0, None)])])
    answer = ask(broker, FOLLOWER, moved, 1)
    assert (answer.error_code, answer.error_message) == NOT_LEADING
    features = UpdateFeaturesRequest(1000, [FeatureUpdateKey("group.version", 0, upgrade_type=2)], validate_only=True)
    answer = ask(broker, FOLLOWER, features)
    assert (answer.error_code, answer.error_message, answer.results) == (code, text, [])
    answer = ask(broker, FOLLOWER, UnregisterBrokerRequest(99))
    assert (answer.error_code, answer.error_message) == NOT_LEADING
    entry = EntryData([EntityData("user", "u")], [OpData("producer_byte_rate", 1.0)])
    [answer] = ask(broker, FOLLOWER, AlterClientQuotasRequest([entry])).entries
    assert (answer.error_code, answer.error_message) == (code, "This is not the correct controller for this cluster.")


def test_controllers_answer_reassignments_acls_and_tokens_themselves(broker: KafkaBroker) -> None:
    for node_id in (LEADER, FOLLOWER):
        assert ask(broker, node_id, ListPartitionReassignmentsRequest()).error_code == 0
        acls = ask(broker, node_id, DescribeAclsRequest(1, None, 3, None, None, 1, 1))
        assert acls.error_code == ErrorCode.SECURITY_DISABLED
        assert ask(broker, node_id, DescribeDelegationTokenRequest(None)).error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_voters_are_up_to_the_leader(broker: KafkaBroker) -> None:
    add = AddRaftVoterRequest(None, 500, 4, bytes(range(16)), [Listener("CONTROLLER", "127.0.0.1", 1)])
    remove = RemoveRaftVoterRequest(None, 4, bytes(range(16)))
    for request, what in ((add, "adding"), (remove, "removing")):
        told = ask(broker, FOLLOWER, request)
        assert (told.error_code, told.error_message) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, "")
        told = ask(broker, LEADER, request)
        text = f"Cluster doesn't support {what} voter because the kraft.version feature is 0"
        assert (told.error_code, told.error_message) == (ErrorCode.UNSUPPORTED_VERSION, text)


def test_a_controller_that_goes_is_followed_by_another() -> None:
    with KafkaBroker(config=CONFIG) as broker:
        broker.stop_node(LEADER)
        [partition] = ask(broker, FOLLOWER, QUORUM).topics[0].partitions
        assert (partition.leader_id, partition.current_voters[0].log_end_offset) == (FOLLOWER, -1)
        told = ask(broker, FOLLOWER, DescribeClusterRequest(endpoint_type=2))
        assert (told.controller_id, [each.broker_id for each in told.brokers]) == (FOLLOWER, [LEADER, FOLLOWER])
        with pytest.raises(ValueError, match="the last controller that is up"):
            broker.kill_node(FOLLOWER)
        broker.start_node(LEADER)
        [partition] = ask(broker, FOLLOWER, QUORUM).topics[0].partitions
        assert partition.leader_id == FOLLOWER
        assert partition.current_voters[0].log_end_offset == partition.high_watermark
        assert not broker.bugs


def test_a_node_of_both_roles_has_both_listeners() -> None:
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
        "controller.listener.names": "CONTROLLER",
    }
    with KafkaBroker(nodes=2, config=config) as broker:
        port = broker.cluster.nodes[1].controllers["CONTROLLER"].port
        with WireConnection("127.0.0.1", port) as client:
            request = DescribeClusterRequest(endpoint_type=2)
            told = client.receive(request, 2, client.send(request, 2))
        ports = [broker.cluster.nodes[number].controllers["CONTROLLER"].port for number in (1, 2)]
        assert [(each.broker_id, each.port) for each in told.brokers] == [(1, ports[0]), (2, ports[1])]
        assert told.cluster_id == broker.cluster.cluster_id


def test_controller_listener_asks_for_log_in_and_rights() -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    config = {
        **CONFIG,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": f'{module} user_admin="secret" user_guest="guest";',
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:admin;User:ANONYMOUS",
    }

    def answered(broker: KafkaBroker, node_id: int, user: str, password: str) -> tuple[int, str | None]:
        login = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{module} username="{user}" password="{password}";',
        }
        port = broker.cluster.members[node_id].all_endpoints[0].port
        request = UnregisterBrokerRequest(99)
        with WireConnection("127.0.0.1", port, security=ClientSecurity.parse(login)) as client:
            answer = client.receive(request, 0, client.send(request, 0))
        return answer.error_code, answer.error_message

    with KafkaBroker(config=config) as broker:
        unknown = (ErrorCode.BROKER_ID_NOT_REGISTERED, "Broker ID 99 is not currently registered")
        assert answered(broker, LEADER, "admin", "secret") == unknown
        assert answered(broker, FOLLOWER, "admin", "secret") == NOT_LEADING
        assert answered(broker, LEADER, "guest", "guest")[0] == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        with pytest.raises(AuthenticationError):
            answered(broker, LEADER, "admin", "wrong")
        assert not broker.bugs


def test_a_controller_tells_unstable_features_with_its_unstable_apis() -> None:
    own = {
        3000: {"unstable.api.versions.enable": "true"},
        3001: {"unstable.feature.versions.enable": "true"},
    }
    with KafkaBroker(config=CONFIG, node_config=own) as broker:
        told = [ask(broker, node_id, ApiVersionsRequest("x", "1")).supported_features for node_id in own]
        newest = [next(each.max_version for each in one if each.name == "metadata.version") for one in told]

    assert newest[0] > newest[1]


def test_the_controller_decides_by_its_own_authorizer_what_brokers_forward() -> None:
    own = {1: {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}}
    with KafkaBroker(config={**CONFIG, "controller.quorum.voters": "3000@127.0.0.1:0"}, node_config=own) as broker:
        created = ask(broker, 1, CreateTopicsRequest([CreatableTopic("t", 1, 1)]))
        told = ask(broker, 1, DescribeClusterRequest(include_cluster_authorized_operations=True))
        assert created.topics[0].error_code == ErrorCode.NONE
        assert told.cluster_authorized_operations == 0
        assert ask(broker, 1, DescribeAclsRequest(1, None, 1, None, None, 1, 1)).error_code == (
            ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        )
        assert ask(broker, 3000, DescribeAclsRequest(1, None, 1, None, None, 1, 1)).error_code == (
            ErrorCode.SECURITY_DISABLED
        )
