"""The versions of requests in tests that do not say which."""

from __future__ import annotations

from typing import Any

from odradek.broker.releases.release import LATER_VERSIONS
from odradek.protocol.registry import ApiSpec


def highest_of(spec: ApiSpec) -> int:
    """The highest version of an API that the default Kafka release serves; -1 where it does not have the API."""
    return min(spec.max_version, LATER_VERSIONS.get(spec.key, spec.max_version))


def highest_version(request: Any) -> int:
    """The highest version of a request that the default Kafka release serves."""
    highest: int = type(request).MAX_VERSION
    return min(highest, LATER_VERSIONS.get(request.API_KEY, highest))
