"""The operations of a broker over HTTP, derived from the methods of `BlockingBroker`, so that none is forgotten."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.broker import Broker
from odradek.broker.facade.console import Console, PageLooks
from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.generated.blocking.coordinators import Group, TransactionHold
from odradek.broker.facade.generated.blocking.topics import Topic
from odradek.broker.facade.generated.blocking.transcript import Transcript
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.view import GroupView
from odradek.broker.facade.records.record import ProducerRecord
from odradek.broker.facade.remote.json_values import hints_of
from odradek.broker.facade.state.snapshot import Snapshot
from odradek.broker.facade.topics import TopicView
from odradek.broker.facade.transcript_view import TranscriptView
from odradek.broker.mistakes import check_arguments

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ForkInfo:
    """A fork that runs. ``control``: the URL of its control API, which wants the same token."""

    id: str
    control: str
    bootstrap_servers: str


class ForkOperations:
    """Forks over HTTP."""

    @property
    def forks(self) -> list[ForkInfo]:
        """The forks of this broker that run in this process."""
        raise NotImplementedError

    def fork(self, data_dir: str | None = None) -> ForkInfo:
        """Start a second broker that begins with the state of this one, on ports of its own.

        It is in memory, or keeps its logs in ``data_dir``: an empty directory where the server runs, or one that is
        not there yet. It stays when the fork ends. The fork has a control API of its own, and a clock. It ends with
        `close_fork`, or with this server. ValueError for a directory that is not empty, RuntimeError when 100 forks
        run.
        """
        raise NotImplementedError

    def close_fork(self, fork: str) -> None:
        """End a fork, by its id; ValueError if none of it runs."""
        raise NotImplementedError


_HINTS: dict[tuple[str, str], Any] = {
    ("produce_all", "records"): Iterable[ProducerRecord | Any],
    ("wait", "fault"): int,
}
"""Arguments with another type in JSON: a fault is its index in ``faults``."""

HANDLES: dict[type, str] = {Undo: "undos", TransactionHold: "holds", Snapshot: "snapshots"}
"""A handle that a verb returns. The object stays with the broker. Its members are under this path, and it is an
argument by its id.
"""

OPERATED = (Undo, TransactionHold)
"""Handles with operations of their own; the others are arguments only."""

NOT_SERVED: dict[str, str] = {
    "BlockingBroker.cluster": "the cluster itself, for code in the broker's own thread",
    "BlockingBroker.clock": "its methods are under /v1/clock",
    "BlockingBroker.requests": "GET /v1/requests has them, /v1/requests/stream the ones to come",
    "BlockingBroker.group": "its properties and methods are under /v1/groups/{group}",
    "BlockingBroker.topic": "its properties and methods are under /v1/topics/{topic}",
    "BrokerClock.attach": "for the broker's own trio run",
    "BrokerClock.current_time": "seconds from an arbitrary origin, for trio",
    "BrokerClock.deadline_to_sleep_time": "for trio",
    "BrokerClock.seconds_until": "for trio",
    "BrokerClock.move_on_after": "for the broker's own trio run",
    "BrokerClock.sleep": "for the broker's own trio run",
    "BrokerClock.sleep_until_ms": "for the broker's own trio run",
    "BrokerClock.start_clock": "for trio",
    "BrokerClock.stopped": "freeze and resume do it",
    "Transcript.all": "filter without conditions",
    "Transcript.count": "the length of what filter answers",
    "Transcript.follow": "GET /v1/requests/stream",
    "Transcript.index": "for Python",
    "Transcript.save": "the answer of filter can be kept",
    "Transcript.save_capture": "odradek transcript makes a capture of what was kept",
}
"""Public members that have no operation, and why."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument. ``default`` is ``...`` where it has to be given; ``many``: the argument is a list of them."""

    name: str
    hint: Any
    default: Any = ...
    many: bool = False

    @property
    def handle(self) -> type | None:
        """The kind of handle that an argument names by its id; None for other arguments."""
        return self.hint if self.hint in HANDLES else None


PLACE = re.compile(r"/\{(\w+)\}")
"""Where a path names one of many owners."""
_BLOCK = re.compile(r"``(?:async )?with``[^.]*\.\s*")
_PYTHON = "In Python"
_PARTITION = re.compile(r'\("(\w+)", (\d+)\)')


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the control API: ``GET`` reads, ``POST`` waits or changes.

    ``owner``: whose ``member`` it is. ``path`` has ``{id}``, ``{topic}`` or ``{group}`` where one of many owners is
    meant. ``doc``: what the member does, without what only Python has.
    """

    owner: type
    member: str
    method: str
    path: str
    parameters: tuple[Parameter, ...]
    result: Any
    doc: str

    @property
    def waits(self) -> bool:
        """Whether it waits for clients, until its ``timeout``."""
        return self.member == "wait"

    @property
    def name(self) -> str:
        """Its name on the command line: ``kill-node``, ``clock advance``."""
        return PLACE.sub("", self.path.removeprefix("/v1/")).replace("/", " ")


@functools.cache
def operations() -> tuple[Operation, ...]:
    """All of them, in the order of their paths."""
    found = [
        *_of(BlockingBroker, "/v1", Broker),
        *_of(PageLooks, "/v1", PageLooks),
        *_of(Console, "/v1", None),
        *_of(BrokerClock, "/v1/clock", None),
        *_of(Group, "/v1/groups/{group}", GroupView),
        *_of(Topic, "/v1/topics/{topic}", TopicView),
        *_of(ForkOperations, "/v1", None),
        *_of(Transcript, "/v1/requests", TranscriptView),
        *(each for owner in OPERATED for each in _of(owner, f"/v1/{HANDLES[owner]}/{{id}}", None)),
    ]
    return tuple(sorted(found, key=lambda operation: (operation.path, operation.method)))


def operation_of(owner: type, member: str) -> Operation:
    """The operation of a member; KeyError if it has none."""
    return _by_member()[owner, member]


@functools.cache
def _by_member() -> dict[tuple[type, str], Operation]:
    return {(each.owner, each.member): each for each in operations()}


def is_served(owner: type, member: str) -> bool:
    """Whether a member of this name is an operation, if it is a function or a property."""
    return not member.startswith("_") and f"{owner.__name__}.{member}" not in NOT_SERVED


def _of(owner: type, path: str, looks: type | None) -> Iterator[Operation]:
    for name, member in inspect.getmembers_static(owner):
        if not is_served(owner, name):
            continue
        function = member.fget if isinstance(member, property) else member
        if not inspect.isfunction(function):
            continue
        is_look = isinstance(member, property) or (looks is not None and name in vars(looks)) or name == "now_ms"
        hints = hints_of(function)
        yield Operation(
            owner,
            name,
            "GET" if is_look else "POST",
            path if (owner, name) == (Transcript, "filter") else f"{path}/{name.replace('_', '-')}",
            tuple(_parameters(function, hints)),
            hints.get("return"),
            _doc_over_http(inspect.getdoc(member) or ""),
        )


def _doc_over_http(doc: str) -> str:
    """A docstring without sentences on ``with`` and paragraphs that begin with "In Python"; partitions as in JSON."""
    paragraphs = (_BLOCK.sub("", each).rstrip() for each in doc.split("\n\n") if not each.startswith(_PYTHON))
    return _PARTITION.sub(r'"\1-\2"', "\n\n".join(filter(None, paragraphs)))


def _parameters(function: Any, hints: dict[str, Any]) -> Iterator[Parameter]:
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        hint = _HINTS.get((function.__name__, name), hints[name])
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            conditions = hints_of(typing.get_args(hint)[0]).items()
            yield from (Parameter(each, kind | None, None) for each, kind in conditions if not _takes_functions(kind))
            continue
        if _takes_functions(hint):
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            yield Parameter(name, list[typing.get_args(hint)[0]], (), many=True)  # type: ignore[misc]
        else:
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            yield Parameter(name, hint, default)


def _takes_functions(hint: Any) -> bool:
    """Serializers run in the caller's process, before anything is sent."""
    return any(
        getattr(typing.get_origin(each), "__name__", "") == "Callable" for each in (hint, *typing.get_args(hint))
    )


def over_http(owner: type, *, but: Collection[str] = ()) -> Callable[[type[T]], type[T]]:
    """Give a class the members of ``owner`` that the control API serves: each is a request, with the same arguments.

    Members that the class has itself stay, and those in ``but`` are inherited. The class has a ``_remote``, and the
    ``_identity`` of a handle.
    """

    def fill(kind: type[T]) -> type[T]:
        for name, member in inspect.getmembers_static(owner):
            function = member.fget if isinstance(member, property) else member
            has = name in vars(kind) or name in but or not is_served(owner, name)
            if inspect.isfunction(function) and not has:
                ask = _request(owner, name, function)
                setattr(kind, name, property(ask) if isinstance(member, property) else ask)
        return kind

    return fill


def _request(owner: type, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def ask(self: Any, *given: Any, **named: Any) -> Any:
        check_arguments(function, (self, *given), named)
        try:
            bound = inspect.signature(function).bind(self, *given, **named)
        except TypeError:
            function(self, *given, **named)  # Python says of it what it says in the broker's own process
            raise
        bound.apply_defaults()
        _, *arguments = bound.arguments.items()
        return self._remote.operate(owner, name, getattr(self, "_identity", None), dict(arguments))

    return ask
