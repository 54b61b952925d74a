"""The rule `unregistered-schema`: records of a topic that has a schema in the registry, without the id of one.

It is asked for by name. Only subjects that are called ``TOPIC-key`` and ``TOPIC-value`` say that a topic has one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from odradek.broker.schemas.framing import readings
from odradek.broker.transcript.request_text import client_of
from odradek.broker.transcript.topic_positions import topic_name
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import iter_batches
from odradek.protocol.records import Record

if TYPE_CHECKING:
    from odradek.broker.facade.report.situation import Situation
    from odradek.broker.schemas.record_schemas import Part, RegisteredSchemas

_PARTS: tuple[Part, ...] = ("key", "value")


def unregistered_schema(situation: Situation) -> Iterator[str]:
    """Keys or values that a client wrote as the log has them now, though their subject has a schema."""
    registered = situation.registered
    if registered is None:
        return
    found: Counter[tuple[str, str, Part]] = Counter()
    for client, topic, record in _written(situation):
        for part in _PARTS:
            data = record.key if part == "key" else record.value
            if (
                data is not None
                and registered.expects(topic, part)
                and not _is_registered(registered, topic, part, data)
            ):
                found[client, topic, part] += 1
    for (client, topic, part), count in found.items():
        yield (
            f"{client} wrote {count} {part}{'s' if count > 1 else ''} to '{topic}' without the id of a schema of the "
            f"registry, which has the subject '{topic}-{part}': who reads with its deserializer fails. Write with the "
            "serializer of the registry"
        )


def _is_registered(registered: RegisteredSchemas, topic: str, part: Part, data: bytes) -> bool:
    number = next(readings(data)).schema_id
    return number is not None and registered.schema(topic, part, number) is not None


def _written(situation: Situation) -> Iterator[tuple[str, str, Record]]:
    """Client, topic and record of what was appended."""
    for each in situation.by_api("Produce"):
        answer: Any = each.response
        for topic in () if answer is None else answer.responses:
            name = str(topic.name or topic_name(each.topics_by_id, topic.topic_id))
            for partition in topic.partition_responses:
                if not partition.error_code and partition.base_offset >= 0:
                    data = situation.stored(name, partition.index, partition.base_offset)
                    for record in _records(data, partition.base_offset):
                        yield client_of(each), name, record


def _records(data: bytes, base_offset: int) -> Iterator[Record]:
    """Those of the batch that begins there; none if the log has another one now."""
    try:
        batch = next(iter_batches(data), None)
        if batch is not None and batch.base_offset == base_offset and not batch.is_control:
            yield from batch.records()
    except CorruptDataError:
        return
