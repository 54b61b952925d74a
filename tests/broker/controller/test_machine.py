"""The controller's machine: producer ids, and decisions, which change nothing."""

from __future__ import annotations

from importlib import import_module
from inspect import getmembers, isfunction
from pkgutil import iter_modules

import pytest

from odradek.broker import controller
from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.changes import Assignment, Change
from odradek.broker.controller.acl_control import create_acls, delete_acls
from odradek.broker.controller.broker_control import (
    fence_broker,
    register_broker,
    register_controller,
    shut_down_brokers,
    unfence_brokers,
    unregister_broker,
    unregister_controller,
)
from odradek.broker.controller.config_control import alter_configs
from odradek.broker.controller.feature_control import FeatureUpdate, update_features
from odradek.broker.controller.machine import (
    MAX_BATCH_RECORDS,
    MAX_PRODUCER_ID,
    ControllerMachine,
    FollowRule,
    MemoryMetadataLog,
    MetadataState,
    ProducerIdBlocks,
    abandon_transaction,
    adopt,
    allocate_producer_ids,
    bootstrap,
    runs,
)
from odradek.broker.controller.partition_control import (
    NewIsr,
    Reassignment,
    assign_replicas,
    balance_leaders,
    change_isr,
    elect_leaders,
    elect_uncleanly,
    move_leader,
    reassign_partitions,
)
from odradek.broker.controller.quota_control import QuotaChange, alter_quotas
from odradek.broker.controller.scram_control import ScramUpsertion, alter_scram_users
from odradek.broker.controller.token_control import create_token, expire_token, renew_token, sweep_tokens
from odradek.broker.controller.topic_control import (
    NewPartitions,
    NewTopic,
    create_partitions,
    create_topics,
    delete_topics,
)
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.principal import ANONYMOUS
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.message import MetadataRecord
from tests.fakes.images import picture

# -- Producer ids are unique in the cluster and grow on every node.


@pytest.fixture
def ids() -> ProducerIdBlocks:
    return Cluster(nodes=3).controller.producer_ids


def test_ids_of_one_node_count_up_from_zero(ids: ProducerIdBlocks) -> None:
    assert [ids.allocate(1) for _ in range(3)] == [0, 1, 2]


def test_each_node_works_through_blocks_of_its_own(ids: ProducerIdBlocks) -> None:
    assert ids.allocate(1) == 0
    assert ids.allocate(2) == 1000
    assert ids.allocate(1) == 1
    for _ in range(998):
        ids.allocate(1)
    assert ids.allocate(1) == 2000


def test_a_block_is_a_record_before_an_id_of_it_is_given() -> None:
    cluster = Cluster()
    assert cluster.image.next_producer_id == 0
    cluster.controller.producer_ids.allocate(1)
    before = cluster.image.offset
    assert cluster.image.next_producer_id == 1000
    cluster.controller.producer_ids.allocate(1)
    assert cluster.image.offset == before


def test_producer_id_block_is_waited_for_while_the_controller_works() -> None:
    cluster = Cluster()
    codes: list[ErrorCode] = []

    def publish(delta: object, image: object) -> None:
        try:
            cluster.controller.producer_ids.allocate(1)
        except KafkaError as error:
            codes.append(error.code)

    cluster.controller.follow(publish)
    cluster.create_topic("a")
    assert codes == [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    assert cluster.controller.producer_ids.allocate(1) == 0


def test_running_out_is_an_error() -> None:
    cluster = Cluster()
    cluster.controller.ask(adopt, [ProducerIdsRecord(1, -1, MAX_PRODUCER_ID - 10)])
    with pytest.raises(KafkaError) as caught:
        cluster.controller.producer_ids.allocate(1)
    assert caught.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def machine_of(cluster: Cluster) -> ControllerMachine:
    return cluster.controller._machine


def decisions(cluster: Cluster) -> list[FollowRule]:
    topic_id = cluster.image.topics["a"].topic_id
    secret = cluster.controller.ask(create_token, ANONYMOUS, ANONYMOUS, [], 0).hmac
    return [
        FollowRule(create_topics, ([NewTopic("b", 2, 2)],), {}),
        FollowRule(create_partitions, ([NewPartitions("a", 5)],), {}),
        FollowRule(delete_topics, ([topic_id],), {}),
        FollowRule(
            alter_configs,
            (
                [Change(2, "a", [Assignment("retention.ms", "5")])],
                1,
            ),
            {},
        ),
        FollowRule(alter_quotas, ([QuotaChange([("user", "u")], [("producer_byte_rate", 1.0)])],), {}),
        FollowRule(create_acls, ([],), {}),
        FollowRule(delete_acls, ([],), {}),
        FollowRule(update_features, ([FeatureUpdate("group.version", 0, 2)],), {}),
        FollowRule(
            alter_scram_users,
            (
                [],
                [ScramUpsertion("alice", 1, 4096, b"salt", b"password")],
            ),
            {},
        ),
        FollowRule(
            create_token,
            (
                ANONYMOUS,
                ANONYMOUS,
                [],
                0,
            ),
            {},
        ),
        FollowRule(
            renew_token,
            (
                secret,
                ANONYMOUS,
                0,
            ),
            {},
        ),
        FollowRule(
            expire_token,
            (
                secret,
                ANONYMOUS,
                -1,
            ),
            {},
        ),
        FollowRule(sweep_tokens, (), {}),
        FollowRule(allocate_producer_ids, (1,), {}),
        FollowRule(elect_leaders, ([("a", 0)],), {}),
        FollowRule(
            move_leader,
            (
                ("a", 0),
                2,
            ),
            {},
        ),
        FollowRule(balance_leaders, (), {}),
        FollowRule(elect_uncleanly, (), {}),
        FollowRule(change_isr, ([NewIsr(topic_id, 0, 0, [1])],), {}),
        FollowRule(alter_quotas, ([],), {}),
        FollowRule(
            assign_replicas,
            (
                1,
                [(topic_id, 0, b"d" * 16)],
            ),
            {},
        ),
        FollowRule(reassign_partitions, ([Reassignment(("a", 0), [3])],), {}),
        FollowRule(
            register_broker,
            (
                1,
                b"n" * 16,
                99,
                [],
                None,
                [b"d" * 16],
            ),
            {},
        ),
        FollowRule(
            register_controller,
            (
                1,
                b"n" * 16,
                [],
            ),
            {},
        ),
        FollowRule(unfence_brokers, ([1],), {}),
        FollowRule(fence_broker, (1,), {}),
        FollowRule(unregister_broker, (1,), {}),
        FollowRule(unregister_controller, (2,), {}),
        FollowRule(shut_down_brokers, ([1, 2, 3],), {}),
        FollowRule(adopt, ([NoOpRecord()],), {}),
        FollowRule(abandon_transaction, (), {}),
        FollowRule(bootstrap, (), {}),
    ]


def rules() -> set[str]:
    """The names of all rules: functions of the state that return a decision."""
    modules = [import_module(f"{controller.__name__}.{found.name}") for found in iter_modules(controller.__path__)]
    functions = [each for module in modules for _, each in getmembers(module, isfunction) if each.__name__[0] != "_"]
    return {each.__name__ for each in functions if str(each.__annotations__.get("return")).startswith("Decision[")}


def test_deciding_changes_nothing() -> None:
    cluster = Cluster(nodes=3, config={"delegation.token.secret.key": "key"})
    cluster.create_topic("a", assignments={0: [1, 2], 1: [2, 3]})
    asked = decisions(cluster)
    before, offset = picture(cluster.image), cluster.image.offset
    assert {command.rule.__name__ for command in asked} == rules()
    for command in asked:
        machine_of(cluster).decide(command, 0)
        assert picture(cluster.image) == before
    assert cluster.image.offset == offset


def test_an_operation_is_one_batch_unless_it_is_too_large() -> None:
    records: list[MetadataRecord] = [NoOpRecord()] * (MAX_BATCH_RECORDS + 1)
    machine = machine_of(Cluster())
    assert machine.decide(FollowRule(adopt, (records[1:],), {}), 0).atomic
    assert not machine.decide(FollowRule(adopt, (records,), {}), 0).atomic


def test_metadata_log_refuses_transaction_markers() -> None:
    with pytest.raises(RuntimeError, match="marker"):
        machine_of(Cluster()).replay_marker(1, 0, True)


# -- the metadata log in memory, and what a log must offer


def test_offsets_count_records_and_epochs_take_one() -> None:
    log = MemoryMetadataLog()
    log.begin_epoch(1, 0)
    stored = log.append([NoOpRecord(), NoOpRecord()], 0)
    assert [(each.offset, each.epoch) for each in stored] == [(1, 1), (2, 1)]
    log.begin_epoch(2, 0)
    assert (log.end_offset, log.leader_epoch) == (4, 2)


def test_a_snapshot_takes_the_place_of_the_log() -> None:
    cluster = Cluster()
    log = cluster.controller.log
    assert isinstance(log, MemoryMetadataLog)
    for number in range(20):
        cluster.create_topic(f"t{number}")
    log._max_records = 30
    cluster.create_topic("last")
    assert (log.batches, log.start_offset) == ([], log.end_offset)
    cluster.create_topic("behind")
    assert len(log.batches) == 1
    machine = ControllerMachine(cluster.config, 1)
    assert list(log.load(machine)) == [log.end_offset]
    assert picture(machine.image) == picture(cluster.image)


def test_many_records_are_several_batches() -> None:
    records: list[MetadataRecord] = [NoOpRecord()] * (2 * MAX_BATCH_RECORDS + 1)
    assert [len(run) for run in runs(records)] == [MAX_BATCH_RECORDS, MAX_BATCH_RECORDS, 1]


def test_the_least_in_sync_replicas_at_the_start_are_those_of_the_configuration() -> None:
    assert MetadataState(ImageWriter().image, BrokerConfig({}), 1).default_min_isr() == "1"
    assert MetadataState(ImageWriter().image, BrokerConfig({"min.insync.replicas": "2"}), 1).default_min_isr() == "2"


def test_a_command_names_its_rule_and_shows_no_argument() -> None:
    assert repr(FollowRule(adopt, (["secret"],), {})) == "FollowRule(adopt)"
