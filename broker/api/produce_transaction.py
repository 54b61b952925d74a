"""Produce's part of a transaction: may these partitions be written as part of it? (KIP-890)"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from odradek.broker.requests.context import RequestContext
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.produce import ProduceRequest
from odradek.protocol.record_batch import HEADER_SIZE, RecordBatch, read_batch

if TYPE_CHECKING:
    from odradek.broker.partitions.append_verifier import AppendVerifier
    from odradek.broker.partitions.partition import Partition

Key = tuple[str, int]
Refusals = dict[Key, KafkaError]
"""(topic name, partition) -> why nothing may be written there."""

_FIRST_VERSION_WITH_REGISTRATION = 12
_FIRST_VERSION_WITH_TOPIC_ID = 13
_NOBODY: Refusals = {}


def verify(ctx: RequestContext, request: ProduceRequest) -> Refusals | Coroutine[Any, Any, Refusals]:
    """The partitions that must not be written, with their errors; a coroutine if the coordinator must wait.

    The coordinator is asked only for partitions whose log has no transaction of this producer open. Raises
    INVALID_PRODUCER_ID_MAPPING for a request with batches of several producers.
    """
    unknown = [
        (partition, batch)
        for partition, batch in _transactional_batches(ctx, request)
        if not partition.log.has_ongoing_transaction(batch.producer_id, batch.producer_epoch)
    ]
    registers = ctx.api_version >= _FIRST_VERSION_WITH_REGISTRATION
    services = ctx.services
    if not unknown or not (registers or services.config.get_bool("transaction.partition.verification.enable")):
        return _NOBODY
    bumps = registers and ctx.release.checks_first_sequences
    now_ms = services.clock.now_ms()
    for partition, batch in unknown:
        partition.log.producers.begin_verification(
            batch.producer_id, batch.producer_epoch, batch.base_sequence, now_ms, supports_epoch_bump=bumps
        )
    batch = unknown[0][1]
    return _verifier(ctx).verify_append(
        transactional_id=request.transactional_id or "",
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        partitions=[(partition.topic.name, partition.index) for partition, _ in unknown],
        api_version=ctx.api_version,
        node_id=ctx.node.id,
    )


def may_retry(refusals: Refusals) -> bool:
    """Whether the producer's last transaction is still ending, so that it helps to ask again in a moment.

    Only the refusals of clients that register by producing (v12 and later) have this error.
    """
    return bool(refusals) and any(error.code is ErrorCode.CONCURRENT_TRANSACTIONS for error in refusals.values())


async def verify_when_added(
    ctx: RequestContext, request: ProduceRequest, refusals: Refusals | Coroutine[Any, Any, Refusals]
) -> Refusals:
    """Wait until the coordinator has added the partitions; the last question is answered without waiting."""
    while not isinstance(refusals, dict):
        refusals = await refusals or verify(ctx, request)
    return refusals


async def verify_patiently(ctx: RequestContext, request: ProduceRequest) -> Refusals:
    """Ask again until the producer's last transaction has ended, or for as long as the broker's configuration says.

    Nothing can happen between the last answer and an append that follows at once: neither awaits.
    """
    verifier = _verifier(ctx)
    began_ms = ctx.services.clock.now_ms()
    while True:
        may_go_on = await verifier.wait_to_retry(began_ms)
        refusals = await verify_when_added(ctx, request, verify(ctx, request))
        if not may_go_on or not may_retry(refusals):
            return refusals


def _verifier(ctx: RequestContext) -> AppendVerifier:
    """The part of the transaction coordinators that Produce uses."""
    coordinators: Callable[[], AppendVerifier] = ctx.services.transactions
    return coordinators()


def _transactional_batches(ctx: RequestContext, request: ProduceRequest) -> list[tuple[Partition, RecordBatch]]:
    """The readable transactional batches with their partitions; INVALID_PRODUCER_ID_MAPPING if producers differ."""
    topics = ctx.services.topics
    by_id = ctx.api_version >= _FIRST_VERSION_WITH_TOPIC_ID
    found: list[tuple[Partition, RecordBatch]] = []
    for asked in request.topic_data:
        topic = topics.by_id(asked.topic_id) if by_id else topics.get(asked.name)
        if topic is None or topic.internal:
            continue
        for data in asked.partition_data:
            records: Any = data.records
            if not 0 <= data.index < len(topic.partitions) or records is None or len(records) < HEADER_SIZE:
                continue
            batch = read_batch(records)
            partition = topic.partitions[data.index]
            if batch.magic == 2 and batch.is_transactional and partition.leader_id == ctx.node.id:
                found.append((partition, batch))
    if len({(batch.producer_id, batch.producer_epoch) for _, batch in found}) > 1:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING, "Transactional records contained more than one producer ID"
        )
    return found
