"""From the names in a request to the partition that they mean."""

from __future__ import annotations

from odradek.broker.partitions.partition import Partition
from odradek.broker.requests.context import RequestContext
from odradek.protocol.errors import ErrorCode, KafkaError


def find_partition(ctx: RequestContext, topic_name: str, index: int) -> Partition:
    """The partition `index` of a topic, whoever leads it; UNKNOWN_TOPIC_OR_PARTITION if there is none."""
    topic = ctx.services.topics.get(topic_name)
    if topic is None or not 0 <= index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic.partitions[index]
