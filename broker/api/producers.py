"""InitProducerId (key 22) and DescribeProducers (key 61).

InitProducerId versions 0 to 6: v2 is flexible; v3 lets a producer keep its id and bump the epoch (KIP-360); v4 may
answer PRODUCER_FENCED where v3 says INVALID_PRODUCER_EPOCH; v5 may answer TRANSACTION_ABORTABLE (KIP-890); v6
is served with `unstable.api.versions.enable` only, and asks for two-phase commits (KIP-939), which are refused in
Kafka's words. Without a transactional id every call gives a new producer id with epoch 0, whatever id the client had.
With one, the transaction coordinator answers.

DescribeProducers version 0 (KIP-664): what each partition knows of its producers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from odradek.broker.api.lookups import find_partition
from odradek.broker.coordinator.transaction.transaction import ProducerIdentity
from odradek.broker.metadata.image import check_topic_name
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later, later
from odradek.broker.security.acl import CLUSTER_NAME, REFUSAL_TEXTS, Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from odradek.protocol.java_maps import hash_of_long, java_order

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1


@handles(
    InitProducerIdRequest,
    access=ByItem(
        (Operation.WRITE, Resource.TRANSACTIONAL_ID),
        (Operation.TWO_PHASE_COMMIT, Resource.TRANSACTIONAL_ID),
        (Operation.IDEMPOTENT_WRITE, Resource.CLUSTER),
        (Operation.WRITE, Resource.TOPIC),
    ),
    max_version=InitProducerIdRequest.MAX_VERSION,
)
def init_producer_id(ctx: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse | Later:
    """A producer id: new for idempotent producers, from the coordinator for transactional ones."""
    _check_right_to_produce(ctx, request)
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is None:
        producer_id = ctx.services.controller.producer_ids.allocate(ctx.node.id)
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
    if request.transactional_id == "":
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if request.enable2_pc:
        # What Kafka says while `transaction.two.phase.commit.enable` is false.
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if request.keep_prepared_txn:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    known = request.producer_id != NO_PRODUCER_ID
    expected = ProducerIdentity(request.producer_id, request.producer_epoch) if known else None
    identity = ctx.services.transactions().init_producer_id(
        request.transactional_id, request.transaction_timeout_ms, expected, ctx.node
    )
    return later(identity, _identified)


def _identified(identity: ProducerIdentity | None) -> InitProducerIdResponse:
    if identity is None:
        raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return InitProducerIdResponse(producer_id=identity.producer_id, producer_epoch=identity.producer_epoch)


def _check_right_to_produce(ctx: RequestContext, request: InitProducerIdRequest) -> None:
    if request.transactional_id is not None:
        ctx.require(Operation.WRITE, Resource.TRANSACTIONAL_ID, request.transactional_id)
    elif not ctx.allows(
        Operation.IDEMPOTENT_WRITE, Resource.CLUSTER, CLUSTER_NAME, tell=False
    ) and not ctx.allows_by_type(Operation.WRITE, Resource.TOPIC):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


@handles(DescribeProducersRequest, access=ByItem((Operation.READ, Resource.TOPIC)), in_parts=True, large_answers_from=0)
def describe_producers(ctx: RequestContext, request: DescribeProducersRequest) -> DescribeProducersResponse:
    """The producers that each partition remembers, with their open transactions, in the order of Kafka's hash map."""
    response = DescribeProducersResponse()
    allowed = ctx.allowed(Operation.READ, Resource.TOPIC, [topic.name for topic in request.topics])
    for topic in request.topics:
        answers = []
        for index in topic.partition_indexes:
            answer = PartitionResponse(partition_index=index)
            try:
                check_topic_name(topic.name)
                if topic.name not in allowed:
                    raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, REFUSAL_TEXTS[Resource.TOPIC])
                partition = find_partition(ctx, topic.name, index)
                known = {producer.producer_id: producer for producer in _known(partition, ctx.node.id)}
                answer.active_producers = [_state(known[each]) for each in java_order(known, hash_of_long)]
            except KafkaError as error:
                answer.error_code = error.code
                answer.error_message = error.message
                if error.message is None and ctx.services.topics.get(topic.name) is None:
                    answer.error_message = "This server does not host this topic-partition."
            answers.append(answer)
        response.topics.append(TopicResponse(name=topic.name, partitions=answers))
    return response


def _known(partition: Partition, node_id: int) -> Iterable[Any]:
    """The producers that a node's replica knows; a follower answers for itself."""
    if node_id not in partition.replicas:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    copy = partition.copy_on(node_id)
    if copy is None:
        return list(partition.log.producers)
    from odradek.broker.partitions.replicas import producers_of

    return producers_of(copy)


def _state(known: Any) -> ProducerState:
    started = known.current_txn_first_offset
    return ProducerState(
        producer_id=known.producer_id,
        producer_epoch=known.producer_epoch,
        last_sequence=known.last_sequence,
        last_timestamp=known.last_timestamp,
        coordinator_epoch=known.coordinator_epoch,
        current_txn_start_offset=-1 if started is None else started,
    )
