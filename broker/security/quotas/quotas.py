"""Client quotas: their values, the usage of clients, and the clients that have to wait.

`Limits` says which quota applies to a client, in Kafka's order of precedence, most specific first: (user, client id),
(user, default client id), (user), (default user, client id), (default user, default client id), (default user), (client
id), (default client id). `ClientQuota` (bytes and request time) and `MutationQuota` (controller mutations) keep the
usage of clients; they have no clock. `AddressQuotas` limits new connections from one address (KIP-612,
`connection_creation_rate`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from math import inf
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.security.principal import resolved
from odradek.broker.security.quotas.rate import Rate, TokenBucket, Window, refill_ms
from odradek.protocol.shown import one_line

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.releases.release import Release


PRODUCE, FETCH, REQUEST, MUTATION = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
)
CONNECTION = "connection_creation_rate"

ABSENT, DEFAULT = "", None
"""The placeholders for an entity without this type, and for its default. Names are never empty."""

Tags = tuple[str, str | None]
"""The user and the client id by which usage is counted; empty if one of them does not matter."""
_Entity = tuple[str | None, str | None]


class Limits:
    """The values of one quota key.

    Immutable: a change makes a new object. Clients that share a user's quota are counted together. Clients under a
    quota for several client ids are counted by client id.
    """

    def __init__(self, key: str, quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> None:
        self._by_entity: dict[_Entity, float] = {}
        for entity, values in quotas.items():
            named = dict(entity)
            if key in values and "ip" not in named:
                self._by_entity[named.get("user", ABSENT), named.get("client-id", ABSENT)] = values[key]
        self._kinds = {(user != ABSENT, client != ABSENT) for user, client in self._by_entity}

    def __bool__(self) -> bool:
        """Whether any quota is set."""
        return bool(self._by_entity)

    def tags(self, user: str, client_id: str | None) -> Tags:
        """The tags by which a client is counted."""
        if len(self._kinds) <= 1:
            by_user, by_client = next(iter(self._kinds), (False, True))
            return user if by_user else ABSENT, client_id if by_client else ABSENT
        known = self._by_entity
        if (user, client_id) in known or (user, DEFAULT) in known:
            return user, client_id
        if (user, ABSENT) in known:
            return user, ABSENT
        if (DEFAULT, client_id) in known or (DEFAULT, DEFAULT) in known:
            return user, client_id
        return (user, ABSENT) if (DEFAULT, ABSENT) in known else (ABSENT, client_id)

    def limit(self, tags: Tags) -> float | None:
        """The quota for these tags; None for no limit."""
        user, client_id = tags
        if client_id is None:
            return None  # where client ids matter, Kafka finds no quota for a client without an id
        if user and client_id:
            places: tuple[_Entity, ...] = ((user, client_id), (user, DEFAULT), (DEFAULT, client_id), (DEFAULT, DEFAULT))
        elif user:
            places = ((user, ABSENT), (DEFAULT, ABSENT))
        elif client_id:
            places = ((ABSENT, client_id), (ABSENT, DEFAULT))
        else:
            return None
        known = self._by_entity
        return next((known[place] for place in places if place in known), None)


_UNLIMITED = float(2**63)
"""The limit that Kafka uses where there is no quota."""
_IDLE_MS = 3_600_000
_FEW = 256
T = TypeVar("T")


class Counters(Generic[T]):
    """A counter for each group of clients. An unused one is dropped after an hour."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: dict[Tags, T] = {}
        self._last_used_ms: dict[Tags, int] = {}
        self._sweep_at = _FEW

    def __len__(self) -> int:
        return len(self._made)

    def of(self, tags: Tags, now_ms: int) -> T:
        """The counter of these clients; this counts as a use."""
        if len(self._made) >= self._sweep_at:
            self._sweep(now_ms)
        self._last_used_ms[tags] = now_ms
        counter = self._made.get(tags)
        if counter is None:
            counter = self._made[tags] = self._make()
        return counter

    def _sweep(self, now_ms: int) -> None:
        for tags, last_ms in list(self._last_used_ms.items()):
            if now_ms - last_ms > _IDLE_MS:
                del self._made[tags], self._last_used_ms[tags]
        self._sweep_at = max(_FEW, 2 * len(self._made))


class ClientQuota:
    """A rate that clients may not exceed. `limits` may be replaced at any time; the usage stays.

    `longest_ms`: the longest time that a client has to wait; None for no limit.
    """

    def __init__(self, limits: Limits, window: Window, longest_ms: int | None = None) -> None:
        self.limits = limits
        self._window = window
        self._longest_ms = longest_ms
        self._rates: Counters[Rate] = Counters(Rate)

    def use(self, user: str, client_id: str | None, amount: float, now_ms: int) -> int:
        """Count a client's usage; returns how long the client has to wait, in milliseconds."""
        if not self.limits:
            return 0
        tags = self.limits.tags(user, client_id)
        limit = self.limits.limit(tags)
        quota = _UNLIMITED if limit is None else limit
        return max(0, self._rates.of(tags, now_ms).charge(self._window, amount, quota, now_ms, self._longest_ms))

    def take_back(self, user: str, client_id: str | None, amount: float, now_ms: int) -> None:
        """Take back counted usage. As in Kafka this applies without a quota too."""
        self._rates.of(self.limits.tags(user, client_id), now_ms).record(self._window, -amount, now_ms)

    def most_at_once(self, user: str, client_id: str | None) -> float:
        """The usage above which even a first request is throttled; infinite without a quota."""
        limit = self.limits.limit(self.limits.tags(user, client_id)) if self.limits else None
        if limit is None:
            return inf
        return limit * (self._window.samples - 1) * (self._window.sample_ms // 1000)


class MutationQuota:
    """Tokens for partitions that clients create and delete (KIP-599)."""

    def __init__(self, limits: Limits, window: Window) -> None:
        self.limits = limits
        self._window = window
        self._buckets: Counters[TokenBucket] = Counters(TokenBucket)

    def take(self, user: str, client_id: str | None, permits: int, now_ms: int, *, strict: bool) -> tuple[bool, int]:
        """Take tokens.

        Returns whether they were taken, and how long the client has to wait. With `strict` nothing is taken while the
        level is below 0. Otherwise all tokens are taken, and the level may fall far below 0.
        """
        if not self.limits:
            return True, 0
        tags = self.limits.tags(user, client_id)
        bucket = self._buckets.of(tags, now_ms)
        limit = self.limits.limit(tags)
        quota = _UNLIMITED if limit is None else limit
        if not strict:
            bucket.take(self._window, quota, permits, now_ms)
        level = bucket.level(self._window, quota, now_ms)
        if level < 0:
            return not strict, max(0, refill_ms(level, quota))
        if strict:
            bucket.take(self._window, quota, permits, now_ms)
        return True, 0


_log = logging.getLogger("odradek.broker.security.quotas")

_MAX_INT = (1 << 31) - 1


class AddressQuotas:
    """New connections by address, for each node separately. Without a quota none is counted."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._addresses: dict[str, str] = {}
        self._limits: dict[str, int] = {}
        self._default: int | None = None
        self._rates: dict[int, Counters[Rate]] = {}

    def change(self, quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> bool:
        """Replace the quotas. Returns whether there are any for addresses."""
        known, self._addresses = self._addresses, {}
        self._limits, self._default = {}, None
        for entity, values in quotas.items():
            if len(entity) != 1 or entity[0][0] != "ip" or CONNECTION not in values:
                continue
            value, name = values[CONNECTION], entity[0][1]
            limit = 0 if value != value else int(min(value, _MAX_INT))
            if name is None:
                self._default = limit
            else:
                address = self._addresses[name] = known.get(name) or _address_of(name)
                self._limits[address] = limit
        return bool(self._limits) or self._default is not None

    def delay_ms(self, node_id: int, host: str, now_ms: int) -> int:
        """Count a new connection. If it exceeds the quota it is not counted: returns how long to keep it before it is
        closed.
        """
        limit = self._limits.get(host, self._default)
        if limit is None:
            return 0
        window = self._window
        rates = self._rates.setdefault(node_id, Counters(Rate))
        rate = rates.of((host, ABSENT), now_ms)
        delay_ms = rate.charge(window, 1.0, limit, now_ms, window.sample_ms)
        if delay_ms:
            rate.record(window, -1.0, now_ms)
        return delay_ms

    def forget(self, node_id: int) -> None:
        """Forget the connections to a node: see `Quotas.forget`."""
        self._rates.pop(node_id, None)


def _address_of(name: str) -> str:
    """The address of a new quota. A name is looked up again, as it was when the quota was set."""
    try:
        return resolved(name)
    except OSError as error:
        _log.warning("the connection rate of %s counts for nobody: %s", name, error)
        return name


_KEYS = (PRODUCE, FETCH, REQUEST, MUTATION)
_KEPT = 1024


class Throttle(NamedTuple):
    """A waiting client: its quota, the time (milliseconds), and the end on the broker's clock."""

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


def longest_wait_ms(release: Release) -> int | None:
    """The longest time that a quota of bytes makes clients wait; None for no limit."""
    return None if release.wraps_throttle_times else _MAX_INT


class NodeQuotas:
    """The usage of one node: a quota applies to each node separately."""

    def __init__(self, limits: Mapping[str, Limits], window: Window, release: Release) -> None:
        longest_ms = longest_wait_ms(release)
        self.produce = ClientQuota(limits[PRODUCE], window, longest_ms)
        self.fetch = ClientQuota(limits[FETCH], window, longest_ms)
        self.request = ClientQuota(limits[REQUEST], window, window.sample_ms)

    def change(self, limits: Mapping[str, Limits]) -> None:
        """Replace the quotas."""
        for key, quota in ((PRODUCE, self.produce), (FETCH, self.fetch), (REQUEST, self.request)):
            quota.limits = limits[key]


class Quotas:
    """The quotas of users and client ids.

    Owner: the cluster, which makes it with the first quota. `mutations` applies to the whole cluster, like the
    controller. Usage outlives the quotas. `addresses` has the quotas of addresses.
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
        """Replace the quotas. Returns whether there are any for users or client ids."""
        self._limits = {key: Limits(key, quotas) for key in _KEYS}
        for node in self._nodes.values():
            node.change(self._limits)
        self.mutations.limits = self._limits[MUTATION]
        return any(self._limits.values())

    def of(self, node_id: int) -> NodeQuotas:
        """The usage of a node."""
        node = self._nodes.get(node_id)
        if node is None:
            window = _window(self._config, "quota.window.num", "quota.window.size.seconds")
            node = self._nodes[node_id] = NodeQuotas(self._limits, window, self._config.release_of(node_id))
        return node

    def forget(self, node_id: int) -> None:
        """Forget the usage of a node, which has stopped: it may come back as another release."""
        self._nodes.pop(node_id, None)
        self.addresses.forget(node_id)

    def delay_ms(self, node_id: int, address: str) -> int:
        """Count a new connection. A result above 0 is the time to keep it before it is closed."""
        return self.addresses.delay_ms(node_id, address, self._clock.now_ms())

    # -- who has to wait

    def note(self, throttle: Throttle) -> None:
        """Note that a client has to wait."""
        _log.info("%s", one_line(str(throttle)))
        if len(self._throttles) >= _KEPT:
            self._throttles = {each.connection: each for each in self.throttled()}
        self._throttles[throttle.connection] = throttle

    def throttled(self) -> list[Throttle]:
        """The clients that have to wait now, in the order in which they began."""
        now_ms = self._clock.now_ms()
        return [throttle for throttle in self._throttles.values() if throttle.until_ms > now_ms]


def _window(config: BrokerConfig, samples: str, seconds: str) -> Window:
    return Window(config.get_int(samples), config.get_int(seconds) * 1000)
