"""See ``tests/scenarios/listing_order.py``."""

from tests.scenarios.listing_order import *  # noqa: F403
