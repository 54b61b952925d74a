"""A request and its answer as one line of text: `+0.120 Fetch v16 consumer-1 orders-1@1 -> 0 records, end 1`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from odradek.broker.requests.recent_requests import Exchange, Head, HttpMessage, Told
from odradek.broker.requests.request_topics import TopicsById
from odradek.broker.transcript.topic_positions import TopicPosition, name_of
from odradek.protocol.file_slice import joined
from odradek.protocol.message import ApiMessage, Records
from odradek.protocol.record_batch import CONTROL_FLAG, HEADER, HEADER_SIZE, LOG_OVERHEAD
from odradek.protocol.shown import one_line

_WIDEST = 40
_SLOW_MS = 20


def line_of(recorded: Recorded) -> str:
    """The request as one line."""
    about = subject_of(recorded)
    begin = f"{recorded.at:+.3f} {api_of(recorded)} {client_of(recorded)}"
    return one_line(f"{begin} {about + ' ' if about else ''}-> {outcome(recorded)}")


def lines_of(requests: Sequence[Recorded]) -> list[str]:
    """The requests as lines, aligned in columns."""
    cells = [(f"{each.at:+.3f}", api_of(each), client_of(each)) for each in requests]
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(*cells, strict=True)]
    lines = []
    for each, (at, api, client) in zip(requests, cells, strict=True):
        about = subject_of(each)
        begin = f"{at:>{widths[0]}} {api:<{widths[1]}} {client:<{widths[2]}}"
        lines.append(one_line(f"{begin} {about + ' ' if about else ''}-> {outcome(each)}"))
    return lines


def api_of(recorded: Recorded) -> str:
    """`Fetch v16`."""
    return f"{recorded.api} v{recorded.version}"


def client_of(recorded: Recorded) -> str:
    """The client id, or the client's address, in printable letters."""
    client = recorded.client_id or recorded.client
    if len(client) > _WIDEST:
        client = client[: _WIDEST - 1] + "…"
    return "".join(letter if letter.isprintable() else "?" for letter in client)


def subject_of(recorded: Recorded) -> str:
    """The items that the request names; its size if it was not kept."""
    exchange = recorded.exchange
    if isinstance(exchange.frame, HttpMessage):
        return exchange.frame.head
    request = recorded.request
    text = describe_request(recorded, request)
    if request is None and not isinstance(exchange.frame, Told):
        text = text or f"({exchange.size:,} bytes{', not kept' if isinstance(exchange.frame, Head) else ''})"
    return text


def outcome(recorded: Recorded) -> str:
    """The result: the errors of the answer or a short text about it, or that there is no answer."""
    state = recorded.state
    if state == "cut":
        return f"connection cut: {recorded.cut}"
    if state == "waiting":
        return "still waiting"
    if state == "unanswered":
        return "no answer"
    text = _answer_text(recorded)
    latency = recorded.latency_ms or 0
    return f"{text} ({latency:.0f} ms)" if latency >= _SLOW_MS else text


def _answer_text(recorded: Recorded) -> str:
    problems = recorded.problems
    if problems:
        return few(problems, 3, "; ")
    kept = recorded.exchange.answer
    if isinstance(kept, HttpMessage):
        return f"{kept.head} {_body_text(kept)}"
    answer: Any = recorded.response
    if answer is None:
        return "ok" if isinstance(kept, Told) else f"{recorded.response_size:,} bytes"
    return describe_answer(recorded, answer) or "ok"


def _body_text(answer: HttpMessage) -> str:
    """A short body as it is; the size of a long one."""
    text = answer.body.decode(errors="replace")
    return text if len(text) <= _WIDEST and answer.size == len(answer.body) else f"({answer.size:,} bytes)"


class Summary(NamedTuple):
    """The facts that were read from a request and its answer. `problems`: (code, "where ERROR: message")."""

    topics: tuple[TopicPosition, ...]
    groups: tuple[str, ...]
    transactional_ids: tuple[str, ...]
    problems: tuple[tuple[int, str], ...]


class Recorded(Protocol):
    """The part of `RecordedRequest` that is used here."""

    @property
    def exchange(self) -> Exchange: ...
    @property
    def summary(self) -> Summary: ...
    @property
    def topics(self) -> tuple[TopicPosition, ...]: ...
    @property
    def topics_by_id(self) -> TopicsById: ...
    @property
    def problems(self) -> tuple[str, ...]: ...
    @property
    def request(self) -> ApiMessage | None: ...
    @property
    def response(self) -> ApiMessage | None: ...
    @property
    def api(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def at(self) -> float: ...
    @property
    def client(self) -> str: ...
    @property
    def client_id(self) -> str | None: ...
    @property
    def state(self) -> str: ...
    @property
    def cut(self) -> str | None: ...
    @property
    def latency_ms(self) -> float | None: ...
    @property
    def response_size(self) -> int | None: ...


_MOST_ENDS = 3


def describe_answer(recorded: Recorded, answer: Any) -> str:
    """A short text about an answer without errors; empty for most APIs."""
    tell = _ANSWERS.get(recorded.exchange.api_key)
    return "" if tell is None else tell(recorded, answer)


def _produce_answer(recorded: Recorded, answer: Any) -> str:
    offsets = [each.base_offset for topic in answer.responses for each in topic.partition_responses]
    return "@" + few(offsets, 4, ", ") if offsets else ""


def _fetch_answer(recorded: Recorded, answer: Any) -> str:
    """The number of records, and of each partition the high watermark and the last stable offset."""
    parts = [(topic, each) for topic in answer.responses for each in topic.partitions]
    counts = [count_records(each.records) for _, each in parts]
    size = sum(len(each.records) for _, each in parts if each.records)
    words = [f"{size:,} bytes" if None in counts else _records(sum(count or 0 for count in counts))]
    for topic, each in parts[:_MOST_ENDS]:
        where = f" of {name_of(recorded.topics_by_id, topic)}-{each.partition_index}" if len(parts) > 1 else ""
        words.append(f"end{where} {each.high_watermark}")
        if each.last_stable_offset not in (-1, each.high_watermark):
            words.append(f"committed to {each.last_stable_offset}")
    return ", ".join(words)


def _share_fetch_answer(recorded: Recorded, answer: Any) -> str:
    """How many records a share fetch has acquired."""
    acquired = [
        each for topic in answer.responses for partition in topic.partitions for each in partition.acquired_records
    ]
    return _records(sum(each.last_offset - each.first_offset + 1 for each in acquired))


def _list_offsets_answer(recorded: Recorded, answer: Any) -> str:
    return "@" + few([each.offset for topic in answer.topics for each in topic.partitions], 4, ", ")


def _offset_fetch_answer(recorded: Recorded, answer: Any) -> str:
    topics = [topic for group in answer.groups for topic in group.topics] or answer.topics
    committed = [
        f"{topic.name}-{each.partition_index}@{each.committed_offset}"
        for topic in topics
        for each in topic.partitions
        if each.committed_offset >= 0
    ]
    return f"committed {few(committed)}" if committed else "nothing committed"


def _join_answer(recorded: Recorded, answer: Any) -> str:
    role = f"leader of {len(answer.members)}" if answer.leader == answer.member_id else "member"
    return f"generation {answer.generation_id}, {role}, {answer.protocol_name}"


def _sync_answer(recorded: Recorded, answer: Any) -> str:
    from odradek.protocol.consumer_protocol import assigned_partitions

    try:
        assigned = assigned_partitions(answer.assignment)
    except Exception:  # of a group that has another protocol type
        return ""
    places = [f"{topic}-{index}" for topic, indexes in sorted(assigned.items()) for index in indexes]
    return f"assigned {few(places)}" if places else "assigned nothing"


def _heartbeat_answer(recorded: Recorded, answer: Any) -> str:
    told = f"epoch {answer.member_epoch}"
    if answer.assignment is None:
        return told
    places = [
        f"{name_of(recorded.topics_by_id, each)}-{index}"
        for each in answer.assignment.topic_partitions
        for index in each.partitions
    ]
    return f"{told}, assigned {few(places)}" if places else f"{told}, assigned nothing"


def _metadata_answer(recorded: Recorded, answer: Any) -> str:
    named = [topic.name for topic in answer.topics if topic.name]
    nodes = f"{len(answer.brokers)} node{'' if len(answer.brokers) == 1 else 's'}"
    return f"{nodes}, {few(named)}" if named else nodes


def _find_coordinator_answer(recorded: Recorded, answer: Any) -> str:
    nodes = sorted({each.node_id for each in answer.coordinators} or {answer.node_id})
    return f"node {few(nodes)}"


def _producer_id_answer(recorded: Recorded, answer: Any) -> str:
    return f"producer {answer.producer_id} epoch {answer.producer_epoch}"


def _records(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"


_ANSWERS: dict[int, Callable[[Recorded, Any], str]] = {
    0: _produce_answer,
    1: _fetch_answer,
    2: _list_offsets_answer,
    3: _metadata_answer,
    9: _offset_fetch_answer,
    10: _find_coordinator_answer,
    11: _join_answer,
    14: _sync_answer,
    22: _producer_id_answer,
    68: _heartbeat_answer,
    76: _heartbeat_answer,
    78: _share_fetch_answer,
}


_LATEST, _EARLIEST = -1, -2
_TIMES = {_LATEST: "latest", _EARLIEST: "earliest", -3: "largest timestamp", -4: "earliest local", -5: "latest tiered"}


def describe_request(recorded: Recorded, request: Any) -> str:
    """A short text about a request: group and transactional id, partitions, and details of some APIs."""
    found = recorded.summary
    words = [f"group {few(found.groups, 3)}"] if found.groups else []
    if found.transactional_ids:
        words.append(f"transaction {few(found.transactional_ids, 3)}")
    own = None if request is None else _REQUESTS.get(recorded.exchange.api_key)
    words.append(few(found.topics) if own is None else own(recorded, request))
    return " ".join(filter(None, words))


def _produce_request(recorded: Recorded, request: Any) -> str:
    counts = [count_records(each.records) for topic in request.topic_data for each in topic.partition_data]
    places = few([position._replace(offset=None) for position in recorded.topics])
    total = None if None in counts else sum(count or 0 for count in counts)
    return f"{places} {_count(total, 'record')}{' acks=0' if request.acks == 0 else ''}"


def _fetch_request(recorded: Recorded, request: Any) -> str:
    return few(recorded.topics) or "(nothing)"


def _list_offsets_request(recorded: Recorded, request: Any) -> str:
    times = [each.timestamp for topic in request.topics for each in topic.partitions]
    shown = [
        f"{place} {_TIMES.get(time, f'at time {time}')}" for place, time in zip(recorded.topics, times, strict=False)
    ]
    return few(shown, 4, ", ")


def _metadata_request(recorded: Recorded, request: Any) -> str:
    if request.topics is None:
        return "all topics"
    return few(recorded.topics) or "no topic"


def _join_request(recorded: Recorded, request: Any) -> str:
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


_REQUESTS: dict[int, Callable[[Recorded, Any], str]] = {
    0: _produce_request,
    1: _fetch_request,
    2: _list_offsets_request,
    3: _metadata_request,
    11: _join_request,
    12: _generation,
    14: _generation,
    17: _sasl,
    18: _api_versions,
    26: _end_transaction,
    68: _member_epoch,
    76: _member_epoch,
    88: _member_epoch,
}


def _count(count: int | None, thing: str) -> str:
    if count is None:
        return f"{thing}s"
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def few(texts: Sequence[object], most: int = 4, separator: str = " ") -> str:
    """The first texts, and how many more there are: `a b +3 more`."""
    shown = separator.join(str(text) for text in texts[:most])
    return f"{shown}{separator}+{len(texts) - most} more" if len(texts) > most else shown


def count_records(records: Records | None) -> int | None:
    """The number of records in some batches, without transaction markers; None if not all headers were kept.

    A last batch that the reader's limit has cut short is not counted.
    """
    if records is None:
        return 0
    data = memoryview(records if isinstance(records, bytes | bytearray | memoryview) else joined(records))
    count = position = 0
    while position + HEADER_SIZE <= len(data):
        fields = HEADER.unpack_from(data, position)
        length, magic, attributes, number = fields[1], fields[3], fields[5], fields[12]
        if length <= 0 or magic != 2:
            return None
        position += LOG_OVERHEAD + length
        if position <= len(data) and not attributes & CONTROL_FLAG:
            count += number
    return count
