"""A hook between decoding a request and its handler, for tests that need a broker to misbehave.

The dispatcher's `faults` is None unless a fault is set, so a broker without faults pays one attribute read per
request.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import trio

from odradek.broker.clock import BrokerClock, check_number, in_event_loop
from odradek.broker.mistakes import NearNames, checked, did_you_mean
from odradek.broker.requests.bugs import UserCodeError
from odradek.broker.requests.context import CloseConnection, ConnectionInfo, RequestContext
from odradek.broker.requests.request_topics import topic_names_filled
from odradek.protocol.apis import API_BY_KEY, API_BY_NAME
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.file_slice import Part

if TYPE_CHECKING:
    import socket


class HasId(Protocol):
    """A node, as far as a condition sees it."""

    @property
    def id(self) -> int: ...


class FaultContext(Protocol):
    """The argument of a fault's condition besides the request."""

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
Serve = Callable[["socket.socket"], Awaitable[None]]
"""Does with a new connection what a fault says, until it has ended."""
_FETCH = 1
_SHOWN = (
    *("topic", "partition", "group", "client_id", "transactional_id"),
    *("times", "skip", "node", "when", "drop", "lose", "cut", "delay_ms", "registry"),
)
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")


class Step(NamedTuple):
    """A part of an answer, `after_ms` later than the one before; None as `data` ends the connection.

    `end`: how: "close", "reset", "half-close" (nothing leaves any more, requests are read on), "stall" (the same, and
    the client sees no end).
    """

    data: bytes | memoryview | None
    after_ms: int = 0
    end: str = "close"


class Fault(NearNames):
    """What to do with matching requests.

    `api`: which API, by name or key (None = any). `node`: at which node, by id (None = any). `times`: how often, at
    least once (None = until removed). `skip`: so many matching requests are served as usual before. `topic` and
    `partition`, `group`, `transactional_id`: what the request has to name, by name or by id, or fetch in its session; a
    request for a whole topic names all its partitions. `client_id`: who asks. `when`: a further condition, called with
    a `FaultContext` and the request (a class of `odradek.protocol.generated.messages`); topics that the client named by
    id have their names there.

    What happens is one of `answer` (an error for the whole request, an `ErrorCode` or its name), `drop`
    (serve nothing, answer nothing), `lose` (serve, but lose the answer), `cut` (close the connection), or nothing.
    `delay_ms` holds the request back before that, on the broker's clock. `hits` counts the requests that matched;
    `wait` waits for them.

    `registry`: the fault is for requests of the schema registry, by their method, the beginning of their path, or both:
    ``"POST"``, ``"/subjects/orders"``, ``"POST /subjects/orders"`` (True = any). The other conditions are then `times`
    and `skip`. `answer` is an error of the registry, such as ``50001`` (its first three digits are the HTTP status), or
    an HTTP status from 400 on. A delay passes in real time, as clients of HTTP wait in it.

    ValueError for an unknown API or error, for two things to do, and for numbers that make no sense.
    """

    __slots__ = (
        "_counted",
        "_hits",
        "_lock",
        "_passed",
        "_registry_request",
        "_waiting",
        "_was_set",
        "answer",
        "api",
        "client_id",
        "cut",
        "delay_ms",
        "drop",
        "group",
        "lose",
        "node",
        "partition",
        "registry",
        "skip",
        "times",
        "topic",
        "transactional_id",
        "when",
    )

    @checked
    def __init__(
        self,
        api: str | int | None = None,
        times: int | None = None,
        when: Condition | None = None,
        answer: ErrorCode | str | int | None = None,
        drop: bool = False,
        lose: bool = False,
        cut: bool = False,
        delay_ms: int = 0,
        node: int | None = None,
        *,
        topic: str | None = None,
        partition: int | None = None,
        group: str | None = None,
        client_id: str | None = None,
        transactional_id: str | None = None,
        skip: int = 0,
        registry: str | bool | None = None,
    ) -> None:
        check_counts(times, skip, delay_ms)
        self.registry = registry or None
        self._registry_request = ("", "")
        if self.registry is not None:
            self._registry_request = _registry_request(self.registry)
            conditions: dict[str, object] = {"api": api, "node": node, "topic": topic, "partition": partition}
            conditions |= {"group": group, "client_id": client_id, "transactional_id": transactional_id, "when": when}
            if given := [name for name, value in conditions.items() if value is not None]:
                raise ValueError(f"{given[0]}: a fault of the schema registry has no such condition")
        self.api = api_key(api)
        self.times = times
        self.when = when
        self.answer = error_code(answer) if self.registry is None else _registry_error(answer)
        self.drop = drop
        self.lose = lose
        self.cut = cut
        self.delay_ms = delay_ms
        self.node = node
        self.topic = topic
        self.partition = partition
        self.group = group
        self.client_id = client_id
        self.transactional_id = transactional_id
        self.skip = skip
        self._passed = 0
        self._hits = 0
        self._counted: Callable[[], int] | None = None
        self._lock = threading.Lock()
        self._was_set = False
        self._waiting: list[tuple[int, Future[None]]] = []
        if sum((self.answer is not None, drop, lose, cut)) > 1:
            raise ValueError("a fault does one of answer, drop, lose, cut")
        if partition is not None and (topic is None or partition < 0):
            raise ValueError(f"partition={partition}: a partition is a number of a topic's; name the topic too")
        if when is not None and not callable(when):
            raise TypeError(f"when={when!r}: expected a function of the context and the request")

    def __repr__(self) -> str:
        given: dict[str, Any] = {"api": None if self.api is None else API_BY_KEY[self.api].name}
        given |= {name: getattr(self, name) for name in _SHOWN}
        given["answer"] = self.answer.name if isinstance(self.answer, ErrorCode) else self.answer
        shown = [f"{name}={value!r}" for name, value in given.items() if value or (name == "partition" and value == 0)]
        return f"Fault({', '.join(shown)})"

    @property
    def hits(self) -> int:
        """How many requests have matched."""
        return self._hits if self._counted is None else self._counted()

    def count_elsewhere(self, counted: Callable[[], int]) -> None:
        """`hits` is what `counted` says from now on: the broker is in another process."""
        self._counted = counted

    @property
    def acts(self) -> bool:
        """Whether the request is not simply served, perhaps later."""
        return self.answer is not None or self.drop or self.lose or self.cut

    @property
    def tampers(self) -> bool:
        """Whether it does something to the bytes of the answer (`odradek.broker.faults.wire_fault`)."""
        return False

    def steps_of(self, parts: list[Part], response: Any) -> Sequence[Step]:
        """How an answer with these parts leaves, for a fault that tampers with it."""
        raise NotImplementedError

    def on_connect(self, node_id: int, listener: str) -> Serve | None:
        """The effect on a new connection at this node, if there is one; a matching connection is counted."""
        return None

    def matches(self, context: RequestContext, request: Any) -> bool:
        """Whether this fault is for the request. A condition that raises is the test's mistake."""
        if self.api is not None and self.api != context.api_key:
            return False
        if self.node is not None and self.node != context.node.id:
            return False
        if self.registry is not None or self._is_used_up:
            return False
        if self.client_id is not None and self.client_id != context.client_id:
            return False
        if self._has_subject and not self._concerns(context, request):
            return False
        if self.when is not None and not self._holds(self.when, context, request):
            return False
        return not self._skips()

    def matches_registry(self, method: str, path: str) -> bool:
        """Whether this fault is for a request of the schema registry."""
        if self.registry is None or self._is_used_up:
            return False
        wanted, start = self._registry_request
        return wanted in ("", method) and path.startswith(start) and not self._skips()

    @property
    def _is_used_up(self) -> bool:
        return self.times is not None and self._hits >= self.times

    def _skips(self) -> bool:
        """Count a match; whether it is one of the first that are served as usual."""
        self._passed += 1
        return self._passed <= self.skip

    def _holds(self, when: Condition, context: RequestContext, request: Any) -> bool:
        try:
            with topic_names_filled(request, context.services.topics):
                return bool(when(context, request))
        except Exception as error:
            raise UserCodeError(f"the condition of {self!r} raised {error!r}") from error

    @property
    def _has_subject(self) -> bool:
        return self.topic is not None or self.group is not None or self.transactional_id is not None

    def _concerns(self, context: RequestContext, request: Any) -> bool:
        from odradek.broker.requests.request_topics import subjects_of

        found = subjects_of(request, context.services.topics, _session(context, request))
        return (
            (self.topic is None or found.concern(self.topic, self.partition))
            and (self.group is None or self.group in found.groups)
            and (self.transactional_id is None or self.transactional_id in found.transactional_ids)
        )

    def note_hit(self) -> None:
        """A request has matched."""
        with self._lock:
            self._hits += 1
            reached = [future for count, future in self._waiting if count <= self._hits]
            self._waiting = [waiting for waiting in self._waiting if waiting[0] > self._hits]
        for future in reached:
            future.set_result(None)

    def when_hit(self, count: int) -> Future[None]:
        """Has a result as soon as `count` requests have matched."""
        check_number("count", count)
        future: Future[None] = Future()
        with self._lock:
            if self._hits < count:
                self._waiting.append((count, future))
                return future
        future.set_result(None)
        return future

    def wait(self, count: int = 1, *, timeout: float = 30.0) -> None:
        """Block until `count` requests have matched; TimeoutError after `timeout` seconds.

        RuntimeError in a trio run, which it would stop together with the broker of `open_broker`, and for a broker in
        another process: `broker.wait` waits there.
        """
        if trio.lowlevel.in_trio_run():
            raise RuntimeError("fault.wait() would block the trio run: await broker.wait(fault)")
        if self._counted is not None:
            raise RuntimeError("the fault is met in another process: broker.wait(fault) waits for that")
        check_number("timeout", timeout)
        if not wait([self.when_hit(count)], timeout).done:
            raise self.late(count, timeout)

    def late(self, count: int, timeout: float) -> TimeoutError:
        """The error of a wait for `count` hits that was in vain."""
        unset = "" if self._was_set else "; it was never set: broker.set_faults(fault)"
        return TimeoutError(
            f"{self!r} was met by {self.hits} requests in {timeout:g} s, not by {count}{unset}{in_event_loop()}"
        )


def _session(context: RequestContext, request: Any) -> Iterable[tuple[str, int]]:
    """The partitions of a request's fetch session, if their topics are known."""
    cache = context.services.fetch_sessions.get(context.node.id) if context.api_key == _FETCH else None
    session = None if cache is None else cache.find(request.session_id)
    if session is None:
        return
    for item in session.items.values():
        name = item.name if session.by_id else item.topic
        if isinstance(name, str):
            yield name, item.index


class FaultSet:
    """The faults of a cluster, tried in the order in which they were given.

    One that only counts or delays lets the following ones be tried too; the first that acts ends it.
    """

    __slots__ = ("faults",)

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = list(faults)

    def on_connect(self, node_id: int, listener: str) -> Serve | None:
        """The effect on a new connection in place of serving it, if there is one."""
        return next(filter(None, (fault.on_connect(node_id, listener) for fault in self.faults)), None)

    async def apply(self, context: RequestContext, request: Any, clock: BrokerClock) -> Fault | None:
        """Act on the request; return the fault that replaces the answer, or None to serve as usual."""
        for fault in self.faults:
            if not fault.matches(context, request):
                continue
            fault.note_hit()
            if fault.delay_ms:
                await clock.sleep(fault.delay_ms / 1000)
            if fault.cut:
                raise CloseConnection("cut by a fault")
            if isinstance(fault.answer, ErrorCode):
                raise KafkaError(fault.answer, "answered by a fault")
            if fault.acts:
                return fault
        return None


def check_waited(fault: object) -> None:
    """TypeError for what `broker.wait` does not wait for; it names the wait that does."""
    if not isinstance(fault, Fault):
        name = fault if isinstance(fault, str) else getattr(fault, "name", "orders")
        raise TypeError(
            f"broker.wait takes a fault, not {fault!r}; topics, groups and requests have a wait of their own:"
            f' broker.topic("{name}").wait(1)'
        )


def checked_faults(faults: Iterable[Any], nodes: Iterable[int] | None) -> list[Fault]:
    """Faults as a user gives them: one by one or in lists. TypeError for anything else, ValueError for a node.

    `nodes`: the ids of the cluster's nodes; None where they are not known.
    """
    chosen: list[Fault] = []
    known = None if nodes is None else list(nodes)
    for fault in faults:
        if isinstance(fault, list | tuple):
            chosen += checked_faults(fault, known)
        elif not isinstance(fault, Fault):
            raise TypeError(f"expected odradek.Fault objects, not {fault!r}")
        elif fault.node is not None and known is not None and fault.node not in known:
            raise ValueError(f"{fault!r}: no node {fault.node}; the cluster has {', '.join(map(str, known))}")
        else:
            fault._was_set = True
            chosen.append(fault)
    return chosen


def api_key(api: str | int | None) -> int | None:
    """The key of an API that is given by name or key; ValueError if there is none."""
    if isinstance(api, str):
        spec = API_BY_NAME.get(api)
        if spec is None:
            near = did_you_mean(api, API_BY_NAME)
            raise ValueError(f"no API is called {api!r}{near}; names are as in `odradek coverage`")
        return spec.key
    if api is not None and api not in API_BY_KEY:
        raise ValueError(f"no API has the key {api}")
    return api


def _registry_request(registry: str | bool) -> tuple[str, str]:
    """Method and beginning of the path, empty where any is meant; ValueError for anything else."""
    method, _, path = "".partition(" ") if registry is True else str(registry).partition(" ")
    if method.startswith("/") and not path:
        method, path = "", method
    if method.upper() not in ("", *_METHODS) or (path and not path.startswith("/")):
        raise ValueError(
            f"registry={registry!r}: expected a method ({', '.join(_METHODS)}), the beginning of a path, both as in"
            " 'POST /subjects/orders', or True"
        )
    return method.upper(), path


def _registry_error(answer: object) -> int | None:
    if answer is None:
        return None
    if not isinstance(answer, int) or isinstance(answer, bool | ErrorCode):
        raise TypeError(f"answer={answer!r}: expected a number, an error of the schema registry or an HTTP status")
    if not (400 <= answer <= 599 or 40000 <= answer <= 59999):
        raise ValueError(f"answer={answer}: expected an HTTP status from 400 on, or five digits such as 50001")
    return answer


def error_code(answer: ErrorCode | str | int | None) -> ErrorCode | None:
    """An error by itself or its name. ValueError for an unknown name and NONE, TypeError for anything else."""
    if answer is None:
        return None
    if isinstance(answer, str):
        if answer not in ErrorCode.__members__:
            raise ValueError(f"no error is called {answer!r}{did_you_mean(answer, ErrorCode.__members__)}")
        answer = ErrorCode[answer]
    if not isinstance(answer, ErrorCode):
        raise TypeError(f"answer={answer!r}: expected an odradek.ErrorCode or its name")
    if answer is ErrorCode.NONE:
        raise ValueError("answer=NONE is not an error")
    return answer


def check_counts(times: int | None, skip: int, delay_ms: int) -> None:
    """ValueError unless a fault acts at least once, after no less than no request and no time."""
    if times is not None and times < 1:
        raise ValueError(f"times={times}: a fault acts at least once; None = until it is removed")
    if skip < 0:
        raise ValueError(f"skip={skip}: the number of requests to let pass is not negative")
    if delay_ms < 0:
        raise ValueError(f"delay_ms={delay_ms}: a delay is not negative")


def check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    """ValueError unless it is one of these words."""
    if value not in known:
        raise ValueError(f"{name}={value!r}: expected one of {', '.join(known)}{did_you_mean(str(value), known)}")
