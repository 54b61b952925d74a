"""How fast new connections may come from one address (KIP-612): the quota `connection_creation_rate`."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping

from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.security.quotas.client_quota import Counters
from odradek.broker.security.quotas.limits import CONNECTION
from odradek.broker.security.quotas.rate import Rate, Window, throttle_ms

_log = logging.getLogger("odradek.broker.security.quotas")

_MAX_INT = (1 << 31) - 1
_MAPPED = "::ffff:"


class AddressQuotas:
    """The connections that came from each address, at each node by itself. Without a quota none is counted."""

    __slots__ = ("_default", "_limits", "_rates", "_window")

    def __init__(self, window: Window) -> None:
        self._window = window
        self._limits: dict[str, int] = {}
        self._default: int | None = None
        self._rates: Counters[Rate] = Counters(Rate)

    def change(self, quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> bool:
        """These quotas count from now on. Returns whether there are any for addresses."""
        self._limits, self._default = {}, None
        for entity, values in quotas.items():
            if len(entity) != 1 or entity[0][0] != "ip" or CONNECTION not in values:
                continue
            value, name = values[CONNECTION], entity[0][1]
            limit = 0 if value != value else int(min(value, _MAX_INT))
            if name is None:
                self._default = limit
            else:
                self._limits[_address_of(name)] = limit
        return bool(self._limits) or self._default is not None

    def delay_ms(self, node_id: int, host: str, now_ms: int) -> int:
        """Count a new connection; if it is one too many, how long to keep it before it is closed, and it counts not."""
        address = _plain(host)
        limit = self._limits.get(address, self._default)
        if limit is None:
            return 0
        window = self._window
        rate = self._rates.of((str(node_id), address), now_ms)
        rate.record(window, 1.0, now_ms)
        value = rate.measure(window, now_ms)
        if value <= limit:
            return 0
        rate.record(window, -1.0, now_ms)
        if limit == 0:
            return window.sample_ms
        return throttle_ms(value, limit, rate.width_ms(window, now_ms), window.sample_ms)


def _address_of(name: str) -> str:
    """The address that a quota is for: names were looked up when it was set, and are again."""
    try:
        return _plain(str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0]))
    except (OSError, UnicodeError) as error:
        _log.warning("the connection rate of %s counts for nobody: %s", name, error)
        return name


def _plain(host: str) -> str:
    """An IPv4 address that comes in an IPv6 one is the same client."""
    host = host.lower()
    return host[len(_MAPPED) :] if host.startswith(_MAPPED) and "." in host else host
