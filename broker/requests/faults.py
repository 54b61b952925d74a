"""A hook between decoding a request and its handler, for tests that need a broker to misbehave.

The dispatcher's `faults` is None unless a fault is set, so a broker without faults pays one attribute read per
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from odradek.broker.config.suggestion import did_you_mean
from odradek.broker.requests.bugs import UserCodeError
from odradek.broker.requests.context import CloseConnection, ConnectionInfo, RequestContext
from odradek.broker.requests.topic_names import topic_names_filled
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.registry import API_BY_KEY, API_BY_NAME

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock


class HasId(Protocol):
    """A node, as far as a condition sees it."""

    @property
    def id(self) -> int: ...


class FaultContext(Protocol):
    """What a fault's condition is told besides the request."""

    @property
    def api_key(self) -> int: ...

    @property
    def api_version(self) -> int: ...

    @property
    def client_id(self) -> str | None: ...

    @property
    def correlation_id(self) -> int: ...

    @property
    def connection(self) -> ConnectionInfo:
        """The client's connection: its addresses and software."""

    @property
    def node(self) -> HasId:
        """The node that was asked."""


Condition = Callable[[FaultContext, Any], object]


class Fault:
    """What to do with matching requests.

    `api`: which API, by name or key (None = any). `node`: at which node, by id (None = any). `times`: how often,
    at least once (None = until removed). `when`: a further condition, called with a `FaultContext` and the
    request (a class of `odradek.protocol.messages`); topics that the client named by id have their names there.

    What happens is one of `answer` (an error for the whole request, an `ErrorCode` or its name), `drop`
    (serve nothing, answer nothing), `lose` (serve, but lose the answer), `cut` (close the connection), or nothing.
    `delay_ms` holds the request back before that, on the broker's clock. `hits` counts the requests that matched.

    ValueError for an unknown API or error, for two things to do, and for numbers that make no sense.
    """

    __slots__ = ("answer", "api", "cut", "delay_ms", "drop", "hits", "lose", "node", "times", "when")

    def __init__(
        self,
        api: str | int | None = None,
        times: int | None = None,
        when: Condition | None = None,
        answer: ErrorCode | str | None = None,
        drop: bool = False,
        lose: bool = False,
        cut: bool = False,
        delay_ms: int = 0,
        node: int | None = None,
    ) -> None:
        self.api = _api_key(api)
        self.times = times
        self.when = when
        self.answer = _error_code(answer)
        self.drop = drop
        self.lose = lose
        self.cut = cut
        self.delay_ms = delay_ms
        self.node = node
        self.hits = 0
        if sum((self.answer is not None, drop, lose, cut)) > 1:
            raise ValueError("a fault does one of answer, drop, lose, cut")
        if times is not None and times < 1:
            raise ValueError(f"times={times}: a fault acts at least once; None = until it is removed")
        if delay_ms < 0:
            raise ValueError(f"delay_ms={delay_ms}: a delay is not negative")
        if when is not None and not callable(when):
            raise TypeError(f"when={when!r}: expected a function of the context and the request")

    def __repr__(self) -> str:
        given = {"api": None if self.api is None else API_BY_KEY[self.api].name}
        given |= {name: getattr(self, name) for name in ("times", "node", "when", "drop", "lose", "cut", "delay_ms")}
        given["answer"] = None if self.answer is None else self.answer.name
        shown = [f"{name}={value!r}" for name, value in given.items() if value]
        return f"Fault({', '.join(shown)})"

    @property
    def acts(self) -> bool:
        """Whether the request is not simply served, perhaps later."""
        return self.answer is not None or self.drop or self.lose or self.cut

    def matches(self, context: RequestContext, request: Any) -> bool:
        """Whether this fault is for the request. A condition that raises is the test's mistake."""
        if self.api is not None and self.api != context.api_key:
            return False
        if self.node is not None and self.node != context.node.id:
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        if self.when is None:
            return True
        try:
            with topic_names_filled(request, context.services.topics):
                return bool(self.when(context, request))
        except Exception as error:
            raise UserCodeError(f"the condition of {self!r} raised {error!r}") from error


class FaultSet:
    """The faults of a cluster, tried in the order in which they were given.

    One that only counts or delays lets the following ones be tried too; the first that acts ends it.
    """

    __slots__ = ("faults",)

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = list(faults)

    async def apply(self, context: RequestContext, request: Any, clock: BrokerClock) -> Fault | None:
        """Act on the request; return the fault that stands in the place of the answer, or None to serve as usual."""
        for fault in self.faults:
            if not fault.matches(context, request):
                continue
            fault.hits += 1
            if fault.delay_ms:
                await clock.sleep(fault.delay_ms / 1000)
            if fault.cut:
                raise CloseConnection("cut by a fault")
            if fault.answer is not None:
                raise KafkaError(fault.answer, "answered by a fault")
            if fault.acts:
                return fault
        return None


def checked_faults(faults: Iterable[Any], nodes: Iterable[int]) -> list[Fault]:
    """Faults as a user gives them: one by one or in lists. TypeError for anything else, ValueError for a node.

    `nodes`: the ids of the cluster's nodes.
    """
    chosen: list[Fault] = []
    known = list(nodes)
    for fault in faults:
        if isinstance(fault, list | tuple):
            chosen += checked_faults(fault, known)
        elif not isinstance(fault, Fault):
            raise TypeError(f"expected odradek.Fault objects, not {fault!r}")
        elif fault.node is not None and fault.node not in known:
            raise ValueError(f"{fault!r}: no node {fault.node}; the cluster has {', '.join(map(str, known))}")
        else:
            chosen.append(fault)
    return chosen


def _api_key(api: str | int | None) -> int | None:
    if isinstance(api, str):
        spec = API_BY_NAME.get(api)
        if spec is None:
            near = did_you_mean(api, API_BY_NAME)
            raise ValueError(f"no API is called {api!r}{near}; names are as in `odradek coverage`")
        return spec.key
    if api is not None and api not in API_BY_KEY:
        raise ValueError(f"no API has the key {api}")
    return api


def _error_code(answer: ErrorCode | str | None) -> ErrorCode | None:
    if answer is None:
        return None
    if isinstance(answer, str):
        if answer not in ErrorCode.__members__:
            raise ValueError(f"no error is called {answer!r}{did_you_mean(answer, ErrorCode.__members__)}")
        answer = ErrorCode[answer]
    if not isinstance(answer, ErrorCode):
        raise TypeError(f"answer={answer!r}: expected an odradek.ErrorCode or its name")
    if answer is ErrorCode.NONE:
        raise ValueError("answer=NONE is no error")
    return answer
