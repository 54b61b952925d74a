"""What a request asked for, in a few words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from odradek.broker.transcript.record_counts import count_records
from odradek.broker.transcript.shown import few

if TYPE_CHECKING:
    from odradek.broker.transcript.summary import Recorded

_LATEST, _EARLIEST = -1, -2
_TIMES = {_LATEST: "latest", _EARLIEST: "earliest", -3: "largest timestamp", -4: "earliest local", -5: "latest tiered"}


def asked(recorded: Recorded, request: Any) -> str:
    """Group and transactional id, the partitions, and what the API adds."""
    found = recorded.summary
    words = [f"group {few(found.groups, 3)}"] if found.groups else []
    if found.transactional_ids:
        words.append(f"transaction {few(found.transactional_ids, 3)}")
    own = None if request is None else _OWN.get(recorded.exchange.api_key)
    words.append(few(found.topics) if own is None else own(recorded, request))
    return " ".join(filter(None, words))


def _produce(recorded: Recorded, request: Any) -> str:
    counts = [count_records(each.records) for topic in request.topic_data for each in topic.partition_data]
    places = few([position._replace(offset=None) for position in recorded.topics])
    total = None if None in counts else sum(count or 0 for count in counts)
    return f"{places} {_number(total, 'record')}{' acks=0' if request.acks == 0 else ''}"


def _fetch(recorded: Recorded, request: Any) -> str:
    return few(recorded.topics) or "(nothing)"


def _list_offsets(recorded: Recorded, request: Any) -> str:
    times = [each.timestamp for topic in request.topics for each in topic.partitions]
    shown = [
        f"{place} {_TIMES.get(time, f'at time {time}')}" for place, time in zip(recorded.topics, times, strict=False)
    ]
    return few(shown, 4, ", ")


def _metadata(recorded: Recorded, request: Any) -> str:
    if request.topics is None:
        return "all topics"
    return few(recorded.topics) or "no topic"


def _join(recorded: Recorded, request: Any) -> str:
    assignors = ",".join(each.name for each in request.protocols)
    return f"{'joins again' if request.member_id else 'joins'}, {request.protocol_type}: {assignors}"


def _generation(recorded: Recorded, request: Any) -> str:
    return f"generation {request.generation_id}"


def _member_epoch(recorded: Recorded, request: Any) -> str:
    words = {0: "joins", -1: "leaves", -2: "leaves for a while"}
    return words.get(request.member_epoch, f"epoch {request.member_epoch}")


def _end_transaction(recorded: Recorded, request: Any) -> str:
    return "commit" if request.committed else "abort"


def _api_versions(recorded: Recorded, request: Any) -> str:
    return " ".join(filter(None, (request.client_software_name, request.client_software_version)))


def _sasl(recorded: Recorded, request: Any) -> str:
    return str(request.mechanism)


_OWN: dict[int, Callable[[Recorded, Any], str]] = {
    0: _produce,
    1: _fetch,
    2: _list_offsets,
    3: _metadata,
    11: _join,
    12: _generation,
    14: _generation,
    17: _sasl,
    18: _api_versions,
    26: _end_transaction,
    68: _member_epoch,
    76: _member_epoch,
    88: _member_epoch,
}


def _number(count: int | None, thing: str) -> str:
    if count is None:
        return f"{thing}s"
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
