"""Which of the requests are meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from odradek.broker.config.suggestion import did_you_mean
from odradek.broker.requests.exchange import REGISTRY_API, REGISTRY_KEY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.registry import API_BY_NAME

if TYPE_CHECKING:
    from odradek.broker.transcript.recorded_request import RecordedRequest

_API_KEYS = {name: spec.key for name, spec in API_BY_NAME.items()} | {REGISTRY_API: REGISTRY_KEY}
_STATES = ("answered", "waiting", "unanswered", "cut")


class Selection:
    """What a request has to be: everything that is given. ValueError for names that do not exist.

    `error`: a name, an `ErrorCode`, or True for any error and False for none. `when`: a further condition.
    """

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
    ) -> None:
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
        }
        self.text = ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)

    def __str__(self) -> str:
        return self.text or "any request"

    def matches(self, recorded: RecordedRequest) -> bool:
        """Whether the request is meant; the cheap questions first."""
        exchange = recorded.exchange
        return (
            (self._api_key is None or exchange.api_key == self._api_key)
            and (self._client_id is None or exchange.client_id == self._client_id)
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
