"""The controller's machine: every command has its rule, and deciding changes nothing."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.changes import Assignment, Change
from odradek.broker.controller import commands
from odradek.broker.controller.commands import Adopt
from odradek.broker.controller.machine import MAX_BATCH_RECORDS, MAX_PRODUCER_ID, ControllerMachine, ProducerIdBlocks
from odradek.broker.runtime.machine import Command
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


def test_while_the_controller_is_at_work_a_new_block_has_to_be_waited_for() -> None:
    cluster = Cluster()
    codes: list[ErrorCode] = []

    def publish(delta: object, image: object) -> None:
        try:
            cluster.controller.producer_ids.allocate(1)
        except KafkaError as error:
            codes.append(error.code)

    cluster.controller.publishers.append(publish)
    cluster.create_topic("a")
    assert codes == [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    assert cluster.controller.producer_ids.allocate(1) == 0


def test_running_out_is_an_error() -> None:
    cluster = Cluster()
    cluster.controller.ask(Adopt([ProducerIdsRecord(1, -1, MAX_PRODUCER_ID - 10)]))
    with pytest.raises(KafkaError) as caught:
        cluster.controller.producer_ids.allocate(1)
    assert caught.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def kinds() -> set[type[Command[Any]]]:
    found: list[Any] = [kind for _, kind in inspect.getmembers(commands, inspect.isclass)]
    return {
        kind
        for kind in found
        if kind is not Command and any("reply" in vars(each).get("__annotations__", ()) for each in kind.__mro__)
    }


def machine_of(cluster: Cluster) -> ControllerMachine:
    return cluster.controller._machine


def orders(cluster: Cluster) -> list[Command[Any]]:
    topic_id = cluster.image.topics["a"].topic_id
    secret = cluster.controller.ask(commands.CreateToken(ANONYMOUS, ANONYMOUS, [], 0)).hmac
    return [
        commands.CreateTopics([commands.NewTopic("b", 2, 2)]),
        commands.CreatePartitions([commands.NewPartitions("a", 5)]),
        commands.DeleteTopics([topic_id]),
        commands.AlterConfigs([Change(2, "a", [Assignment("retention.ms", "5")])], 1),
        commands.AlterQuotas([commands.QuotaChange([("user", "u")], [("producer_byte_rate", 1.0)])]),
        commands.CreateAcls([]),
        commands.DeleteAcls([]),
        commands.UpdateFeatures([commands.FeatureUpdate("group.version", 0, 2)]),
        commands.AlterScramUsers([], [commands.ScramUpsertion("alice", 1, 4096, b"salt", b"password")]),
        commands.CreateToken(ANONYMOUS, ANONYMOUS, [], 0),
        commands.RenewToken(secret, ANONYMOUS, 0),
        commands.ExpireToken(secret, ANONYMOUS, -1),
        commands.SweepTokens(),
        commands.AllocateProducerIds(1),
        commands.ElectLeaders([("a", 0)]),
        commands.MoveLeader(("a", 0), 2),
        commands.BalanceLeaders(),
        commands.ElectUncleanly(),
        commands.ChangeIsr([commands.NewIsr(topic_id, 0, 0, [1])]),
        commands.AlterQuotas([]),
        commands.CreateAcls([]),
        commands.DeleteAcls([]),
        commands.AssignReplicas(1, [(topic_id, 0, b"d" * 16)]),
        commands.ReassignPartitions([commands.Reassignment(("a", 0), [3])]),
        commands.RegisterBroker(1, b"n" * 16, 99, [], None, [b"d" * 16]),
        commands.RegisterController(1, b"n" * 16, []),
        commands.UnfenceBrokers([1]),
        commands.FenceBroker(1),
        commands.UnregisterBroker(1),
        commands.UnregisterController(2),
        commands.ShutDownBrokers([1, 2, 3]),
        commands.Adopt([NoOpRecord()]),
        commands.AbandonTransaction(),
        commands.Bootstrap(),
    ]


def test_every_command_has_its_rule() -> None:
    machine = machine_of(Cluster())
    assert kinds() == {*machine._rules, *machine._timed_rules}


def test_deciding_changes_nothing() -> None:
    cluster = Cluster(nodes=3, config={"delegation.token.secret.key": "key"})
    cluster.create_topic("a", assignments={0: [1, 2], 1: [2, 3]})
    asked = orders(cluster)
    before, offset = picture(cluster.image), cluster.image.offset
    assert {type(command) for command in asked} == kinds()
    for command in asked:
        machine_of(cluster).decide(command, 0)
        assert picture(cluster.image) == before
    assert cluster.image.offset == offset


def test_an_operation_is_one_batch_unless_it_is_too_large() -> None:
    records: list[MetadataRecord] = [NoOpRecord()] * (MAX_BATCH_RECORDS + 1)
    machine = machine_of(Cluster())
    assert machine.decide(commands.Adopt(records[1:]), 0).atomic
    assert not machine.decide(commands.Adopt(records), 0).atomic


def test_no_producer_writes_here() -> None:
    with pytest.raises(RuntimeError, match="marker"):
        machine_of(Cluster()).replay_marker(1, 0, True)
