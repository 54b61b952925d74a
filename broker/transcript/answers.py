"""What an answer without errors said, in a few words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from odradek.broker.transcript.positions import topic_name
from odradek.broker.transcript.record_counts import count_records
from odradek.broker.transcript.shown import few

if TYPE_CHECKING:
    from odradek.broker.transcript.summary import Recorded

_SHOWN_ENDS = 3


def answered(recorded: Recorded, answer: Any) -> str:
    """The answer in short; empty where there is nothing to say."""
    tell = _OWN.get(recorded.exchange.api_key)
    return "" if tell is None else tell(recorded, answer)


def _produce(recorded: Recorded, answer: Any) -> str:
    offsets = [each.base_offset for topic in answer.responses for each in topic.partition_responses]
    return "@" + few(offsets, 4, ", ") if offsets else ""


def _fetch(recorded: Recorded, answer: Any) -> str:
    """Records of all partitions; where they end (the high watermark), and where that for committed reads is."""
    parts = [(topic, each) for topic in answer.responses for each in topic.partitions]
    counts = [count_records(each.records) for _, each in parts]
    size = sum(len(each.records) for _, each in parts if each.records)
    words = [f"{size:,} bytes" if None in counts else _records(sum(count or 0 for count in counts))]
    for topic, each in parts[:_SHOWN_ENDS]:
        where = f" of {_name(recorded, topic)}-{each.partition_index}" if len(parts) > 1 else ""
        words.append(f"end{where} {each.high_watermark}")
        if each.last_stable_offset not in (-1, each.high_watermark):
            words.append(f"committed to {each.last_stable_offset}")
    return ", ".join(words)


def _name(recorded: Recorded, topic: Any) -> str:
    return str(topic.topic or topic_name(recorded.topics_by_id, topic.topic_id))


def _acquired(recorded: Recorded, answer: Any) -> str:
    """Of a share fetch: how many records the member has to deal with now."""
    acquired = [
        each for topic in answer.responses for partition in topic.partitions for each in partition.acquired_records
    ]
    return _records(sum(each.last_offset - each.first_offset + 1 for each in acquired))


def _list_offsets(recorded: Recorded, answer: Any) -> str:
    return "@" + few([each.offset for topic in answer.topics for each in topic.partitions], 4, ", ")


def _offset_fetch(recorded: Recorded, answer: Any) -> str:
    topics = [topic for group in answer.groups for topic in group.topics] or answer.topics
    committed = [
        f"{topic.name}-{each.partition_index}@{each.committed_offset}"
        for topic in topics
        for each in topic.partitions
        if each.committed_offset >= 0
    ]
    return f"committed {few(committed)}" if committed else "nothing committed"


def _join(recorded: Recorded, answer: Any) -> str:
    role = f"leader of {len(answer.members)}" if answer.leader == answer.member_id else "member"
    return f"generation {answer.generation_id}, {role}, {answer.protocol_name}"


def _sync(recorded: Recorded, answer: Any) -> str:
    from odradek.protocol.consumer_protocol import assigned_partitions

    try:
        assigned = assigned_partitions(answer.assignment)
    except Exception:  # another type of group says it in its own way
        return ""
    places = [f"{topic}-{index}" for topic, indexes in sorted(assigned.items()) for index in indexes]
    return f"assigned {few(places)}" if places else "assigned nothing"


def _heartbeat(recorded: Recorded, answer: Any) -> str:
    told = f"epoch {answer.member_epoch}"
    if answer.assignment is None:
        return told
    places = [
        f"{topic_name(recorded.topics_by_id, each.topic_id)}-{index}"
        for each in answer.assignment.topic_partitions
        for index in each.partitions
    ]
    return f"{told}, assigned {few(places)}" if places else f"{told}, assigned nothing"


def _metadata(recorded: Recorded, answer: Any) -> str:
    named = [topic.name for topic in answer.topics if topic.name]
    nodes = f"{len(answer.brokers)} node{'' if len(answer.brokers) == 1 else 's'}"
    return f"{nodes}, {few(named)}" if named else nodes


def _find_coordinator(recorded: Recorded, answer: Any) -> str:
    nodes = sorted({each.node_id for each in answer.coordinators} or {answer.node_id})
    return f"node {few(nodes)}"


def _producer_id(recorded: Recorded, answer: Any) -> str:
    return f"producer {answer.producer_id} epoch {answer.producer_epoch}"


def _records(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"


_OWN: dict[int, Callable[[Recorded, Any], str]] = {
    0: _produce,
    1: _fetch,
    2: _list_offsets,
    3: _metadata,
    9: _offset_fetch,
    10: _find_coordinator,
    11: _join,
    14: _sync,
    22: _producer_id,
    68: _heartbeat,
    76: _heartbeat,
    78: _acquired,
}
