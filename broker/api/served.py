"""The APIs that a broker serves."""

from __future__ import annotations

from odradek.broker.api.generated.index import INDEX
from odradek.broker.releases.release import LATER_VERSIONS, Release
from odradek.broker.requests.registry import Registry
from odradek.protocol.registry import API_BY_KEY

ALL = Registry("odradek.broker.api", INDEX)
"""The handlers in this package. Each module is imported with the first request for one of its APIs."""

UNSTABLE = ALL.up_to(LATER_VERSIONS)
"""Those of the default release, with the versions that it serves only with `unstable.api.versions.enable`."""

SERVED = UNSTABLE.up_to({key: spec.max_version for key, spec in API_BY_KEY.items()})
"""Those of the default release."""


def handlers_of(release: Release, *, unstable: bool = False) -> Registry:
    """The handlers of the APIs that a release has, in its versions."""
    if release.apis is not None:
        return ALL.of(release.apis)
    return UNSTABLE if unstable else SERVED
