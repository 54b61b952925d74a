"""The requests of a transcript in their order: filtered, counted, printed, saved and loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from odradek.broker.mistakes import checked, did_you_mean
from odradek.broker.requests.recent_requests import LONGEST_KEPT_TEXT, REGISTRY_API, REGISTRY_KEY
from odradek.broker.transcript.recorded_request import Facts, RecordedRequest
from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.errors import ErrorCode
from odradek.protocol.shown import counted


class Conditions(TypedDict, total=False):
    """Conditions on a request, besides its API. A request has to meet all that are given.

    `topic`, and a `partition` of it; `group`; `transactional_id`; `client_id`; `node`; `error`: a name, True for any,
    False for none; `state`: ``answered``, ``waiting``, ``unanswered`` or ``cut``; `since`: seconds, as `at` of the
    request; `when`: a function of the `RecordedRequest`.
    """

    topic: str
    partition: int
    group: str
    transactional_id: str
    client_id: str
    node: int
    error: str | ErrorCode | bool
    state: str
    since: float
    when: Callable[[RecordedRequest], object]


class Requests(Sequence[RecordedRequest]):
    """Requests, oldest first. `str` has one line for each."""

    def __init__(self, requests: Iterable[RecordedRequest], facts: Facts) -> None:
        self._requests = list(requests)
        self._facts = facts

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[RecordedRequest]:
        return iter(self._requests)

    @overload
    def __getitem__(self, index: int) -> RecordedRequest: ...
    @overload
    def __getitem__(self, index: slice) -> Requests: ...
    def __getitem__(self, index: int | slice) -> RecordedRequest | Requests:
        if isinstance(index, slice):
            return Requests(self._requests[index], self._facts)
        try:
            return self._requests[index]
        except IndexError:
            raise IndexError(f"the list holds {counted(len(self), 'request')}") from None

    def filter(self, api: str | None = None, **conditions: Unpack[Conditions]) -> Requests:
        """The requests of an API, a topic, ...: see `Conditions`. ValueError for unknown names of APIs or errors."""
        selection = Selection(api, **conditions)
        return Requests((each for each in self._requests if selection.matches(each)), self._facts)

    def count(self, api: str | None = None, **conditions: Unpack[Conditions]) -> int:
        """How many requests match: see `filter`."""
        return len(self.filter(api, **conditions))

    def tail(self, api: str | None = None, *, limit: int = 100, **conditions: Unpack[Conditions]) -> Requests:
        """The newest ``limit`` requests that `filter` finds, oldest first. ValueError if ``limit`` is below 1."""
        if limit < 1:
            raise ValueError(f"limit={limit}: expected 1 request or more")
        selection = Selection(api, **conditions)
        found = islice((each for each in reversed(self._requests) if selection.matches(each)), limit)
        return Requests(reversed(list(found)), self._facts)

    def save(self, path: str | Path) -> None:
        """Write them as JSON lines, for `odradek transcript`."""
        from odradek.broker.transcript.json_lines import to_line

        with Path(path).open("w", encoding="utf-8") as file:
            for each in self:
                file.write(to_line(each) + "\n")

    def save_capture(self, path: str | Path, *, port: int | None = 9092) -> None:
        """Write them as a capture that Wireshark reads and decodes.

        The packets are made from the messages that were kept: see `transcript.capture`. Brokers get this `port`, by
        which Wireshark recognises Kafka. None keeps the real ports.
        """
        from odradek.broker.transcript.capture import write_capture

        with Path(path).open("wb") as file:
            write_capture(self, file, self._facts, port)

    def __str__(self) -> str:
        from odradek.broker.transcript.recorded_request import lines_of

        return "\n".join(lines_of(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)}>"


_API_KEYS = {name: spec.key for name, spec in API_BY_NAME.items()} | {REGISTRY_API: REGISTRY_KEY}
_STATES = ("answered", "waiting", "unanswered", "cut")


class Selection:
    """A filter of requests, which must meet all conditions given. ValueError for names that do not exist.

    `error`: a name, an `ErrorCode`, or True for any error and False for none. `when`: any other condition.
    """

    @checked
    def __init__(
        self,
        api: str | None = None,
        *,
        topic: str | None = None,
        partition: int | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        client_id: str | None = None,
        node: int | None = None,
        error: str | ErrorCode | bool | None = None,
        state: str | None = None,
        since: float | None = None,
        when: Callable[[RecordedRequest], object] | None = None,
        **unknown: object,
    ) -> None:
        for name in unknown:
            known = Conditions.__annotations__
            raise TypeError(f"no condition is called {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}")
        if api is not None and api not in _API_KEYS:
            near = did_you_mean(api, _API_KEYS)
            raise ValueError(f"no API is called {api!r}{near}; names are as in `odradek coverage`")
        if isinstance(error, str) and error not in ErrorCode.__members__:
            raise ValueError(f"no error is called {error!r}{did_you_mean(error, ErrorCode.__members__)}")
        if state is not None and state not in _STATES:
            raise ValueError(f"state={state!r}: a request is one of {', '.join(_STATES)}")
        if partition is not None and topic is None:
            raise ValueError(f"partition={partition}: name the topic too")
        self._api_key = None if api is None else _API_KEYS[api]
        self._topic = topic
        self._partition = partition
        self._group = group
        self._transactional_id = transactional_id
        self._client_id = client_id
        self._node = node
        self._error = error.name if isinstance(error, ErrorCode) else error
        self._state = state
        self._since = since
        self._when = when
        given: dict[str, Any] = {
            "api": api,
            "topic": topic,
            "partition": partition,
            "group": group,
            "transactional_id": transactional_id,
            "client_id": client_id,
            "node": node,
            "error": self._error,
            "state": state,
            "since": since,
            "when": getattr(when, "__name__", when),
        }
        self.text = ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)

    def matches(self, recorded: RecordedRequest) -> bool:
        """Whether the request meets all conditions. The cheap ones are checked first."""
        exchange = recorded.exchange
        return (
            (self._api_key is None or exchange.api_key == self._api_key)
            and (self._client_id is None or exchange.client_id == self._client_id[:LONGEST_KEPT_TEXT])
            and (self._node is None or exchange.node_id == self._node)
            and (self._since is None or recorded.at >= self._since)
            and (self._state is None or recorded.state == self._state)
            and (self._topic is None or self._concerns_topic(recorded))
            and (self._group is None or self._group in recorded.summary.groups)
            and (self._transactional_id is None or self._transactional_id in recorded.summary.transactional_ids)
            and (self._error is None or self._has_error(recorded))
            and (self._when is None or bool(self._when(recorded)))
        )

    def _concerns_topic(self, recorded: RecordedRequest) -> bool:
        return any(
            place.topic == self._topic
            and (self._partition is None or place.partition is None or place.partition == self._partition)
            for place in recorded.topics
        )

    def _has_error(self, recorded: RecordedRequest) -> bool:
        if isinstance(self._error, bool):
            return bool(recorded.errors) is self._error
        return self._error in recorded.errors


def load_transcript(lines: Iterable[str]) -> Requests:
    """The requests of a transcript that `Requests.save` wrote; raises `TranscriptError` for any other line."""
    from odradek.broker.transcript.json_lines import parse_lines

    requests, facts = parse_lines(lines)
    return Requests(requests, facts)
