"""Which rights an API needs. Each handler's registration says it: `@handles(XRequest, access=...)`.

`OPEN`: none. `Whole`: one on the cluster, without which the whole request is refused before its handler is called.
`ByItem`: rights on the topics, groups and so on that the request names; the handler asks with `ctx.allows`, or a guard
stands in its place. Nothing of all this runs in a cluster without an authorizer: the dispatcher swaps a route's
function when it makes the route.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.security.acl import Operation, Resource

Serve = Callable[..., Any]
"""A handler: (context, request) -> response."""
CLUSTER_REFUSED = "Cluster authorization failed."
"""Kafka's own text for CLUSTER_AUTHORIZATION_FAILED."""
GROUP_REFUSED = "Group authorization failed."
TOPIC_REFUSED = "Topic authorization failed."
TRANSACTIONAL_ID_REFUSED = "Transactional Id authorization failed."
_NEEDS = "needs permission"


class Asking(Protocol):
    """The part of a request's context that a check uses."""

    def allows(self, operation: Operation, resource: Resource, name: str, *, tell: bool = True) -> bool:
        """Whether the client may do this."""

    def needs_permission(self, operation: Operation) -> str:
        """The error for a client that lacks this right on the cluster."""


class Access:
    """The rights that an API needs. `needs`: each right that is asked for, as operation and kind of resource."""

    __slots__ = ("needs",)

    def __init__(self, *needs: tuple[Operation, Resource]) -> None:
        self.needs = needs

    def guarded(self, serve: Serve) -> Serve:
        """The function that replaces the handler `serve` in a cluster with an authorizer."""
        return serve


class Whole(Access):
    """Needs a right on the cluster; of several `operations` any one will do.

    `message` goes to the client where it is refused (None: no text), in place of the one that names the operation.
    """

    __slots__ = ("_message",)

    def __init__(self, *operations: Operation, message: str | None = _NEEDS) -> None:
        from odradek.broker.security.acl import Resource

        super().__init__(*((operation, Resource.CLUSTER) for operation in operations))
        self._message = message

    def guarded(self, serve: Serve) -> Serve:
        def checked(ctx: Asking, request: Any) -> Any:
            self.check(ctx)
            return serve(ctx, request)

        return checked

    def check(self, ctx: Asking) -> None:
        """CLUSTER_AUTHORIZATION_FAILED without any of the rights; only the refusal of the last one is reported."""
        from odradek.broker.security.acl import CLUSTER_NAME

        last = len(self.needs) - 1
        for place, (operation, resource) in enumerate(self.needs):
            if ctx.allows(operation, resource, CLUSTER_NAME, tell=place == last):
                return
        message = self._message
        if message is _NEEDS:
            message = ctx.needs_permission(self.needs[last][0])
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, message)


class ByItem(Access):
    """Needs rights on what the request names.

    `guard` names a function of the handler's module that takes the place of the handler: it leaves out what the client
    may not use, calls the handler with the rest, and adds the errors. Without one the handler asks by itself.
    """

    __slots__ = ("guard",)

    def __init__(self, *needs: tuple[Operation, Resource], guard: str = "") -> None:
        super().__init__(*needs)
        self.guard = guard

    def guarded(self, serve: Serve) -> Serve:
        if not self.guard:
            return serve
        guard: Serve = getattr(sys.modules[serve.__module__], self.guard)
        return guard


OPEN = Access()
"""Every client with a connection may send it."""
