"""The last requests to a cluster, for failure reports, transcripts and captures."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from odradek.broker.requests.exchange import (
    ANSWER,
    ANSWER_SIZE,
    API_KEY,
    FRAME,
    SIZE,
    Exchange,
    Frame,
    Head,
    Kept,
    RawExchange,
    Told,
    Trimmed,
    api_name,
)
from odradek.protocol.file_slice import FileSlice, Part, joined
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import HEADER_SIZE
from odradek.protocol.shown import SECRET_REQUESTS

if TYPE_CHECKING:
    from odradek.broker.requests.request_topics import TopicsById

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
            from odradek.broker.requests.request_log import problems_of

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
