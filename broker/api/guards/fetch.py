"""Rights of Fetch: READ on each topic for consumers, CLUSTER_ACTION on the cluster for followers.

They are asked for when the request comes, not again while it waits. Denied partitions are answered after the others,
like unknown ones, and are not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.api import fetch as plain
from odradek.broker.api.fetch_reader import FetchReader
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.parked_request import Parked
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchRequest, FetchResponse

if TYPE_CHECKING:
    from odradek.broker.partitions.fetch_sessions import FetchItem, TopicKey
    from odradek.broker.partitions.partition import Partition


def fetch(ctx: RequestContext, request: FetchRequest) -> FetchResponse | Parked:
    """Read what the client may read."""
    return plain.fetch(ctx, request, GuardedReader)


class GuardedReader(FetchReader):
    """A reader that leaves out what its client may not read. `_denied`: the topics, as the request names them."""

    __slots__ = ("_denied",)

    def __init__(self, ctx: RequestContext, request: FetchRequest) -> None:
        super().__init__(ctx, request)
        self._denied: frozenset[TopicKey] = frozenset()

    def open(self) -> None:
        super().open()
        self._denied = self._denied_topics()
        if self._denied:
            for item in self.items:
                if item.topic in self._denied:
                    item.partition = None

    def _denied_topics(self) -> frozenset[TopicKey]:
        if self.follower_id >= 0:
            if self.ctx.allows(Operation.CLUSTER_ACTION, Resource.CLUSTER, CLUSTER_NAME):
                return frozenset()
            return frozenset(item.topic for item in self.items)
        names = {item.topic: self._name_of(item) for item in self.items}
        allowed = self.ctx.allowed(
            Operation.READ, Resource.TOPIC, (name for name in names.values() if name is not None)
        )
        return frozenset(topic for topic, name in names.items() if name is not None and name not in allowed)

    def _name_of(self, item: FetchItem) -> str | None:
        """None for an id that nobody knows: it needs no right to be unknown."""
        if not self.by_id:
            return item.topic  # type: ignore[return-value]
        topic = self.ctx.services.topics.by_id(item.topic)  # type: ignore[arg-type]
        return item.name if topic is None else topic.name

    def _resolve(self, item: FetchItem) -> Partition | None:
        if item.topic in self._denied:
            item.error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            return None
        return super()._resolve(item)
