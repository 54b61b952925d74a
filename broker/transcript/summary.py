"""What was read out of a request and its answer, and what of a request can be told in words."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from odradek.broker.requests.exchange import Exchange
from odradek.broker.requests.topic_names import TopicsById
from odradek.broker.transcript.positions import TopicPosition
from odradek.protocol.message import ApiMessage


class Summary(NamedTuple):
    """What was read out of a request and its answer. `problems`: (code, "where ERROR: message")."""

    topics: tuple[TopicPosition, ...]
    groups: tuple[str, ...]
    transactional_ids: tuple[str, ...]
    problems: tuple[tuple[int, str], ...]


class Recorded(Protocol):
    """A `RecordedRequest`, as those see it who put it into words."""

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
