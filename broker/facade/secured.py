"""A broker that was started with `Security`: its certificates, and what its clients need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.broker.facade.client_configs import Access
from odradek.broker.facade.security import Security

if TYPE_CHECKING:
    from odradek.broker.facade.certificates import Certificates


class Secured:
    """What one broker's `Security` has become. Owner: the broker's settings."""

    def __init__(self, security: Security, host: str, port: int) -> None:
        """RuntimeError if certificates are asked for and trustme is not installed."""
        self.security = security
        self._host, self._port = host, port
        self._certificates: Certificates | None = None
        if security.tls:
            from odradek.broker.facade.certificates import Certificates

            self._certificates = Certificates(host)

    def config(self, given: Mapping[str, str]) -> dict[str, str]:
        """The broker's configuration, with what the user gave going before; ValueError for listeners given twice."""
        if "listeners" in given:
            raise ValueError("security= makes the listener: give no listeners in config beside it")
        return {**self.security.config(self._host, self._port, self._certificates), **given}

    def access(self, servers: str, user: str | None, mechanism: str | None) -> Access:
        """How a client reaches the broker; see `Security.access`."""
        return self.security.access(servers, self._certificates, user, mechanism)
