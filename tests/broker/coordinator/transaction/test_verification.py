"""Whether a batch may be written as part of a transaction (KIP-890)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import trio
import trio.testing

from odradek.broker.clock import BrokerClock
from odradek.broker.coordinator.transaction.transaction import AddPartitions, TopicPartition, VerifyPartitions
from odradek.broker.coordinator.transaction.verification import (
    Claim,
    Errors,
    Support,
    TransactionVerifier,
    produce_error,
)
from odradek.broker.runtime.machine import Command
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.data_plane import DataPlane

E = ErrorCode
A: TopicPartition = ("t", 0)
B: TopicPartition = ("t", 1)


class Scene:
    """A verifier over one topic; ``answer`` is the coordinator: it returns, or raises `KafkaError`."""

    def __init__(self, **config: str) -> None:
        self.plane = DataPlane(
            config={name.replace("_", "."): value for name, value in config.items()}, topics={"t": 2}
        )
        self.asked: list[Command[Any]] = []
        self.answer: Callable[[Command[Any]], Any] = lambda command: None
        self.clock = BrokerClock()
        self.verifier = TransactionVerifier(self.plane.cluster.topics, self.plane.cluster.config, self.clock, self._ask)

    def _ask(self, transactional_id: str, command: Command[Any]) -> Any:
        self.asked.append(command)
        return self.answer(command)

    def verify(self, support: Support, *places: TopicPartition, transactional_id: str = "tx", epoch: int = 2) -> Errors:
        async def main() -> Errors:
            found = self.verifier.begin(Claim(transactional_id, 7, epoch, places or (A, B), support))
            return await found if isinstance(found, Coroutine) else found

        return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def refuse(code: ErrorCode) -> Callable[[Command[Any]], Any]:
    def answer(command: Command[Any]) -> Any:
        raise KafkaError(code)

    return answer


def test_verification_knows_a_producers_support_from_its_version() -> None:
    assert [Support.of_produce(version) for version in (9, 10, 11, 12)] == [
        Support.VERIFY,
        Support.VERIFY,
        Support.VERIFY_ABORTABLE,
        Support.REGISTER,
    ]
    assert [Support.of_txn_offset_commit(version) for version in (3, 4, 5)] == [
        Support.VERIFY,
        Support.VERIFY_ABORTABLE,
        Support.REGISTER,
    ]


@pytest.mark.parametrize(
    ("support", "missing"), [(Support.VERIFY, E.INVALID_TXN_STATE), (Support.VERIFY_ABORTABLE, E.TRANSACTION_ABORTABLE)]
)
def test_an_older_client_must_have_added_its_partitions(support: Support, missing: ErrorCode) -> None:
    scene = Scene()
    scene.answer = lambda command: {A: E.NONE, B: E.TRANSACTION_ABORTABLE}
    assert scene.verify(support) == {B: missing}
    (command,) = scene.asked
    assert isinstance(command, VerifyPartitions)
    assert set(command.partitions) == {A, B}


def test_partitions_of_a_version_2_client_are_added() -> None:
    scene = Scene()
    assert scene.verify(Support.REGISTER) == {}
    (command,) = scene.asked
    assert isinstance(command, AddPartitions)
    assert (command.partitions, command.client_version) == (frozenset({A, B}), 2)


def test_an_unknown_partition_stops_the_adding_of_all() -> None:
    scene = Scene()
    assert scene.verify(Support.REGISTER, A, ("t", 9)) == {
        A: E.OPERATION_NOT_ATTEMPTED,
        ("t", 9): E.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert scene.asked == []


@pytest.mark.parametrize("support", list(Support))
def test_a_transactional_batch_needs_an_id(support: Support) -> None:
    assert Scene().verify(support, A, transactional_id="") == {A: E.INVALID_REQUEST}


@pytest.mark.parametrize("support", [Support.VERIFY, Support.REGISTER])
@pytest.mark.parametrize(
    ("coordinator", "leader"),
    [
        (E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH),
        (E.NOT_COORDINATOR, E.COORDINATOR_NOT_AVAILABLE),
        (E.INVALID_PRODUCER_ID_MAPPING, E.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_the_coordinators_error_as_the_leader_tells_it(
    support: Support, coordinator: ErrorCode, leader: ErrorCode
) -> None:
    scene = Scene()
    scene.answer = refuse(coordinator)
    assert scene.verify(support) == {A: leader, B: leader}


def test_verification_can_be_switched_off() -> None:
    scene = Scene(transaction_partition_verification_enable="false")
    scene.answer = refuse(E.PRODUCER_FENCED)
    assert scene.verify(Support.VERIFY) == {}
    assert scene.asked == []


def test_a_log_that_knows_a_newer_producer_needs_no_coordinator() -> None:
    scene = Scene()
    topic = scene.plane.cluster.topics.get("t")
    assert topic is not None
    batch = scene.plane.batch(1, producer_id=7, producer_epoch=3, base_sequence=0, transactional=True)
    topic.partitions[0].append(bytes(batch), now_ms=scene.plane.cluster.clock.now_ms())
    scene.answer = lambda command: dict.fromkeys(command.partitions, E.NONE)  # type: ignore[attr-defined]
    assert scene.verify(Support.VERIFY) == {A: E.INVALID_PRODUCER_EPOCH}
    (command,) = scene.asked
    assert isinstance(command, VerifyPartitions)
    assert set(command.partitions) == {B}


def test_version_2_waits_for_the_transaction_before() -> None:
    scene = Scene()
    answers = [E.CONCURRENT_TRANSACTIONS, E.CONCURRENT_TRANSACTIONS]

    def answer(command: Command[Any]) -> None:
        if answers:
            raise KafkaError(answers.pop())

    scene.answer = answer
    assert scene.verify(Support.REGISTER) == {}
    assert len(scene.asked) == 3


def test_verification_of_a_transactional_batch_is_not_waited_for_for_ever() -> None:
    scene = Scene(add_partitions_to_txn_retry_backoff_max_ms="0")
    scene.answer = refuse(E.CONCURRENT_TRANSACTIONS)
    assert scene.verify(Support.REGISTER) == {A: E.CONCURRENT_TRANSACTIONS, B: E.CONCURRENT_TRANSACTIONS}
    assert len(scene.asked) == 2, "one attempt more, after a pause"


@pytest.mark.parametrize(
    ("code", "support", "told"),
    [
        (E.INVALID_TXN_STATE, Support.VERIFY, E.INVALID_TXN_STATE),
        (E.COORDINATOR_LOAD_IN_PROGRESS, Support.VERIFY, E.NOT_ENOUGH_REPLICAS),
        (E.COORDINATOR_NOT_AVAILABLE, Support.REGISTER, E.NOT_ENOUGH_REPLICAS),
        (E.CONCURRENT_TRANSACTIONS, Support.VERIFY, E.NOT_ENOUGH_REPLICAS),
        (E.CONCURRENT_TRANSACTIONS, Support.REGISTER, E.CONCURRENT_TRANSACTIONS),
        (E.INVALID_PRODUCER_EPOCH, Support.REGISTER, E.INVALID_PRODUCER_EPOCH),
    ],
)
def test_produce_is_answered_with_the_error_of_the_verification(
    code: ErrorCode, support: Support, told: ErrorCode
) -> None:
    assert produce_error(code, support).code is told
