"""Executes operations on a broker: arguments from the request, the result as JSON, handles that are kept."""

from __future__ import annotations

import secrets
import types
import typing
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.console import Console, PageLooks
from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.generated.blocking.coordinators import Group, TransactionHold
from odradek.broker.facade.generated.blocking.topics import Topic
from odradek.broker.facade.generated.blocking.transcript import Transcript
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.records.record import Listed
from odradek.broker.facade.records.watching import RecordFollow
from odradek.broker.facade.remote.json_values import decoded, encoded
from odradek.broker.facade.remote.operations import HANDLES, ForkOperations, Operation, Parameter
from odradek.broker.facade.verbs.broker import TrioBroker
from odradek.broker.facade.verbs.coordinators import TrioTransactionHold
from odradek.broker.mistakes import did_you_mean
from odradek.http_access import json_of

if TYPE_CHECKING:
    from odradek.broker.faults.fault import Fault
    from odradek.broker.schemas.record_schemas import RecordSchemas
    from odradek.broker.transcript.recorded_request import RecordedRequest


def of_body(operation: Operation, body: bytes) -> dict[str, Any]:
    """The arguments in a JSON object; an empty body is an empty object. Raises ValueError or TypeError."""
    data = json_of(body) if body else {}
    if not isinstance(data, dict):
        raise TypeError("the body: expected a JSON object with the arguments")
    return _chosen(operation, data)


def of_query(operation: Operation, query: Mapping[str, str]) -> dict[str, Any]:
    """The arguments in the query of a URL, where every value is text."""
    hints = {each.name: each.hint for each in operation.parameters}
    return _chosen(operation, {name: _of_text(hints.get(name), text) for name, text in query.items()})


def _of_text(hint: Any, text: str) -> Any:
    """The value of a text in a URL: a number, or true or false, where such a value is expected."""
    kinds = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if bool in kinds and text in ("true", "false"):
        return text == "true"
    if int in kinds and text.lstrip("-").isdecimal() and len(text) < 20:
        return int(text)
    if float in kinds:
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _chosen(operation: Operation, data: dict[str, Any]) -> dict[str, Any]:
    known = {each.name: each for each in operation.parameters}
    for name in data:
        if name not in known:
            there = f"it takes {', '.join(known)}" if known else "it takes no arguments"
            raise TypeError(f"{operation.name} has no argument {name!r}{did_you_mean(name, known)}; {there}")
    missing = [each.name for each in known.values() if each.default is ... and each.name not in data]
    if missing:
        raise TypeError(f"{operation.name} needs {', '.join(missing)}")
    return {name: _value(known[name], each) for name, each in data.items()}


def _value(parameter: Parameter, data: Any) -> Any:
    return decoded(str if parameter.handle else parameter.hint, data, parameter.name)


T = TypeVar("T")

_KEPT = 10_000
_READERS = 4
"""How many waits may read at the same time what has come."""


class UnknownHandleError(LookupError):
    """Nothing is kept under this id (any more)."""


class _Waits(TrioBroker):
    """The waits of a broker in another thread, as tasks of the server's trio run."""

    def __init__(self, broker: BlockingBroker) -> None:
        super().__init__(broker.cluster, broker._look)
        self._readers = trio.CapacityLimiter(_READERS)

    async def _offload(self, function: Callable[[], T]) -> T:
        return await trio.to_thread.run_sync(function, limiter=self._readers)


class Calls:
    """The objects that can be called: the broker, its clock, its groups, and the handles that verbs have returned.

    Of handles the latest 10,000 are kept. Methods run in threads of the server, as the test's own would.
    """

    def __init__(self, broker: BlockingBroker, forks: ForkOperations) -> None:
        self._broker = broker
        self._forks = forks
        self._waits = _Waits(broker)
        self._handles: OrderedDict[str, Any] = OrderedDict()

    def run(self, operation: Operation, identity: str | None, arguments: dict[str, Any]) -> Any:
        """The result as `json` writes it, or an iterator of such; raises what the method raises."""
        owner = self._owner(self._broker, operation, identity)
        for parameter in operation.parameters:
            if parameter.handle is not None:
                arguments[parameter.name] = self._kept(parameter.handle, arguments[parameter.name])
        if operation.method == "GET" and isinstance(getattr(type(owner), operation.member, None), property):
            return self._answer(getattr(owner, operation.member))
        return self._answer(getattr(owner, operation.member)(*self._positional(operation, arguments), **arguments))

    async def wait(self, operation: Operation, identity: str | None, arguments: dict[str, Any]) -> Any:
        """As `run`, for a wait, in a task of the server; a thread only reads what has come."""
        waits = self._waits
        owner = self._owner(waits, operation, identity)
        if isinstance(owner, TransactionHold):
            owner = TrioTransactionHold(owner._held, waits._always)
        result = await getattr(owner, operation.member)(*self._positional(operation, arguments), **arguments)
        return await waits._offload(lambda: self._answer(result))

    def follow(self, told: Callable[[RecordedRequest], None]) -> Undo:
        """Have a function called, in the broker's thread, with each request that has come to its end."""
        return self._broker.requests.follow(told)

    def follow_records(self, **arguments: Any) -> RecordFollow:
        """Follow a topic; the arguments are those of `RecordFollow`."""
        return RecordFollow(self._broker._look, self._broker.cluster.topics, **arguments)

    @property
    def record_schemas(self) -> RecordSchemas:
        """What is known of the records' meaning."""
        return self._broker.cluster.record_schemas

    def _owner(self, broker: BlockingBroker | TrioBroker, operation: Operation, identity: str | None) -> Any:
        owners: dict[type, Callable[[], Any]] = {
            BlockingBroker: lambda: broker,
            BrokerClock: lambda: broker.clock,
            Console: lambda: Console(broker.cluster, broker._look),
            ForkOperations: lambda: self._forks,
            Group: lambda: broker.group(identity or ""),
            PageLooks: lambda: PageLooks(broker),
            Topic: lambda: broker.topic(identity or ""),
            Transcript: lambda: broker.requests,
        }
        owner = owners.get(operation.owner)
        return self._kept(operation.owner, identity) if owner is None else owner()

    def _kept(self, kind: type, identity: str | None) -> Any:
        found = self._handles.get(identity or "")
        if not isinstance(found, kind):
            raise UnknownHandleError(f"there is no {kind.__name__} of the id {identity!r}")
        return found

    def _positional(self, operation: Operation, arguments: dict[str, Any]) -> list[Any]:
        if (operation.owner, operation.member) == (BlockingBroker, "wait"):
            return [self._fault(arguments.pop("fault"))]
        return [each for one in operation.parameters if one.many for each in arguments.pop(one.name, ())]

    def _fault(self, number: int) -> Fault:
        faults = self._broker.faults
        if not 0 <= number < len(faults):
            raise ValueError(f"there is no fault {number}: {len(faults)} are set, counted from 0")
        return faults[number]

    def _answer(self, result: Any) -> Any:
        kind = HANDLES.get(type(result))
        if kind is not None:
            identity = secrets.token_hex(4)
            self._handles[identity] = result
            if len(self._handles) > _KEPT:
                self._handles.popitem(last=False)
            return {"id": identity, "path": f"/v1/{kind}/{identity}"}
        return map(encoded, iter(result)) if isinstance(result, Listed) else encoded(result)
