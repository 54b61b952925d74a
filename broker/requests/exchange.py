"""A request with its answer, as the broker keeps it: raw bytes, and few of them.

Small messages are kept as the bytes that came or went. Of larger ones the payload of records is left out (`Trimmed`),
of the largest all but the beginning (`Head`). Messages that may hold a password are never kept: what they are about is
told at once (`Told`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.headers import CLIENT_ID_AT, REQUEST_HEADER

if TYPE_CHECKING:
    from odradek.broker.requests.request_topics import Subjects

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
