"""Produce (key 0).

Versions 3 to 13 (0 to 2 are advertised only, as Kafka does; `older/produce.py` has them, for releases before 4.0). v5
tells the log start offset; v7 allows zstd (KIP-110); v8 tells which records were refused and why (KIP-467); v9 is
flexible; v10 names the current leader beside NOT_LEADER_OR_FOLLOWER (KIP-951); v11 and v12 may be answered
TRANSACTION_ABORTABLE, and v12 registers partitions in the transaction by itself (KIP-890); v13 names topics by id
(KIP-516).

acks=0 is never answered: an error closes the connection. acks=all is held against `min.insync.replicas`, and waits
where a test keeps records from replicas in sync; elsewhere records are on all of them at once. A partition may carry
one batch of format v2. If a partition is named twice, the last one counts. A request with more than some milliseconds
of work is served in slices, and the records of large batches are looked at in a thread before they are appended.
Difference from Kafka: null records are answered INVALID_RECORD (Kafka never answers).
"""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import trio

from odradek.broker.api.lookups import leader_endpoints
from odradek.broker.requests.context import CloseConnection, RequestContext
from odradek.broker.requests.error_answers import error_response
from odradek.broker.requests.handlers import NEVER_LONG, ByItem, handles
from odradek.broker.requests.parked_request import OutcomeWait, Parked, is_coroutine, response_of, then
from odradek.broker.security.acl import Operation, Resource
from odradek.broker.worker import ThreadWork
from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from odradek.protocol.long_work import LargeBatch
from odradek.protocol.record_batch import (
    CODEC_MASK,
    HEADER_SIZE,
    LEAST_EFFORT,
    CorruptBatchError,
    RecordBatch,
    batch_size_at,
    codec_number,
    effort,
    is_transactional_batch,
    read_batch,
)
from odradek.storage.validation import RecordsRefused, check_large, single_batch

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition, Topic
    from odradek.broker.partitions.partition_registry import BackPressure


Answer = ProduceResponse | Parked | None
ACKS_ALL: Final = -1
ADMIN_CLIENT_ID: Final = "__admin_client"
"""The one client id that may write to internal topics (Kafka's own tools use it)."""

_SMALL: Final = 1024
_FIRST_VERSION_WITH_BATCHES: Final = 3
_FIRST_VERSION_WITH_ZSTD: Final = 7
_FIRST_VERSION_WITH_LEADER: Final = 10
_FIRST_VERSION_WITH_REGISTRATION: Final = 12
_FIRST_VERSION_WITH_TOPIC_ID: Final = 13

# Errors that Kafka answers without the log start offset.
_WITHOUT_LOG_START: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.INVALID_REQUIRED_ACKS,
    }
)

# Shared by all answers for partitions that took their batch: made once, never changed.
_NO_ERRORS: Final[list[BatchIndexAndErrorMessage]] = []
_NO_LEADER: Final = LeaderIdAndEpoch()
_LATER: Final = PartitionProduceResponse()
"""In the place of an answer that is made in a later slice."""


@handles(
    ProduceRequest,
    access=ByItem(
        (Operation.WRITE, Resource.TOPIC), (Operation.WRITE, Resource.TRANSACTIONAL_ID), guard="guarded_produce"
    ),
    differs="null records are answered INVALID_RECORD (Kafka never answers)",
    older="produce.older",
    long_bytes=NEVER_LONG,
)
def produce(ctx: RequestContext, request: ProduceRequest) -> Answer | Coroutine[Any, Any, Any]:
    """Append a batch to each partition named.

    This waits only for a producer's last transaction to end, with acks=all where replicas are kept behind, and while
    records come faster than they leave memory.
    """
    room = ctx.services.topics.crowded
    if room is not None:
        return _when_there_is_room(ctx, request, room)
    asked = request.topic_data
    if len(asked) == 1 and len(asked[0].partition_data) == 1:
        records: Any = asked[0].partition_data[0].records
        transactional = records is not None and is_transactional_batch(records)
    else:
        try:
            transactional = _names_transaction(request)
        except CorruptBatchError as error:
            return _unreadable(ctx, request, error)
        _drop_repeated(request)
    if transactional and request.transactional_id is None:
        refused = error_response(request, ctx.api_version, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, None)
        return finish(request, refused)
    if ctx.api_version < _FIRST_VERSION_WITH_ZSTD and any(
        _has_unknown_codec(data.records) for topic in asked for data in topic.partition_data
    ):
        # Kafka fails on it when it looks for zstd, which these versions may not use.
        return finish(request, error_response(request, ctx.api_version, ErrorCode.UNKNOWN_SERVER_ERROR))
    if not transactional or not ctx.release.verifies_transactions:
        return _append_all(ctx, request, None)
    return _produce_in_transaction(ctx, request)


def _produce_in_transaction(ctx: RequestContext, request: ProduceRequest) -> Answer | Coroutine[Any, Any, Any]:
    try:
        refusals = verify(ctx, request)
    except KafkaError as error:
        return finish(request, error_response(request, ctx.api_version, error.code, error.message))
    if not isinstance(refusals, dict) or may_retry(refusals):
        return _produce_when_verified(ctx, request, refusals)
    return _append_all(ctx, request, refusals or None)


async def _produce_when_verified(
    ctx: RequestContext, request: ProduceRequest, asked: Refusals | Coroutine[Any, Any, Refusals]
) -> Answer:
    """Append when the coordinator has added the partitions, and the producer's last transaction has ended."""
    refusals = await verify_when_added(ctx, request, asked)
    if may_retry(refusals):
        refusals = await verify_patiently(ctx, request)
    answer: Answer = await response_of(_append_all(ctx, request, refusals or None), ctx.services.clock)
    return answer


def _append_all(
    ctx: RequestContext, request: ProduceRequest, refusals: Refusals | None
) -> Answer | Coroutine[Any, Any, Any]:
    """Append to one partition after the other. This is the hot path: what is unusual is looked into by `_check`."""
    version = ctx.api_version
    by_id = version >= _FIRST_VERSION_WITH_TOPIC_ID
    acks = request.acks
    unusual = version < _FIRST_VERSION_WITH_ZSTD or not -1 <= acks <= 1 or refusals is not None
    services = ctx.services
    topics = services.topics
    now_ms = services.face.now_ms()
    node_id = ctx.node.id
    responses = []
    failed = False
    waiting: list[Uncommitted] = []
    rest: list[_Rest] = []
    alone = len(request.topic_data) == 1 and len(request.topic_data[0].partition_data) == 1
    spent = 0
    for asked in request.topic_data:
        topic = topics.by_id(asked.topic_id) if by_id else topics.get(asked.name)
        partitions = () if topic is None else topic.partitions
        answers: list[PartitionProduceResponse] = []
        for data in asked.partition_data:
            index = data.index
            records: Any = data.records
            if not alone:
                if spent > _SLICE:
                    rest.append((asked, data, answers, len(answers), False))
                    answers.append(_LATER)
                    continue
                if records is None or len(records) > _SMALL or codec_number(records):
                    spent += effort(records)
                else:
                    spent += LEAST_EFFORT
            try:
                if not 0 <= index < len(partitions):
                    raise _unknown(topic, by_id, records if alone else None)
                partition = partitions[index]
                if (
                    unusual
                    or records is None
                    or partition.leader_id != node_id
                    or len(partition.isr) < len(partition.replicas)
                    or partition.internal
                ):
                    _check(ctx, partition, records, acks, refusals)
                base_offset, last_offset, append_time_ms, start_offset, _ = partition.append_plainly(records, now_ms)
                answer = PartitionProduceResponse(
                    index, 0, base_offset, append_time_ms, start_offset, _NO_ERRORS, None, _NO_LEADER
                )
                answers.append(answer)
                if (
                    partition.replica_set is not None
                    and acks == ACKS_ALL
                    and partition.log.high_watermark <= last_offset
                ):
                    waiting.append(Uncommitted(partition, partition.leader_epoch, last_offset, answer))
            except KafkaError as error:
                failed = True
                answers.append(_refused(ctx, topic, data, error))
            except LargeBatch:
                rest.append((asked, data, answers, len(answers), True))
                answers.append(_LATER)
        if answers:
            name = asked.name if topic is None or by_id else topic.name  # equal, and hashed already
            responses.append(TopicProduceResponse(name, asked.topic_id, answers))
    response = ProduceResponse(responses)
    wait = _until_committed(ctx, request, response, waiting) if waiting else None
    if rest:
        return _append_rest(ctx, request, response, wait, rest)
    if wait is not None:
        return wait
    if not failed:
        return response if acks else None
    return finish(request, _name_leaders(ctx, response))


def _name_leaders(ctx: RequestContext, response: ProduceResponse) -> ProduceResponse:
    """Tell where the leaders are that answers name."""
    if ctx.api_version >= _FIRST_VERSION_WITH_LEADER:
        response.node_endpoints = _endpoints(ctx, response)
    return response


def _unknown(topic: Topic | None, by_id: bool, records: Any) -> KafkaError:
    if records is not None:
        batch_size_at(records)  # raises: records that cannot be read come before all else
    unknown_id = topic is None and by_id
    return KafkaError(ErrorCode.UNKNOWN_TOPIC_ID if unknown_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _has_unknown_codec(records: Any) -> bool:
    """Whether the first batch is a whole one of format v2 with a codec that does not exist."""
    if records is None or len(records) < HEADER_SIZE:
        return False
    batch = read_batch(records)
    return batch.magic == 2 and batch.attributes & CODEC_MASK > Codec.ZSTD and batch.size_bytes <= len(records)


def _check(ctx: RequestContext, partition: Partition, records: Any, acks: int, refusals: Refusals | None) -> None:
    """The checks that Kafka makes before the log gets the batch, in Kafka's order."""
    if records is None:
        raise RecordsRefused(ErrorCode.INVALID_RECORD, client_message="The records of the partition are null")
    if ctx.api_version >= _FIRST_VERSION_WITH_BATCHES:
        if ctx.api_version < _FIRST_VERSION_WITH_ZSTD and codec_number(records) == Codec.ZSTD:
            raise RecordsRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        single_batch(records)
    refusal = refusals.get((partition.topic.name, partition.index)) if refusals else None
    if refusal is not None:
        # It never comes to the log: no log start offset, and its message is for the client.
        raise RecordsRefused(refusal.code, refusal.message, client_message=refusal.message)
    if not -1 <= acks <= 1:
        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS)
    if partition.topic.internal and ctx.client_id != ADMIN_CLIENT_ID:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition.check_leader(ctx.node.id)
    if acks == ACKS_ALL and partition.under_min_isr:
        raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)


def _refused(
    ctx: RequestContext, topic: Topic | None, data: PartitionProduceData, error: KafkaError
) -> PartitionProduceResponse:
    """The answer for a partition that took nothing."""
    answer = PartitionProduceResponse(data.index, error.code, -1)
    if isinstance(error, RecordsRefused):
        answer.log_start_offset = error.log_start_offset
        answer.error_message = error.client_message
        answer.record_errors = [BatchIndexAndErrorMessage(number, text) for number, text in error.record_errors]
    elif topic is not None and error.code not in _WITHOUT_LOG_START:
        answer.log_start_offset = topic.partitions[data.index].log.log_start_offset
    names_leader = error.code is ErrorCode.NOT_LEADER_OR_FOLLOWER and ctx.api_version >= _FIRST_VERSION_WITH_LEADER
    if names_leader and topic is not None:
        partition = topic.partitions[data.index]
        answer.current_leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
    return answer


def _endpoints(ctx: RequestContext, response: ProduceResponse) -> list[NodeEndpoint]:
    leaders = [p.current_leader.leader_id for t in response.responses for p in t.partition_responses]
    return leader_endpoints(ctx, (leader for leader in leaders if leader >= 0), NodeEndpoint)


def finish(request: ProduceRequest, response: ProduceResponse) -> ProduceResponse:
    """The answer to a request with errors; with acks=0 the client learns of them by a closed connection."""
    if request.acks == 0:
        raise CloseConnection("a produce request with acks=0 failed")
    return response


# -- requests with several partitions


def _names_transaction(request: ProduceRequest) -> bool:
    """Whether there is a batch of a transaction.

    Kafka reads until it finds one, before it looks at partitions: a CorruptBatchError of this fails the whole request.
    """
    for asked in request.topic_data:
        for data in asked.partition_data:
            records: Any = data.records
            if records is not None and batch_size_at(records) is not None and is_transactional_batch(records):
                return True
    return False


def _unreadable(ctx: RequestContext, request: ProduceRequest, error: CorruptBatchError) -> ProduceResponse:
    _drop_repeated(request)
    return finish(request, error_response(request, ctx.api_version, error.code, error.message))


def _drop_repeated(request: ProduceRequest) -> None:
    """Keep the last of the entries that name the same partition, and a topic once."""
    seen: dict[tuple[str, bytes, int], PartitionProduceData] = {}
    count = 0
    for asked in request.topic_data:
        for data in asked.partition_data:
            count += 1
            seen[(asked.name, asked.topic_id, data.index)] = data
    if len(seen) == count and len({key[:2] for key in seen}) == len(request.topic_data):
        return
    kept: dict[tuple[str, bytes], TopicProduceData] = {}
    for (name, topic_id, _), data in seen.items():
        kept.setdefault((name, topic_id), TopicProduceData(name, topic_id)).partition_data.append(data)
    request.topic_data = list(kept.values())


# -- Requests that take longer than a slice: others are served between their slices.

_Rest = tuple[TopicProduceData, PartitionProduceData, list[PartitionProduceResponse], int, bool]
"""A partition that waits for its slice: what was asked, the list and the place of its answer, and whether its batch is
a large one."""
_SLICE: Final = 32_000
"""The effort (`odradek.protocol.record_batch.effort`) after which a request goes on in another slice: about 20 ms."""
_MOST_RECORD_ERRORS: Final = 10_000
"""So many refused records are named in an answer."""


async def _append_rest(
    ctx: RequestContext, request: ProduceRequest, response: ProduceResponse, begun: Parked | None, rest: list[_Rest]
) -> ProduceResponse | None:
    """Append the rest in slices, and a large batch as soon as its records are checked.

    Each slice is served as a request of its own, so everything that may have changed is looked at again. `response` has
    the answers to what was appended already; `begun` waits for their replicas.
    """
    waits: list[tuple[Parked, list[_Rest]]] = [] if begun is None else [(begun, [])]
    try:
        chosen: list[_Rest] = []
        spent = 0
        for number, each in enumerate(rest):
            data, is_large = each[1], each[4]
            if is_large:
                await _look_at(ctx, each[0], data)
            chosen.append(each)
            spent += effort(data.records)  # type: ignore[arg-type]
            if spent > _SLICE or is_large or number == len(rest) - 1:
                await trio.lowlevel.checkpoint()
                served = produce(ctx, _request_of(request, chosen))
                answer: Any = await served if is_coroutine(served) else served
                if isinstance(answer, Parked):
                    waits.append((answer, chosen))
                else:
                    _take(answer, chosen)
                chosen, spent = [], 0
        while waits:
            parked, chosen = waits[0]
            answer = await parked.response(ctx.services.clock)
            del waits[0]
            _take(answer, chosen)
    finally:
        for parked, _ in waits:
            parked.abandon()
    if _has_failed(response):
        return finish(request, _name_leaders(ctx, response))
    return response if request.acks else None


async def _look_at(ctx: RequestContext, asked: TopicProduceData, data: PartitionProduceData) -> None:
    """Let the worker check a large batch. The log is given the result in place of the batch."""
    topic = _topic(ctx, asked)
    if topic is None or data.index >= len(topic.partitions):
        return  # it was deleted meanwhile
    log = topic.partitions[data.index].log
    work = ctx.long_work
    if not isinstance(work, ThreadWork):
        work = ctx.long_work = ThreadWork()
    sent: Any = data.records
    now_ms = ctx.services.face.now_ms()
    # The thread has a copy: it may still run when the connection, which has the bytes, is gone.
    check = partial(check_large, bytes(sent), log.config, now_ms, log.name)
    data.records = await ctx.services.worker.do(check, work)


def _request_of(request: ProduceRequest, chosen: list[_Rest]) -> ProduceRequest:
    """The part of a request for some partitions. It is answered: an answer shows whether anything went wrong."""
    asked = [TopicProduceData(topic.name, topic.topic_id, [data]) for topic, data, _, _, _ in chosen]
    return ProduceRequest(request.transactional_id, request.acks or 1, request.timeout_ms, asked)


def _take(answer: ProduceResponse, chosen: list[_Rest]) -> None:
    found = [partition for topic in answer.responses for partition in topic.partition_responses]
    for (_, _, answers, place, _), partition in zip(chosen, found, strict=True):
        answers[place] = partition


def _has_failed(response: ProduceResponse) -> bool:
    """Whether any partition failed. More than so many refused records are not named."""
    failed = False
    named = 0
    for topic in response.responses:
        for answer in topic.partition_responses:
            failed = failed or answer.error_code != 0
            named += len(answer.record_errors)
            if named > _MOST_RECORD_ERRORS:
                answer.record_errors = []
    return failed


# -- The part of a transaction: may these partitions be written as part of it? (KIP-890)

Key = tuple[str, int]
Refusals = dict[Key, KafkaError]
"""(topic name, partition) -> why nothing may be written there."""

_NOBODY: Refusals = {}


def verify(ctx: RequestContext, request: ProduceRequest) -> Refusals | Coroutine[Any, Any, Refusals]:
    """The partitions that must not be written, with their errors; a coroutine if the coordinator must wait.

    The coordinator is asked only for partitions whose log has no transaction of this producer open. Raises
    INVALID_PRODUCER_ID_MAPPING for a request with batches of several producers.
    """
    unknown = [
        (partition, batch)
        for partition, batch in _transactional_batches(ctx, request)
        if not partition.log.producers.has_ongoing_transaction(batch.producer_id, batch.producer_epoch)
    ]
    registers = ctx.api_version >= _FIRST_VERSION_WITH_REGISTRATION
    services = ctx.services
    if not unknown or not (registers or services.config.get_bool("transaction.partition.verification.enable")):
        return _NOBODY
    from odradek.broker.coordinator.transaction.verification import Claim, Support

    bumps = registers and ctx.release.checks_first_sequences
    now_ms = services.clock.now_ms()
    for partition, batch in unknown:
        partition.log.producers.begin_verification(
            batch.producer_id, batch.producer_epoch, batch.base_sequence, now_ms, supports_epoch_bump=bumps
        )
    batch = unknown[0][1]
    claim = Claim(
        request.transactional_id or "",
        batch.producer_id,
        batch.producer_epoch,
        [(partition.topic.name, partition.index) for partition, _ in unknown],
        Support.of_produce(ctx.api_version),
    )
    coordinators: Any = cast(Any, services.transactions)()  # not its class: tests have another one
    asked: Refusals | Coroutine[Any, Any, Refusals] = coordinators.verify_append(claim, ctx.node.id)
    return asked


def may_retry(refusals: Refusals) -> bool:
    """Whether the producer's last transaction is still ending, so that it helps to ask again in a moment.

    Only the refusals of clients that register by producing (v12 and later) have this error.
    """
    return any(error.code is ErrorCode.CONCURRENT_TRANSACTIONS for error in refusals.values())


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
    coordinators: Any = cast(Any, ctx.services.transactions)()
    began_ms = ctx.services.clock.now_ms()
    while True:
        may_go_on = await coordinators.verifier.wait_to_retry(began_ms)
        refusals = await verify_when_added(ctx, request, verify(ctx, request))
        if not may_go_on or not may_retry(refusals):
            return refusals


def _transactional_batches(ctx: RequestContext, request: ProduceRequest) -> list[tuple[Partition, RecordBatch]]:
    """The readable transactional batches of producers, with their partitions.

    INVALID_PRODUCER_ID_MAPPING if the producers differ. As in Kafka a batch without a producer id is in no transaction.
    """
    found: list[tuple[Partition, RecordBatch]] = []
    for asked in request.topic_data:
        topic = _topic(ctx, asked)
        if topic is None or topic.internal:
            continue
        for data in asked.partition_data:
            records: Any = data.records
            if not 0 <= data.index < len(topic.partitions) or records is None:
                continue
            try:
                batch = read_batch(single_batch(records))
            except RecordsRefused:
                continue  # malformed records are in no transaction
            partition = topic.partitions[data.index]
            verified = batch.magic == 2 and batch.is_transactional and batch.producer_id >= 0
            if verified and partition.leader_id == ctx.node.id:
                found.append((partition, batch))
    if len({(batch.producer_id, batch.producer_epoch) for _, batch in found}) > 1:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING, "Transactional records contained more than one producer ID"
        )
    return found


# -- Waiting: before the appends for room in memory, and after them with acks=all for the replicas in sync.


async def _when_there_is_room(ctx: RequestContext, request: ProduceRequest, room: BackPressure) -> Answer:
    """Serve a request when records leave memory fast enough again. It has not been examined before."""
    await room.wait()
    answer: Answer = await response_of(produce(ctx, request), ctx.services.clock)
    return answer


def _until_committed(
    ctx: RequestContext, request: ProduceRequest, response: ProduceResponse, waiting: list[Uncommitted]
) -> Parked:
    """Wait until each batch is committed, or its leader has changed, or the client's time-out has passed."""
    version = ctx.api_version
    return OutcomeWait(
        ctx.services.clock,
        request.timeout_ms,
        waiting,
        lambda uncommitted, due: uncommitted.settle(version, due),
        lambda: _name_leaders(ctx, response),
    )


class Uncommitted:
    """A batch that a leader took in this epoch, up to this offset, and its answer so far."""

    __slots__ = ("answer", "last_offset", "leader_epoch", "partition")

    def __init__(
        self, partition: Partition, leader_epoch: int, last_offset: int, answer: PartitionProduceResponse
    ) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.last_offset = last_offset
        self.answer = answer

    def settle(self, api_version: int, due: bool) -> bool:
        """Put the outcome into the answer; False while there is none. `due`: the client does not wait any longer."""
        partition = self.partition
        if partition.deleted:
            self.answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif partition.leader_epoch != self.leader_epoch:
            # The record may live on: only the new leader knows.
            self.answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            if api_version >= _FIRST_VERSION_WITH_LEADER:
                self.answer.current_leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
        elif partition.log.high_watermark > self.last_offset:
            if partition.under_min_isr:
                self.answer.error_code = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        elif due:
            self.answer.error_code = ErrorCode.REQUEST_TIMED_OUT  # the record stays in the log
        else:
            return False
        return True


# -- Rights of Produce: WRITE on each topic, and on the transactional id of transactional batches.
#
# Batches for topics that the client may not write are refused, one by one; the handler sees the others.

_WRITE, _TOPIC = Operation.WRITE, Resource.TOPIC


def guarded_produce(ctx: RequestContext, request: ProduceRequest) -> Answer | Coroutine[Any, Any, Any]:
    """Append what the client may write."""
    try:
        transactional = _names_transaction(request)
    except CorruptBatchError as error:
        return _unreadable(ctx, request, error)
    asked = request.topic_data
    if len(asked) == 1 and not transactional:
        name = _name(ctx, asked[0])
        if name is not None and ctx.allows(_WRITE, _TOPIC, name, tell=False):
            return produce(ctx, request)
    if transactional and not (
        request.transactional_id is not None and ctx.allows(_WRITE, Resource.TRANSACTIONAL_ID, request.transactional_id)
    ):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return finish(request, error_response(request, ctx.api_version, code))
    names = [_name(ctx, topic) for topic in asked]
    allowed = ctx.allowed(_WRITE, _TOPIC, (name for name in names if name is not None))
    denied = [topic for topic, name in zip(asked, names, strict=True) if name is not None and name not in allowed]
    if not denied:
        return produce(ctx, request)
    request.topic_data = [topic for topic, name in zip(asked, names, strict=True) if name is None or name in allowed]
    order = {(topic.name, topic.topic_id): place for place, topic in reversed(list(enumerate(asked)))}
    served = produce(ctx, request) if request.topic_data else None
    joined: Answer = then(served, ctx.services.clock, lambda response: _joined(request, response, denied, order))
    return joined


def _name(ctx: RequestContext, topic: TopicProduceData) -> str | None:
    """The topic's name; None for an id that nobody knows, which needs no right to be unknown."""
    if ctx.api_version < _FIRST_VERSION_WITH_TOPIC_ID:
        return topic.name
    known = _topic(ctx, topic)
    return None if known is None else known.name


def _topic(ctx: RequestContext, asked: TopicProduceData) -> Topic | None:
    topics = ctx.services.topics
    return topics.by_id(asked.topic_id) if ctx.api_version >= _FIRST_VERSION_WITH_TOPIC_ID else topics.get(asked.name)


def _joined(
    request: ProduceRequest,
    served: ProduceResponse | None,
    denied: list[TopicProduceData],
    order: dict[tuple[str, bytes], int],
) -> ProduceResponse | None:
    """The served and the denied partitions, in the order of the request."""
    response = ProduceResponse() if served is None else served
    refused: dict[tuple[str, bytes], dict[int, None]] = {}
    for topic in denied:
        indexes = refused.setdefault((topic.name, topic.topic_id), {})
        indexes.update(dict.fromkeys(data.index for data in topic.partition_data))
    for (name, topic_id), indexes in refused.items():
        if not indexes:
            continue
        answers = [PartitionProduceResponse(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED, -1) for index in indexes]
        response.responses.append(TopicProduceResponse(name, topic_id, answers))
    response.responses.sort(key=lambda topic: order[topic.name, topic.topic_id])
    if request.acks == 0 and not any(
        each.error_code for topic in response.responses for each in topic.partition_responses
    ):
        return None
    return finish(request, response)
