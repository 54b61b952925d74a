"""The APIs that a broker serves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from odradek.broker.api.generated.index import INDEX
from odradek.broker.metadata.node import Node
from odradek.broker.releases.release import Release
from odradek.broker.requests.handlers import HandlerRegistry
from odradek.protocol.apis import API_BY_KEY

_ANY_VERSION = 1 << 15

ALL = HandlerRegistry("odradek.broker.api", INDEX)
"""The handlers in this package. Each module is imported with the first request for one of its APIs."""

UNSTABLE = ALL.of({key: (spec.min_version, _ANY_VERSION) for key, spec in API_BY_KEY.items()})
"""Those without the versions that Kafka 4.0 removed, and with those that `unstable.api.versions.enable` permits."""

SERVED = ALL.of({key: (spec.min_version, spec.max_version) for key, spec in API_BY_KEY.items()})
"""Those of the default release."""


@cache
def handlers_of(release: Release, *, unstable: bool = False) -> HandlerRegistry:
    """The handlers of the APIs that a release has, in its versions."""
    if release.apis is None:
        return UNSTABLE if unstable else SERVED
    if release.has_removed_versions:
        return ALL.of(release.apis)
    return UNSTABLE.of(_with_unstable(release.apis) if unstable and release.keeps_directories else release.apis)


def handlers_of_node(node: Node) -> HandlerRegistry:
    """The handlers of the APIs that a node serves."""
    return handlers_of(node.release, unstable=node.unstable)


def _with_unstable(apis: Mapping[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """The same with the unstable versions of the APIs that have not changed since."""
    return {
        key: (low, INDEX[key][2] if key in INDEX and high == API_BY_KEY[key].max_version else high)
        for key, (low, high) in apis.items()
    }
