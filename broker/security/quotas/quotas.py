"""The client quotas that are set, what clients have used of them, and who has to wait."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.security.denials import one_line
from odradek.broker.security.quotas.address_quotas import AddressQuotas
from odradek.broker.security.quotas.client_quota import ClientQuota, MutationQuota
from odradek.broker.security.quotas.limits import FETCH, MUTATION, PRODUCE, REQUEST, Limits
from odradek.broker.security.quotas.rate import Window

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig

_log = logging.getLogger("odradek.broker.security.quotas")

_KEYS = (PRODUCE, FETCH, REQUEST, MUTATION)
_KEPT = 1024


class Throttle(NamedTuple):
    """A client that has to wait: by which quota, how long (milliseconds), and until when on the broker's clock."""

    connection: str
    client_id: str | None
    user: str
    node_id: int
    api: str
    quota: str
    wait_ms: int
    until_ms: int

    def __str__(self) -> str:
        return (
            f"{self.connection}: {self.user} with client id {self.client_id!r} waits {self.wait_ms} ms after "
            f"{self.api} ({self.quota}) at node {self.node_id}"
        )


class NodeQuotas:
    """What clients have used of one node: a quota counts for each node by itself."""

    __slots__ = ("fetch", "produce", "request")

    def __init__(self, limits: Mapping[str, Limits], window: Window) -> None:
        self.produce = ClientQuota(limits[PRODUCE], window)
        self.fetch = ClientQuota(limits[FETCH], window)
        self.request = ClientQuota(limits[REQUEST], window, window.sample_ms)

    def change(self, limits: Mapping[str, Limits]) -> None:
        """Other quotas count from now on."""
        for key, quota in ((PRODUCE, self.produce), (FETCH, self.fetch), (REQUEST, self.request)):
            quota.limits = limits[key]


class Quotas:
    """The quotas of users and client ids. Owner: the cluster, which makes it with the first quota.

    `mutations` counts for the whole cluster, as its controller does. What was used outlives the quotas themselves.
    `addresses` has those of addresses.
    """

    def __init__(self, config: BrokerConfig, clock: BrokerClock) -> None:
        self._config = config
        self._clock = clock
        self._limits = {key: Limits(key, {}) for key in _KEYS}
        self._nodes: dict[int, NodeQuotas] = {}
        self._throttles: dict[str, Throttle] = {}
        window = _window(config, "controller.quota.window.num", "controller.quota.window.size.seconds")
        self.addresses = AddressQuotas(_window(config, "quota.window.num", "quota.window.size.seconds"))
        self.mutations = MutationQuota(self._limits[MUTATION], window)

    def change(self, quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> bool:
        """These quotas count from now on. Returns whether there are any for users or client ids."""
        self._limits = {key: Limits(key, quotas) for key in _KEYS}
        for node in self._nodes.values():
            node.change(self._limits)
        self.mutations.limits = self._limits[MUTATION]
        return any(self._limits.values())

    def of(self, node_id: int) -> NodeQuotas:
        """What was used of a node."""
        node = self._nodes.get(node_id)
        if node is None:
            window = _window(self._config, "quota.window.num", "quota.window.size.seconds")
            node = self._nodes[node_id] = NodeQuotas(self._limits, window)
        return node

    def delay_ms(self, node_id: int, address: str) -> int:
        """Count a new connection; more than 0 says how long to keep it before it is closed."""
        return self.addresses.delay_ms(node_id, address, self._clock.now_ms())

    # -- who has to wait

    def note(self, throttle: Throttle) -> None:
        """A client has to wait."""
        _log.info("%s", one_line(str(throttle)))
        if len(self._throttles) >= _KEPT:
            self._throttles = {each.connection: each for each in self.throttled()}
        self._throttles[throttle.connection] = throttle

    def throttled(self) -> list[Throttle]:
        """The clients that have to wait now, those that began last behind the others."""
        now_ms = self._clock.now_ms()
        return [throttle for throttle in self._throttles.values() if throttle.until_ms > now_ms]


def _window(config: BrokerConfig, samples: str, seconds: str) -> Window:
    return Window(config.get_int(samples), config.get_int(seconds) * 1000)
