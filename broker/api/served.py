"""The APIs that a broker serves."""

from __future__ import annotations

from odradek.broker.api.generated.index import INDEX
from odradek.broker.releases.release import LATER_VERSIONS, Release
from odradek.broker.requests.registry import Registry

ALL = Registry("odradek.broker.api", INDEX)
"""The handlers in this package. Each module is imported with the first request for one of its APIs."""

SERVED = ALL.up_to(LATER_VERSIONS)
"""Those of the default release."""


def handlers_of(release: Release) -> Registry:
    """The handlers of the APIs that a release has, in its versions."""
    return SERVED if release.apis is None else ALL.of(release.apis)
