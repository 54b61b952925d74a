"""Carrying an operation out on a broker, and what stays of it."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.generated.blocking.groups import Group
from odradek.broker.facade.generated.blocking.transcript import Transcript
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.records.watching import RecordFollow
from odradek.broker.facade.remote.encoding import encoded
from odradek.broker.facade.remote.operations import HANDLES, ForkOperations, Operation

if TYPE_CHECKING:
    from odradek.broker.faults.fault import Fault
    from odradek.broker.schemas.record_schemas import RecordSchemas
    from odradek.broker.transcript.recorded_request import RecordedRequest

_KEPT = 10_000


class UnknownHandleError(LookupError):
    """Nothing is kept under this id (any more)."""


class Calls:
    """What can be called: the broker, its clock, its groups, and the handles that verbs have left behind.

    Of handles the latest 10,000 are kept. Methods run in threads of the server, as the test's own would.
    """

    def __init__(self, broker: BlockingBroker, forks: ForkOperations) -> None:
        self._broker = broker
        self._forks = forks
        self._handles: OrderedDict[str, Any] = OrderedDict()

    def run(self, operation: Operation, identity: str | None, arguments: dict[str, Any]) -> Any:
        """The result as `json` writes it, or an iterator of such; raises what the method raises."""
        owner = self._owner(operation, identity)
        for parameter in operation.parameters:
            if parameter.handle is not None:
                arguments[parameter.name] = self._kept(parameter.handle, arguments[parameter.name])
        if operation.method == "GET" and isinstance(getattr(type(owner), operation.member, None), property):
            return self._answer(getattr(owner, operation.member))
        return self._answer(getattr(owner, operation.member)(*self._positional(operation, arguments), **arguments))

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

    def _owner(self, operation: Operation, identity: str | None) -> Any:
        if operation.owner is BlockingBroker:
            return self._broker
        if operation.owner is BrokerClock:
            return self._broker.clock
        if operation.owner is ForkOperations:
            return self._forks
        if operation.owner is Transcript:
            return self._broker.requests
        if operation.owner is Group:
            return self._broker.group(identity or "")
        return self._kept(operation.owner, identity)

    def _kept(self, kind: type, identity: str | None) -> Any:
        found = self._handles.get(identity or "")
        if not isinstance(found, kind):
            raise UnknownHandleError(f"there is no {kind.__name__} of the id {identity!r}")
        return found

    def _positional(self, operation: Operation, arguments: dict[str, Any]) -> list[Any]:
        if operation.member == "wait_hit":
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
        return map(encoded, result) if isinstance(result, Iterator) else encoded(result)
