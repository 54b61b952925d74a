"""The last requests to a cluster with their answers, for failure reports, transcripts and captures.

Raw bytes are kept, and few of them: small messages as they came or went. Of larger ones the payload of records is left
out (`Trimmed`), of the largest all but the beginning (`Head`). Messages that may hold a password are never kept: what
they are about is told at once (`Told`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.file_slice import FileSlice, Part, joined
from odradek.protocol.headers import CLIENT_ID_AT, REQUEST_HEADER
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import HEADER_SIZE
from odradek.protocol.shown import SECRET_REQUESTS

if TYPE_CHECKING:
    from odradek.broker.requests.request_topics import Subjects, TopicsById

Frame: TypeAlias = bytes | memoryview
"""A request without its size; a view is one of the connection's receive buffer."""

Trimmed: TypeAlias = tuple[tuple[bytes, int], ...]
"""A frame in parts: the beginning of each, and how long it was. Only the payload of records is left out."""


class Head(NamedTuple):
    """The beginning of a frame that was too large to keep, and its size."""

    data: bytes
    size: int


class Told(NamedTuple):
    """The summary of a message that is not kept: its subjects, and the errors of an answer (`problems_of`)."""

    subjects: Subjects | None
    problems: tuple[tuple[int, str], ...]


class HttpMessage(NamedTuple):
    """A request to the schema registry, or its answer.

    `head`: ``POST /subjects/orders-value/versions`` or ``200``. `body`: its beginning; `size`: of all of it.
    """

    head: str
    body: bytes
    size: int


Kept: TypeAlias = bytes | Trimmed | Head | Told | HttpMessage | None
"""A message; None: nothing is kept."""

RawExchange: TypeAlias = list[Any]
"""An `Exchange` that may still change. A plain list, because one is made for every request: a class costs twice as
much."""


class Exchange(NamedTuple):
    """A request and its answer, in the order of a `RawExchange`.

    `seconds`: when it came, in the time of `ClockFace.source`; `answered`: when it was answered, 0 while it is not.
    `frame`: the request without its size. `answer`: the answer with its size, `answer_size`: without. `cut`: why the
    connection ended with it, None if it did not. `told`: what somebody has read out of it already.
    """

    seconds: float
    connection: str
    node_id: int
    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    size: int
    frame: Kept
    answered: float
    answer: Kept
    answer_size: int
    cut: str | None
    told: Any


REGISTRY_KEY: Final = -1
"""The `api_key` of a request to the schema registry beside the broker, which is no request of Kafka's protocol."""
REGISTRY_API: Final = "SchemaRegistry"
"""The name of the API with `REGISTRY_KEY`."""


def api_name(api_key: int) -> str:
    """The name of an API, as in ``odradek coverage``, or `REGISTRY_API`."""
    return REGISTRY_API if api_key == REGISTRY_KEY else API_BY_KEY[api_key].name


CONNECTION: Final = 1
API_KEY: Final = 3
VERSION: Final = 4
CLIENT_ID: Final = 6
SIZE: Final = 7
FRAME: Final = 8
ANSWERED: Final = 9
ANSWER: Final = 10
ANSWER_SIZE: Final = 11
CUT: Final = 12
TOLD: Final = 13
"""The places of these fields of an `Exchange` in a `RawExchange`."""


# -- Requests in versions that are not served: Kafka cuts such a client and tells it nothing, so reports name them.

UNSUPPORTED_KEPT: Final = 100
_LONGEST_ID: Final = 256


class UnsupportedRequest(NamedTuple):
    """One such request. `when_ms`: the broker's clock. `client`: its id, "" for none. `host`: its address.
    `served`: the versions that are, as `0 to 13`; "" if the API is not served at all."""

    when_ms: int
    client: str
    host: str
    api: str
    version: int
    served: str

    def __str__(self) -> str:
        if not self.served:
            return f"{self.api} is not served"
        return f"{self.api} is not served in version {self.version}, but in {self.served}"


def unsupported_request(when_ms: int, host: str, frame: Frame, versions: tuple[int, int] | None) -> UnsupportedRequest:
    """The API and version of a frame. `versions`: the lowest and highest served ones, None if the API is not served."""
    key, version, _, length = REQUEST_HEADER.unpack_from(frame)
    raw = bytes(frame[CLIENT_ID_AT : CLIENT_ID_AT + max(0, min(length, _LONGEST_ID))])
    spec = API_BY_KEY.get(key)
    api = f"API key {key}" if spec is None else spec.name
    served = "" if versions is None else f"{versions[0]} to {versions[1]}"
    return UnsupportedRequest(when_ms, raw.decode("utf-8", "replace"), host, api, version, served)


MAX_REQUESTS = 10_000
"""How many requests a transcript has at most; the oldest make room."""
WHOLE_BYTES = 1024
"""Messages up to this size are kept as they are, at once."""
LARGE_BYTES = 64 * 1024
"""Larger ones without records are kept up to this size; beyond it their beginning."""
MAX_LARGE_BYTES = 8 * 1024 * 1024
"""The limit for kept bytes of messages above WHOLE_BYTES. Beyond it the oldest lose theirs."""
LONGEST_KEPT_TEXT: Final = 256
"""How much is kept of a client id, and of the reason for a cut."""

_MAX_REQUESTS_OFF = 64
_LINES = 64
_SHOWN_OF_CLIENT_ID = 250
_PRODUCE_KEY = 0
_OVERHEAD = 150  # of a kept part, so that many small ones count
_MOST_PROBLEMS = 1000


class RecentRequests:
    """A ring of requests with their answers. Owner: the cluster; the dispatcher fills it.

    With `messages` it is a transcript: the last 10,000 requests and what they said, in at most 35 MB (usually a fifth
    of it). Without, it has the last 64 and nothing of what they said. `whole_bytes`: the size up to which the
    dispatcher keeps whole messages; -1: not at all. `watchers` are called when a request has been answered or cut.
    """

    def __init__(self, *, messages: bool = True) -> None:
        self.messages = messages
        self.whole_bytes = WHOLE_BYTES if messages else -1
        self.entries: deque[RawExchange] = deque(maxlen=MAX_REQUESTS if messages else _MAX_REQUESTS_OFF)
        self.watchers: list[Callable[[RawExchange], None]] = []
        self._large: deque[tuple[RawExchange, int, int]] = deque()
        self._large_bytes = 0

    def whole_bytes_of(self, api_key: int) -> int:
        """Up to which size messages of an API are kept as they are: none that may hold a password."""
        return min(self.whole_bytes, 0) if api_key in SECRET_REQUESTS else self.whole_bytes

    def lines(self) -> list[str]:
        """The last 64 requests as lines of text, newest last. Any thread may ask."""
        return [_line(Exchange._make(exchange)) for exchange in list(self.entries.copy())[-_LINES:]]

    def forget(self) -> None:
        """Forget all requests; those under way are not remembered."""
        self.entries.clear()
        self._large.clear()
        self._large_bytes = 0

    def ended(self, exchange: RawExchange) -> None:
        """Tell the watchers that a request has ended."""
        for watcher in list(self.watchers):
            watcher(exchange)

    # -- messages that are not kept as they are

    def keep_request(self, exchange: RawExchange, request: Any, frame: Frame, topics: TopicsById) -> None:
        """Keep the useful part of a request above `whole_bytes`."""
        size = len(frame)
        if exchange[API_KEY] == _PRODUCE_KEY:
            data = request.topic_data
            if len(data) == 1 and len(data[0].partition_data) == 1:
                records = data[0].partition_data[0].records
                kept = size if records is None else min(size, size - len(records) + HEADER_SIZE)
                if kept <= WHOLE_BYTES:  # up to the header of the batch; all behind it is records, and tags of length 0
                    exchange[FRAME] = ((bytes(frame[:kept]), size),)
                    return
            parts = _parts_of(Exchange._make(exchange), request, frame)
            if parts is None:
                exchange[FRAME] = Head(bytes(frame[:WHOLE_BYTES]), size)
            else:
                self._keep_parts(exchange, FRAME, parts, size)
        elif exchange[API_KEY] in SECRET_REQUESTS:
            from odradek.broker.requests.request_topics import subjects_of

            self._keep_told(exchange, FRAME, Told(subjects_of(request, topics) if size <= LARGE_BYTES else None, ()))
        else:
            self._keep_parts(exchange, FRAME, [bytes(frame[: LARGE_BYTES + 1])], size)

    def keep_answer(self, exchange: RawExchange, response: Any, parts: list[Part], size: int) -> None:
        """Keep the useful part of an answer above `whole_bytes`; `size` includes the four bytes of it."""
        if exchange[API_KEY] in SECRET_REQUESTS:
            from odradek.broker.requests.request_topics import problems_of

            self._keep_told(exchange, ANSWER, Told(None, tuple(islice(problems_of(response), _MOST_PROBLEMS))))
        else:
            self._keep_parts(exchange, ANSWER, parts, size)

    def _keep_parts(self, exchange: RawExchange, field: int, parts: Sequence[Part], size: int) -> None:
        """Views are records: the header of their first batch is kept."""
        trimmed: Trimmed = tuple(
            [(part, len(part)) if part.__class__ is bytes else (_head(part), len(part)) for part in parts]
        )
        kept = _OVERHEAD * len(trimmed)
        for head, _ in trimmed:
            kept += len(head)
        if kept > LARGE_BYTES:
            exchange[field] = Head(b"".join([head for head, _ in trimmed[:2]])[:WHOLE_BYTES], size)
            return
        exchange[field] = trimmed
        if kept > WHOLE_BYTES:
            self._count(exchange, field, kept)

    def _keep_told(self, exchange: RawExchange, field: int, told: Told) -> None:
        exchange[field] = told
        kept = 0
        for _, text in told.problems:
            kept += _OVERHEAD + len(text)
        if told.subjects is not None:
            topics, groups, transactional_ids = told.subjects
            for names in (topics, groups, transactional_ids):
                for name in names:
                    kept += 2 * _OVERHEAD + len(name)
            for partitions in topics.values():
                kept += _OVERHEAD * len(partitions)
        if kept > WHOLE_BYTES:
            self._count(exchange, field, kept)

    def _count(self, exchange: RawExchange, field: int, size: int) -> None:
        """A large message is kept: the oldest ones give way when they are too many."""
        self._large.append((exchange, field, size))
        self._large_bytes += size
        while self._large_bytes > MAX_LARGE_BYTES:
            oldest, kept_in, was = self._large.popleft()
            self._large_bytes -= was
            gone: Kept = Head(b"", oldest[SIZE] if kept_in == FRAME else oldest[ANSWER_SIZE] + 4)
            oldest[kept_in] = gone


def _head(part: Part) -> bytes:
    """The header of the first batch."""
    return part.head(HEADER_SIZE) if isinstance(part, FileSlice) else bytes(part[:HEADER_SIZE])


def _parts_of(exchange: Exchange, request: Any, frame: Frame) -> list[Part] | None:
    """The frame of a Produce request for several partitions, its records apart; None if it is not as we write it."""
    parts = codec(type(request), exchange.version).encode_parts(request)
    header = exchange.size - sum(map(len, parts))
    if header < 0 or not bytes(frame[header:]).startswith(joined(parts[:1])):
        return None
    return [bytes(frame[:header]), *parts]


def _line(exchange: Exchange) -> str:
    client: str | None = exchange.client_id
    return (
        f"{exchange.connection} {api_name(exchange.api_key)} v{exchange.version} "
        f"correlation {exchange.correlation_id} "
        f"client {client if client is None else client[:_SHOWN_OF_CLIENT_ID]!r} ({exchange.size} bytes)"
    )
