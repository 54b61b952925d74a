"""A recorded request with its answer, as users see it, and the decoding of what the broker kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from odradek.broker.requests.recent_requests import TOLD, Exchange, Head, HttpMessage, Kept, RawExchange, Told, api_name
from odradek.broker.requests.request_topics import TopicsById, error_name, problems_of, subjects_of, topic_names_filled
from odradek.broker.transcript.topic_positions import FetchSessions, TopicPosition, flat, name_of, positions_of
from odradek.protocol.apis import API_BY_KEY, API_VERSIONS_KEY
from odradek.protocol.errors import ProtocolError
from odradek.protocol.file_slice import joined
from odradek.protocol.headers import decode_request_header, decode_response_header
from odradek.protocol.message import ApiMessage, Records
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import CONTROL_FLAG, HEADER, HEADER_SIZE, LOG_OVERHEAD
from odradek.protocol.shown import one_line

_MANY_ERRORS = 1000


class Facts(Protocol):
    """The facts that an exchange does not contain.

    `origin_s`: the broker's start, in the time of `ClockFace.source`.
    """

    @property
    def origin_s(self) -> float: ...

    @property
    def topics(self) -> TopicsById: ...

    @property
    def ms_at(self) -> Callable[[float], int]: ...


class Summary(NamedTuple):
    """The facts that were read from a request and its answer. `problems`: (code, "where ERROR: message")."""

    topics: tuple[TopicPosition, ...]
    groups: tuple[str, ...]
    transactional_ids: tuple[str, ...]
    problems: tuple[tuple[int, str], ...]


class RegistryRequest(NamedTuple):
    """A request to the schema registry and its answer.

    `path`: with the query. `body`, `answer`: the first 1,024 bytes. `status`: None while there is no answer.
    """

    method: str
    path: str
    body: bytes
    status: int | None
    answer: bytes


class RecordedRequest:
    """One request to the broker, or to the schema registry, with its answer.

    Messages are decoded when they are asked for.

    `client_id`, `client` (host:port) and `connection` identify the client, `node` the node, `api` and `version` the
    request. `at`: seconds of real time since the broker started. `time_ms`: the time on the broker's clock
    (milliseconds since 1970). `size`: bytes of the request.
    """

    def __init__(self, raw: RawExchange, facts: Facts) -> None:
        self._raw = raw
        self._facts = facts
        self._session: tuple[TopicPosition, ...] = ()

    @property
    def exchange(self) -> Exchange:
        """The kept part of the request so far."""
        return Exchange._make(self._raw)

    @property
    def connection(self) -> str:
        """The connection: address of the broker, of the client, and a number."""
        return self.exchange.connection

    @property
    def client(self) -> str:
        """The address of the client, host:port."""
        return _ends(self.exchange.connection)[1]

    @property
    def broker(self) -> str:
        """The address that the client dialled, host:port."""
        return _ends(self.exchange.connection)[0]

    @property
    def client_id(self) -> str | None:
        """The client id."""
        return self.exchange.client_id

    @property
    def node(self) -> int:
        """The node that the request was sent to."""
        return self.exchange.node_id

    @property
    def api(self) -> str:
        """The name of the API, as in ``odradek coverage``; ``SchemaRegistry`` for requests to the schema registry."""
        return api_name(self.exchange.api_key)

    @property
    def version(self) -> int:
        """The version that the client chose."""
        return self.exchange.version

    @property
    def correlation_id(self) -> int:
        """The number that the client gave the request."""
        return self.exchange.correlation_id

    @property
    def at(self) -> float:
        """The time of arrival.

        Seconds of real time since the broker started (of a trio run's clock with ``open_broker``).
        """
        return self.exchange.seconds - self._facts.origin_s

    @property
    def time_ms(self) -> int:
        """The time of arrival on the broker's clock: milliseconds since 1970."""
        return self._facts.ms_at(self.exchange.seconds)

    @property
    def time(self) -> datetime:
        """The time of arrival on the broker's clock, in UTC."""
        return datetime.fromtimestamp(self.time_ms / 1000, UTC)

    @property
    def size(self) -> int:
        """The size of the request in bytes."""
        return self.exchange.size

    @property
    def response_size(self) -> int | None:
        """The size of the answer in bytes; None without an answer."""
        exchange = self.exchange
        return exchange.answer_size if exchange.answer_size else None

    @property
    def latency_ms(self) -> float | None:
        """Milliseconds of real time until the answer; None without one."""
        exchange = self.exchange
        return (exchange.answered - exchange.seconds) * 1000 if exchange.answer_size else None

    @property
    def state(self) -> str:
        """``answered``, ``waiting``, ``unanswered`` (acks=0, or a fault dropped it), or ``cut`` with its connection."""
        exchange = self.exchange
        if exchange.answer_size:
            return "answered"
        if exchange.cut is not None:
            return "cut"
        return "unanswered" if exchange.answered else "waiting"

    @property
    def cut(self) -> str | None:
        """Why the connection ended with this request; None if it did not."""
        return self.exchange.cut

    @property
    def request(self) -> ApiMessage | None:
        """The request, a class of `odradek.protocol.generated.messages`.

        Records of a large one are zeros behind the first header. None if it was not kept: it may hold a password, or
        is too large.
        """
        return decoded_request(self.exchange)

    @property
    def response(self) -> ApiMessage | None:
        """The answer, as `request`; None while there is none."""
        return decoded_answer(self.exchange)

    @property
    def http(self) -> RegistryRequest | None:
        """The request and its answer if it was one to the schema registry; None for one of Kafka's protocol."""
        exchange = self.exchange
        if not isinstance(exchange.frame, HttpMessage):
            return None
        method, _, path = exchange.frame.head.partition(" ")
        answer = exchange.answer if isinstance(exchange.answer, HttpMessage) else None
        status = None if answer is None else int(answer.head)
        return RegistryRequest(method, path, exchange.frame.body, status, b"" if answer is None else answer.body)

    @property
    def topics(self) -> tuple[TopicPosition, ...]:
        """The partitions in it, with their offsets if it has any."""
        return self.summary.topics

    @property
    def group(self) -> str | None:
        """The group in it; the first if there are several."""
        return next(iter(self.summary.groups), None)

    @property
    def transactional_id(self) -> str | None:
        """The transactional id in it; the first if there are several."""
        return next(iter(self.summary.transactional_ids), None)

    @property
    def errors(self) -> tuple[str, ...]:
        """The names of the errors in the answer, each once."""
        return tuple(dict.fromkeys(error_name(code) for code, _ in self.summary.problems))

    @property
    def problems(self) -> tuple[str, ...]:
        """The errors in the answer with their subjects: ``orders-1 NOT_LEADER_OR_FOLLOWER``."""
        return tuple(text for _, text in self.summary.problems)

    @property
    def topics_by_id(self) -> TopicsById:
        """Topics by id."""
        return self._facts.topics

    @property
    def summary(self) -> Summary:
        """The summary of the messages."""
        known = self._raw[TOLD]
        if isinstance(known, Summary):
            return known
        return self.read(decoded_request(self.exchange), decoded_answer(self.exchange), self._session)

    def read(
        self, request: ApiMessage | None, answer: ApiMessage | None, session: tuple[TopicPosition, ...] = ()
    ) -> Summary:
        """Make the summary of the decoded messages. It is stored once the request has ended.

        `session`: the partitions that a Fetch reads without naming them.
        """
        self._session = session
        exchange = self.exchange
        found = _summary(exchange, request, answer, session, self._facts.topics)
        if exchange.answered or exchange.cut is not None:
            self._raw[TOLD] = found
        return found

    def __str__(self) -> str:
        return line_of(self)

    def __repr__(self) -> str:
        return f"<{self}>"


def _summary(
    exchange: Exchange,
    request: ApiMessage | None,
    answer: ApiMessage | None,
    session: tuple[TopicPosition, ...],
    topics: TopicsById,
) -> Summary:
    positions: list[TopicPosition] = list(session)
    groups: set[str] = set()
    transactional_ids: set[str] = set()
    if isinstance(exchange.frame, Told) and exchange.frame.subjects is not None:
        found = exchange.frame.subjects
        positions, groups, transactional_ids = flat(found.topics.items()), found.groups, found.transactional_ids
    elif request is not None:
        found = subjects_of(request, topics)
        positions = list(dict.fromkeys([*positions_of(request, answer, topics), *session]))
        groups, transactional_ids = found.groups, found.transactional_ids
    problems: list[tuple[int, str]] = []
    if isinstance(exchange.answer, Told):
        problems = list(exchange.answer.problems)
    elif isinstance(exchange.answer, HttpMessage):
        problems = list(_http_problems(exchange.answer))
    elif answer is not None:
        with topic_names_filled(answer, topics):
            problems = [*problems_of(answer)][:_MANY_ERRORS]
    return Summary(tuple(positions), tuple(sorted(groups)), tuple(sorted(transactional_ids)), tuple(problems))


def _http_problems(answer: HttpMessage) -> Iterator[tuple[int, str]]:
    """The error in an answer of the schema registry."""
    if int(answer.head) < 400:
        return
    try:
        told = json.loads(answer.body)
        yield int(told["error_code"]), f"{told['error_code']} {told['message']}"
    except (ValueError, KeyError, TypeError):  # the message was too long to be kept
        yield int(answer.head), answer.head


def _ends(connection: str) -> tuple[str, str]:
    """The addresses of broker and client in a connection's id: `host:port-host:port-number`."""
    both, _, _ = connection.rpartition("-")
    broker, _, client = both.rpartition("-")
    return broker, client


def whole_bytes(kept: Kept) -> bytes | None:
    """The bytes of a message, with zeros for records that were not kept; None if more than that is missing."""
    if isinstance(kept, bytes):
        return kept
    if kept is None or isinstance(kept, Head | Told | HttpMessage):
        return None
    return b"".join(head + bytes(length - len(head)) for head, length in kept)


def is_trimmed(kept: Kept) -> bool:
    """Whether `whole_bytes` fills in zeros."""
    return not isinstance(kept, bytes | Head | Told | HttpMessage) and kept is not None


def decoded_request(exchange: Exchange) -> ApiMessage | None:
    """The request; None if it was not kept, or cannot be decoded."""
    frame = whole_bytes(exchange.frame)
    if frame is None:
        return None
    spec = API_BY_KEY[exchange.api_key]
    version = exchange.version
    if spec.key == API_VERSIONS_KEY:
        version = min(version, spec.max_version)
    try:
        _, position = decode_request_header(frame)
        return codec(spec.request, version).decode(memoryview(frame), position)[0]
    except ProtocolError:
        return None


def decoded_answer(exchange: Exchange) -> ApiMessage | None:
    """The answer; None if there is none, it was not kept, or cannot be decoded."""
    answer: Any = whole_bytes(exchange.answer)
    if answer is None:
        return None
    spec = API_BY_KEY[exchange.api_key]
    version = exchange.version
    if spec.key == API_VERSIONS_KEY and version > spec.max_version:
        version = 0
    try:
        frame = memoryview(answer)[4:]
        _, position = decode_response_header(frame, spec.response_header_version(version))
        return codec(spec.response, version).decode(frame, position)[0]
    except ProtocolError:
        return None


_FETCH_KEY = 1


class TranscriptReader:
    """Makes `RecordedRequest`s, in the order of the requests. It is the `Facts` of a broker. Any thread may use it."""

    def __init__(self, topics: TopicsById, ms_at: Callable[[float], int], origin_s: float) -> None:
        self.topics = topics
        self.ms_at = ms_at
        self.origin_s = origin_s
        self._sessions = FetchSessions(topics)
        self._lock = threading.Lock()

    def read(self, exchanges: Iterable[RawExchange]) -> list[RecordedRequest]:
        """Convert exchanges. Fetches are summarised at once, because their sessions depend on the ones before."""
        with self._lock:
            return [self._recorded(raw) for raw in exchanges]

    def _recorded(self, raw: RawExchange) -> RecordedRequest:
        recorded = RecordedRequest(raw, self)
        exchange = Exchange._make(raw)
        if exchange.api_key == _FETCH_KEY and raw[TOLD] is None:
            request, answer = decoded_request(exchange), decoded_answer(exchange)
            if request is not None:
                session = self._sessions.read(exchange.node_id, request, answer)
                recorded.read(request, answer, session)
        return recorded


# -- a request and its answer as one line of text: `+0.120 Fetch v16 consumer-1 orders-1@1 -> 0 records, end 1`


_WIDEST = 40
_SLOW_MS = 20


def line_of(recorded: RecordedRequest) -> str:
    """The request as one line."""
    about = subject_of(recorded)
    begin = f"{recorded.at:+.3f} {api_of(recorded)} {client_of(recorded)}"
    return one_line(f"{begin} {about + ' ' if about else ''}-> {outcome(recorded)}")


def lines_of(requests: Sequence[RecordedRequest]) -> list[str]:
    """The requests as lines, aligned in columns."""
    cells = [(f"{each.at:+.3f}", api_of(each), client_of(each)) for each in requests]
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(*cells, strict=True)]
    lines = []
    for each, (at, api, client) in zip(requests, cells, strict=True):
        about = subject_of(each)
        begin = f"{at:>{widths[0]}} {api:<{widths[1]}} {client:<{widths[2]}}"
        lines.append(one_line(f"{begin} {about + ' ' if about else ''}-> {outcome(each)}"))
    return lines


def api_of(recorded: RecordedRequest) -> str:
    """`Fetch v16`."""
    return f"{recorded.api} v{recorded.version}"


def client_of(recorded: RecordedRequest) -> str:
    """The client id, or the client's address, in printable letters."""
    client = recorded.client_id or recorded.client
    if len(client) > _WIDEST:
        client = client[: _WIDEST - 1] + "…"
    return "".join(letter if letter.isprintable() else "?" for letter in client)


def subject_of(recorded: RecordedRequest) -> str:
    """The items that the request names; its size if it was not kept."""
    exchange = recorded.exchange
    if isinstance(exchange.frame, HttpMessage):
        return exchange.frame.head
    request = recorded.request
    text = describe_request(recorded, request)
    if request is None and not isinstance(exchange.frame, Told):
        text = text or f"({exchange.size:,} bytes{', not kept' if isinstance(exchange.frame, Head) else ''})"
    return text


def outcome(recorded: RecordedRequest) -> str:
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


def _answer_text(recorded: RecordedRequest) -> str:
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


_MOST_ENDS = 3


def describe_answer(recorded: RecordedRequest, answer: Any) -> str:
    """A short text about an answer without errors; empty for most APIs."""
    tell = _ANSWERS.get(recorded.exchange.api_key)
    return "" if tell is None else tell(recorded, answer)


def _produce_answer(recorded: RecordedRequest, answer: Any) -> str:
    offsets = [each.base_offset for topic in answer.responses for each in topic.partition_responses]
    return "@" + few(offsets, 4, ", ") if offsets else ""


def _fetch_answer(recorded: RecordedRequest, answer: Any) -> str:
    """The number of records, and of each partition the high watermark and the last stable offset."""
    parts = [(topic, each) for topic in answer.responses for each in topic.partitions]
    counts = [count_records(each.records) for _, each in parts]
    size = sum(len(each.records) for _, each in parts if each.records)
    words = [f"{size:,} bytes" if None in counts else _count(sum(count or 0 for count in counts), "record")]
    for topic, each in parts[:_MOST_ENDS]:
        where = f" of {name_of(recorded.topics_by_id, topic)}-{each.partition_index}" if len(parts) > 1 else ""
        words.append(f"end{where} {each.high_watermark}")
        if each.last_stable_offset not in (-1, each.high_watermark):
            words.append(f"committed to {each.last_stable_offset}")
    return ", ".join(words)


def _share_fetch_answer(recorded: RecordedRequest, answer: Any) -> str:
    """How many records a share fetch has acquired."""
    acquired = [
        each for topic in answer.responses for partition in topic.partitions for each in partition.acquired_records
    ]
    return _count(sum(each.last_offset - each.first_offset + 1 for each in acquired), "record")


def _list_offsets_answer(recorded: RecordedRequest, answer: Any) -> str:
    return "@" + few([each.offset for topic in answer.topics for each in topic.partitions], 4, ", ")


def _offset_fetch_answer(recorded: RecordedRequest, answer: Any) -> str:
    topics = [topic for group in answer.groups for topic in group.topics] or answer.topics
    committed = [
        f"{topic.name}-{each.partition_index}@{each.committed_offset}"
        for topic in topics
        for each in topic.partitions
        if each.committed_offset >= 0
    ]
    return f"committed {few(committed)}" if committed else "nothing committed"


def _join_answer(recorded: RecordedRequest, answer: Any) -> str:
    role = f"leader of {len(answer.members)}" if answer.leader == answer.member_id else "member"
    return f"generation {answer.generation_id}, {role}, {answer.protocol_name}"


def _sync_answer(recorded: RecordedRequest, answer: Any) -> str:
    from odradek.protocol.consumer_protocol import assigned_partitions

    try:
        assigned = assigned_partitions(answer.assignment)
    except Exception:  # of a group that has another protocol type
        return ""
    places = [f"{topic}-{index}" for topic, indexes in sorted(assigned.items()) for index in indexes]
    return f"assigned {few(places)}" if places else "assigned nothing"


def _heartbeat_answer(recorded: RecordedRequest, answer: Any) -> str:
    told = f"epoch {answer.member_epoch}"
    if answer.assignment is None:
        return told
    places = [
        f"{name_of(recorded.topics_by_id, each)}-{index}"
        for each in answer.assignment.topic_partitions
        for index in each.partitions
    ]
    return f"{told}, assigned {few(places)}" if places else f"{told}, assigned nothing"


def _metadata_answer(recorded: RecordedRequest, answer: Any) -> str:
    named = [topic.name for topic in answer.topics if topic.name]
    nodes = _count(len(answer.brokers), "node")
    return f"{nodes}, {few(named)}" if named else nodes


def _find_coordinator_answer(recorded: RecordedRequest, answer: Any) -> str:
    nodes = sorted({each.node_id for each in answer.coordinators} or {answer.node_id})
    return f"node {few(nodes)}"


_ANSWERS: dict[int, Callable[[RecordedRequest, Any], str]] = {
    0: _produce_answer,
    1: _fetch_answer,
    2: _list_offsets_answer,
    3: _metadata_answer,
    9: _offset_fetch_answer,
    10: _find_coordinator_answer,
    11: _join_answer,
    14: _sync_answer,
    22: lambda _, answer: f"producer {answer.producer_id} epoch {answer.producer_epoch}",
    68: _heartbeat_answer,
    76: _heartbeat_answer,
    78: _share_fetch_answer,
}


_LATEST, _EARLIEST = -1, -2
_TIMES = {_LATEST: "latest", _EARLIEST: "earliest", -3: "largest timestamp", -4: "earliest local", -5: "latest tiered"}


def describe_request(recorded: RecordedRequest, request: Any) -> str:
    """A short text about a request: group and transactional id, partitions, and details of some APIs."""
    found = recorded.summary
    words = [f"group {few(found.groups, 3)}"] if found.groups else []
    if found.transactional_ids:
        words.append(f"transaction {few(found.transactional_ids, 3)}")
    own = None if request is None else _REQUESTS.get(recorded.exchange.api_key)
    words.append(few(found.topics) if own is None else own(recorded, request))
    return " ".join(filter(None, words))


def _produce_request(recorded: RecordedRequest, request: Any) -> str:
    counts = [count_records(each.records) for topic in request.topic_data for each in topic.partition_data]
    places = few([position._replace(offset=None) for position in recorded.topics])
    total = None if None in counts else sum(count or 0 for count in counts)
    return f"{places} {_count(total, 'record')}{' acks=0' if request.acks == 0 else ''}"


def _list_offsets_request(recorded: RecordedRequest, request: Any) -> str:
    times = [each.timestamp for topic in request.topics for each in topic.partitions]
    shown = [
        f"{place} {_TIMES.get(time, f'at time {time}')}" for place, time in zip(recorded.topics, times, strict=False)
    ]
    return few(shown, 4, ", ")


def _metadata_request(recorded: RecordedRequest, request: Any) -> str:
    if request.topics is None:
        return "all topics"
    return few(recorded.topics) or "no topic"


def _join_request(recorded: RecordedRequest, request: Any) -> str:
    assignors = ",".join(each.name for each in request.protocols)
    return f"{'joins again' if request.member_id else 'joins'}, {request.protocol_type}: {assignors}"


def _member_epoch(recorded: RecordedRequest, request: Any) -> str:
    words = {0: "joins", -1: "leaves", -2: "leaves for a while"}
    return words.get(request.member_epoch, f"epoch {request.member_epoch}")


_REQUESTS: dict[int, Callable[[RecordedRequest, Any], str]] = {
    0: _produce_request,
    1: lambda recorded, _: few(recorded.topics) or "(nothing)",
    2: _list_offsets_request,
    3: _metadata_request,
    11: _join_request,
    12: lambda _, request: f"generation {request.generation_id}",
    14: lambda _, request: f"generation {request.generation_id}",
    17: lambda _, request: str(request.mechanism),
    18: lambda _, request: " ".join(filter(None, (request.client_software_name, request.client_software_version))),
    26: lambda _, request: "commit" if request.committed else "abort",
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
