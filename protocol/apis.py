"""Every API of a broker: its key, versions, header versions and message classes.

Cheap to import: the module of an API is imported when one of its classes is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any

from odradek.protocol.generated.messages.index import APIS
from odradek.protocol.message import ApiMessage

API_VERSIONS_KEY = 18
PRODUCE_KEY = 0


class ApiSpec:
    """One API. `min_version` to `max_version` are the stable versions; the classes may know a newer, unstable one."""

    def __init__(
        self,
        key: int,
        name: str,
        module: str,
        min_version: int,
        max_version: int,
        flexible_from: int | None,
        cluster_action: bool,
        forwardable: bool,
        on_brokers: bool,
    ) -> None:
        self.key = key
        self.name = name
        self.module_name = module
        self.min_version = min_version
        self.max_version = max_version
        self.flexible_from = flexible_from
        self.cluster_action = cluster_action
        """Whether it is for brokers only (needs the ClusterAction permission)."""
        self.forwardable = forwardable
        """Whether a broker passes it on to the controller."""
        self.on_brokers = on_brokers
        """Whether brokers (not controllers alone) serve it."""

    @cached_property
    def module(self) -> ModuleType:
        return import_module(f"odradek.protocol.generated.messages.{self.module_name}")

    @cached_property
    def request(self) -> type[ApiMessage]:
        found: Any = getattr(self.module, f"{self.name}Request")
        return found  # type: ignore[no-any-return]

    @cached_property
    def response(self) -> type[ApiMessage]:
        found: Any = getattr(self.module, f"{self.name}Response")
        return found  # type: ignore[no-any-return]

    def is_flexible(self, version: int) -> bool:
        return self.flexible_from is not None and version >= self.flexible_from

    def supports(self, version: int) -> bool:
        return self.min_version <= version <= self.max_version

    def request_header_version(self, version: int) -> int:
        """1, or 2 for flexible versions (KIP-482)."""
        return 2 if self.is_flexible(version) else 1

    def response_header_version(self, version: int) -> int:
        """0, or 1 for flexible versions; always 0 for ApiVersions, whose client may not know the broker's version."""
        return 1 if self.is_flexible(version) and self.key != API_VERSIONS_KEY else 0

    def __repr__(self) -> str:
        return f"ApiSpec({self.key}, {self.name!r}, versions {self.min_version} to {self.max_version})"


_SPECS = [ApiSpec(*row) for row in APIS]
API_BY_KEY: Mapping[int, ApiSpec] = MappingProxyType({spec.key: spec for spec in _SPECS})
API_BY_NAME: Mapping[str, ApiSpec] = MappingProxyType({spec.name: spec for spec in _SPECS})
