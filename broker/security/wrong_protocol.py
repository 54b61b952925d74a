"""Clients that speak otherwise than the listener they came to: why they were refused, as a denial's reason says it.

Such a client tells its user of time-outs and lost connections at best, so reports look for these reasons.
"""

from __future__ import annotations

PLAIN_TEXT = "a client that speaks plain text connected to listener "
"""The listener speaks TLS; its name follows."""
TLS = "a client that speaks TLS connected to a listener that does not"
NO_LOG_IN = "a client that does not log in connected to listener "
"""Clients log in at the listener; its name follows."""
