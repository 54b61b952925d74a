"""A recorded request with its answer, as users see it, and the decoding of what the broker kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from odradek.broker.requests.recent_requests import TOLD, Exchange, Head, HttpMessage, Kept, RawExchange, Told, api_name
from odradek.broker.requests.request_topics import TopicsById, error_name, problems_of, subjects_of
from odradek.broker.transcript.request_text import Summary, line_of
from odradek.broker.transcript.topic_positions import FetchSessions, TopicPosition, flat, positions_of
from odradek.protocol.apis import API_BY_KEY, API_VERSIONS_KEY
from odradek.protocol.errors import ProtocolError
from odradek.protocol.headers import decode_request_header, decode_response_header
from odradek.protocol.message import ApiMessage
from odradek.protocol.message_codec import codec

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
        from odradek.broker.requests.request_topics import topic_names_filled

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
