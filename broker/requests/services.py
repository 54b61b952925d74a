"""The parts of a cluster that request handlers work with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.dynamic_configs import DynamicConfigs
    from odradek.broker.controller.features import Features
    from odradek.broker.controller.node import Node
    from odradek.broker.controller.producer_ids import ProducerIdAllocator
    from odradek.broker.controller.topics import TopicRegistry
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.coordinator.transaction.service import TransactionService
    from odradek.broker.partitions.fetch_sessions import FetchSessionCache
    from odradek.broker.requests.deferred import Deferred
    from odradek.broker.requests.registry import Registry


class Services:
    """What a handler finds in ``ctx.services``.

    The cluster makes one for all its nodes and fills it once; only ``cluster_id`` (a log directory has its own) and
    ``controller_id`` change later. ``data_dir`` is None for a cluster in memory. ``fetch_sessions`` has node ids as
    keys. ``metadata_changed`` reports a change that has to outlive the process and that nothing else reports.
    """

    __slots__ = (
        "clock",
        "cluster_id",
        "config",
        "controller_id",
        "data_dir",
        "dynamic_configs",
        "features",
        "fetch_sessions",
        "groups",
        "handlers",
        "metadata_changed",
        "nodes",
        "producer_ids",
        "topics",
        "transactions",
    )

    def __init__(
        self,
        *,
        clock: BrokerClock,
        cluster_id: str,
        config: BrokerConfig,
        controller_id: int,
        data_dir: Path | None,
        dynamic_configs: Deferred[DynamicConfigs],
        features: Features,
        fetch_sessions: dict[int, FetchSessionCache],
        groups: Deferred[GroupService],
        handlers: Registry,
        metadata_changed: Callable[[], None],
        nodes: dict[int, Node],
        producer_ids: ProducerIdAllocator,
        topics: TopicRegistry,
        transactions: Deferred[TransactionService],
    ) -> None:
        self.clock = clock
        self.cluster_id = cluster_id
        self.config = config
        self.controller_id = controller_id
        self.data_dir = data_dir
        self.dynamic_configs = dynamic_configs
        self.features = features
        self.fetch_sessions = fetch_sessions
        self.groups = groups
        self.handlers = handlers
        self.metadata_changed = metadata_changed
        self.nodes = nodes
        self.producer_ids = producer_ids
        self.topics = topics
        self.transactions = transactions

    def up_nodes(self) -> list[Node]:
        """The nodes that are up, in the order of their ids."""
        return [node for node in self.nodes.values() if node.up]
