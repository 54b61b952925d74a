"""What Produce asks of the transaction coordinators, and what it makes of their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytest

from odradek.broker.requests.deferred import Deferred
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from tests.fakes.data_plane import DataPlane


@pytest.fixture
def plane() -> DataPlane:
    return DataPlane(topics={"a": 2, "b": 1})


def shape(answer: PartitionProduceResponse) -> tuple[int, int, int, int]:
    """(error code, base offset, log append time, log start offset)."""
    return answer.error_code, answer.base_offset, answer.log_append_time_ms, answer.log_start_offset


class Verifier:
    """Transaction coordinators that refuse what they are told to; `waits` is called when a producer waits to retry."""

    def __init__(self, refusals: Mapping[tuple[str, int], KafkaError] | None = None) -> None:
        self.refusals = dict(refusals or {})
        self.waits: Callable[[], bool] = lambda: False
        self.asked: list[tuple[str, int, int, Sequence[tuple[str, int]], int]] = []

    def verify_append(
        self,
        *,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Sequence[tuple[str, int]],
        api_version: int,
        node_id: int,
    ) -> Mapping[tuple[str, int], KafkaError]:
        self.asked.append((transactional_id, producer_id, producer_epoch, partitions, api_version))
        return {key: error for key, error in self.refusals.items() if key in partitions}

    async def wait_to_retry(self, began_ms: int) -> bool:
        return self.waits()


def finish(waiting: Any) -> Any:
    """Run a handler's coroutine that waits for nothing real."""
    try:
        waiting.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits")


def transactional(plane: DataPlane, sequence: int = 0, partition: int = 0) -> ProduceRequest:
    batch = plane.batch(1, producer_id=7, producer_epoch=2, base_sequence=sequence, transactional=True)
    return ProduceRequest(
        "tx", -1, 1000, [TopicProduceData("a", partition_data=[PartitionProduceData(partition, batch)])]
    )


def verified(plane: DataPlane, verifier: Verifier) -> Verifier:
    plane.cluster.services.transactions = Deferred(lambda: cast("Any", verifier))
    return verifier


def answer_of(response: Any) -> PartitionProduceResponse:
    answer: PartitionProduceResponse = response.responses[0].partition_responses[0]
    return answer


def test_the_coordinator_is_asked_once_for_each_transaction(plane: DataPlane) -> None:
    verifier = verified(plane, Verifier())
    assert shape(answer_of(plane.call(transactional(plane), 11))) == (0, 0, -1, 0)
    assert verifier.asked == [("tx", 7, 2, [("a", 0)], 11)]
    assert shape(answer_of(plane.call(transactional(plane, 1), 12))) == (0, 1, -1, 0)
    assert len(verifier.asked) == 1, "the log knows the transaction by now"
    plane.call(transactional(plane, 0, partition=1), 12)
    assert verifier.asked[1:] == [("tx", 7, 2, [("a", 1)], 12)]


def test_a_refused_partition_takes_nothing(plane: DataPlane) -> None:
    error = KafkaError(ErrorCode.INVALID_TXN_STATE, "Partition was not added to the transaction")
    verified(plane, Verifier({("a", 0): error}))
    answer = answer_of(plane.call(transactional(plane), 9))
    assert shape(answer) == (ErrorCode.INVALID_TXN_STATE, -1, -1, -1)
    assert answer.error_message == "Partition was not added to the transaction"
    assert plane.cluster.topics.get("a").partitions[0].log.log_end_offset == 0  # type: ignore[union-attr]


ENDING = KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)


def test_a_producer_whose_last_transaction_ends_waits_for_that(plane: DataPlane) -> None:
    verifier = verified(plane, Verifier({("a", 0): ENDING}))
    waited = 0

    def the_transaction_ends() -> bool:
        nonlocal waited
        waited += 1
        if waited == 2:
            verifier.refusals.clear()
        return True

    verifier.waits = the_transaction_ends
    assert shape(answer_of(finish(plane.call(transactional(plane), 12)))) == (0, 0, -1, 0)
    assert (waited, len(verifier.asked)) == (2, 3)


def test_it_is_told_when_that_takes_too_long(plane: DataPlane) -> None:
    verifier = verified(plane, Verifier({("a", 0): ENDING}))
    answer = answer_of(finish(plane.call(transactional(plane), 12)))
    assert shape(answer) == (ErrorCode.CONCURRENT_TRANSACTIONS, -1, -1, -1)
    assert len(verifier.asked) == 2


def test_transactional_records_without_a_transactional_id(plane: DataPlane) -> None:
    request = transactional(plane)
    request.transactional_id = None
    answer = answer_of(plane.call(request, 9))
    assert shape(answer) == (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, -1, -1, -1)


def test_records_of_two_producers_in_one_transaction(plane: DataPlane) -> None:
    verified(plane, Verifier())
    request = transactional(plane)
    other = plane.batch(1, producer_id=8, producer_epoch=2, base_sequence=0, transactional=True)
    request.topic_data[0].partition_data.append(PartitionProduceData(1, other))
    response = plane.call(request, 9)
    codes = [each.error_code for each in response.responses[0].partition_responses]
    assert codes == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2
