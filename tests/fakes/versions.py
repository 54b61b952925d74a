"""The versions of APIs in the releases that were recorded."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.releases.release import DEFAULT
from odradek.protocol.apis import ApiSpec

HIGHEST: Mapping[str, Mapping[int, int]] = {"4.3": {18: 4, 28: 5, 42: 2, 88: 0, 89: 0, 93: -1, 94: -1}}
"""Release -> APIs that have got versions since -> its highest version; -1 where it has none."""


def highest_of(spec: ApiSpec, release: str = DEFAULT) -> int:
    """The highest version of an API in a release; -1 where it does not have the API."""
    return HIGHEST.get(release, {}).get(spec.key, spec.max_version)
