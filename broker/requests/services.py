"""The parts of a cluster that request handlers work with."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from odradek.broker.requests.recent_requests import UNSUPPORTED_KEPT, UnsupportedRequest
from odradek.broker.security.denials import Denials

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.config.loggers import LogLevels
    from odradek.broker.controller.controller import Controller
    from odradek.broker.controller.quorum import Quorum
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.coordinator.share_state.service import Persister, ShareStateService
    from odradek.broker.coordinator.transaction.service import TransactionService
    from odradek.broker.metadata.node import Node
    from odradek.broker.partitions.fetch_sessions import FetchSessionCache
    from odradek.broker.partitions.partition_registry import PartitionRegistry
    from odradek.broker.partitions.share.manager import SharePartitions
    from odradek.broker.requests.handlers import HandlerRegistry
    from odradek.broker.security.authorizer import Authorizer
    from odradek.broker.security.quotas.quotas import Quotas
    from odradek.broker.telemetry.service import TelemetryService
    from odradek.broker.worker import Worker


class AnswerCache:
    """The answers that handlers made from the metadata image. This one keeps none: each answer is made anew."""

    def of(self, api: str, version: int) -> Mapping[Hashable, Any]:
        """The answers of one API that were made of this version of its facts."""
        return {}

    def keep(self, api: str, key: Hashable, answer: Any, size: int) -> None:
        """Add an answer to what `of` gave last. `size`: bytes of the key and the answer, about."""

    @property
    def topics(self) -> dict[Any, tuple[Any, Any]]:
        """Parts of answers that tell of a topic: what each was made of, and the part."""
        return {}


# -- Parts of the cluster that a start leaves out.

T = TypeVar("T")


class Deferred(Generic[T]):
    """A part that is imported and made by the first call: `services.groups()`.

    Imports are more than half of what a start costs, and most brokers never use every part.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.made: T | None = None
        """The part, or None while nobody has needed it."""

    def __call__(self) -> T:
        """The part, made now if need be."""
        made = self.made
        if made is None:
            made = self.made = self._make()
        return made


# -- all parts


class Services:
    """The parts of a broker in `ctx.services`.

    The cluster makes one for all its nodes and fills it once; only `cluster_id` changes later: a log directory has its
    own. `face` is the clock's, to be read with every request. `image` is the cluster's metadata, to be read; whoever
    changes it asks the `controller`. `topics` has the live partitions. `answers` may have encoded answers.
    `fetch_sessions` has node ids as keys. `authorizer` (of the brokers) and `controller_authorizer` are None where
    everybody may do everything; `denials` has the refusals. `handlers` has those of each node. `auto_created`: topics
    that were created as a client asked for them -> its id. `unserved`: the last requests in versions that are not
    served. `share_persister` keeps the states of share groups: `share_states`, or nobody. `quotas` is None unless some
    user or client id has a quota.
    `worker` does what takes long with large batches.
    `zookeeper_offsets`: (group, topic, partition) to the offset that OffsetCommit version 0 has put into ZooKeeper.
    """

    def __init__(
        self,
        *,
        clock: BrokerClock,
        cluster_id: str,
        config: BrokerConfig,
        controller: Controller,
        fetch_sessions: dict[int, FetchSessionCache],
        groups: Deferred[GroupService],
        handlers: Callable[[Node], HandlerRegistry],
        log_levels: Deferred[LogLevels],
        nodes: dict[int, Node],
        quorum: Quorum,
        share_partitions: Deferred[SharePartitions],
        share_persister: Deferred[Persister],
        share_states: Deferred[ShareStateService],
        telemetry: Deferred[TelemetryService],
        topics: PartitionRegistry,
        transactions: Deferred[TransactionService],
        worker: Worker,
        answers: AnswerCache | None = None,
        authorizer: Authorizer | None = None,
        controller_authorizer: Authorizer | None = None,
    ) -> None:
        self.authorizer = authorizer
        self.controller_authorizer = controller_authorizer
        self.denials = Denials()
        self.auto_created: dict[str, str | None] = {}
        self.zookeeper_offsets: dict[tuple[str, str, int], int] = {}
        self.unserved: deque[UnsupportedRequest] = deque(maxlen=UNSUPPORTED_KEPT)
        self.clock = clock
        self.face = clock.face
        self.cluster_id = cluster_id
        self.config = config
        self.controller = controller
        self.image = controller.image
        self.answers = answers or AnswerCache()
        self.fetch_sessions = fetch_sessions
        self.groups = groups
        self.handlers = handlers
        self.log_levels = log_levels
        self.nodes = nodes
        self.quorum = quorum
        self.quotas: Quotas | None = None
        self.share_partitions = share_partitions
        self.share_persister = share_persister
        self.share_states = share_states
        self.telemetry = telemetry
        self.topics = topics
        self.transactions = transactions
        self.worker = worker

    def up_nodes(self) -> list[Node]:
        """The nodes that are up, in the order of their ids."""
        return [node for node in self.nodes.values() if node.up]
