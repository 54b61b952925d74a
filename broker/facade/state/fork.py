"""Forks: a second broker that starts with the state of this one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.facade.state.restore import go_to
from odradek.broker.facade.state.snapshot import Snapshot
from odradek.broker.nodes.added_nodes import add_node

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.facade.report.strictness import Strictness
    from odradek.broker.facade.security_settings import Secured

_OWN = ("log.dirs", "log.dir", "metadata.log.dir")
_ADDRESSES = ("listeners", "advertised.listeners")
_PORT = re.compile(r":\d+(?=\s*(,|$))")


class ForkSettings:
    """The settings of a fork; see `facade.settings.Settings`. Its nodes listen on free ports."""

    def __init__(
        self,
        snapshot: Snapshot,
        parent: Cluster,
        clock: BrokerClock,
        data_dir: str | Path | None,
        secured: Secured | None,
    ) -> None:
        own = {node_id: _elsewhere(values) for node_id, values in parent.config.static_nodes.items()}
        later = parent.config.later_ids
        if later and data_dir is not None:
            raise ValueError(f"node {later[0]} joined the running cluster: a fork of it is in memory")
        self._later = {node_id: own.pop(node_id, {}) for node_id in later}
        self.secured = secured
        self.strict: Strictness | None = None
        self.registry = parent.schema_registry is not None
        self.cluster = Cluster(
            nodes=len(parent.config.founder_ids),
            config=BrokerConfig(_elsewhere(parent.config.static), nodes=own),
            clock=clock,
            data_dir=None if data_dir is None else Path(data_dir),
            cluster_id=parent.cluster_id,
        )
        self._snapshot: Snapshot | None = snapshot
        self._start_image = parent.start_image
        self._host = next(iter(parent.nodes.values())).host

    async def start(self) -> None:
        """Take over the state, and listen. The cluster must be running."""
        assert self._snapshot is not None, "a fork starts once"
        for node_id, own in self._later.items():
            add_node(self.cluster, node_id, own)
        go_to(self.cluster, self._snapshot)
        self._snapshot = None
        self.cluster.start_image = self._start_image
        given = self.cluster.has_addresses
        await self.cluster.listen(None if given else self._host, 0)


def _elsewhere(texts: Mapping[str, str]) -> dict[str, str]:
    """The same configs for a broker in another place."""
    return {
        name: _PORT.sub(":0", text) if name in _ADDRESSES else text for name, text in texts.items() if name not in _OWN
    }


def state_of(cluster: Cluster) -> Snapshot:
    """A snapshot for a fork."""
    return Snapshot(cluster)
