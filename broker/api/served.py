"""The APIs that a broker serves."""

from __future__ import annotations

from odradek.broker.api.generated.index import INDEX
from odradek.broker.requests.registry import Registry

SERVED = Registry("odradek.broker.api", INDEX)
"""The handlers in this package. Each module is imported with the first request for one of its APIs."""
