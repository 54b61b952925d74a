"""The controller's machine: every command has its rule, and deciding changes nothing."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.changes import Assignment, Change
from odradek.broker.controller import commands
from odradek.broker.controller.machine import MAX_BATCH_RECORDS, ControllerMachine
from odradek.broker.runtime.machine import Command
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_records.no_op_record import NoOpRecord
from tests.fakes.images import picture


def kinds() -> set[type[Command[Any]]]:
    found = [kind for _, kind in inspect.getmembers(commands, inspect.isclass) if issubclass(kind, Command)]
    return {kind for kind in found if kind is not Command}


def machine_of(cluster: Cluster) -> ControllerMachine:
    return cluster.controller._machine


def orders(cluster: Cluster) -> list[Command[Any]]:
    topic_id = cluster.image.topics["a"].topic_id
    return [
        commands.CreateTopics([commands.NewTopic("b", 2, 2)]),
        commands.CreatePartitions([commands.NewPartitions("a", 5)]),
        commands.DeleteTopics([topic_id]),
        commands.AlterConfigs([Change(2, "a", [Assignment("retention.ms", "5")])], 1),
        commands.UpdateFeatures([commands.FeatureUpdate("group.version", 0, 2)]),
        commands.AllocateProducerIds(1),
        commands.ElectLeaders([("a", 0)]),
        commands.MoveLeader(("a", 0), 2),
        commands.ReassignPartitions([commands.Reassignment(("a", 0), [3])]),
        commands.RegisterBroker(1, b"n" * 16, 99, [], None, [b"d" * 16]),
        commands.RegisterController(1, b"n" * 16, []),
        commands.UnfenceBrokers([1]),
        commands.FenceBroker(1),
        commands.ShutDownBrokers([1, 2, 3]),
        commands.Adopt([NoOpRecord()]),
        commands.AbandonTransaction(),
        commands.Bootstrap(),
    ]


def test_every_command_has_its_rule() -> None:
    assert kinds() == set(machine_of(Cluster())._rules)


def test_deciding_changes_nothing() -> None:
    cluster = Cluster(nodes=3)
    cluster.create_topic("a", assignments={0: [1, 2], 1: [2, 3]})
    before, offset = picture(cluster.image), cluster.image.offset
    asked = orders(cluster)
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
