"""Refusals: which client was denied what, for tests of a client's rights and for the log.

The constants are reasons for clients that use the wrong protocol for a listener. Such a client reports at best
time-outs and lost connections, so reports look for these reasons.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import NamedTuple

from odradek.protocol.shown import one_line

_KEPT = 1000
_LONGEST = 1000
_log = logging.getLogger("odradek.broker.security.authorizer")


class Denial(NamedTuple):
    """One refusal.

    `when_ms`: the broker's clock, in ms since 1970. `principal`: `User:alice`. `host`: the client's address.
    `operation`: `READ`, or `LOGIN` for a log-in that failed. `resource_type` and `resource_name`: `TOPIC` and `orders`.
    `api`: the request's name. `listener`: the listener of the connection. `reason`: a text, if there is more to say.
    """

    when_ms: int
    principal: str
    host: str
    operation: str
    resource_type: str
    resource_name: str
    api: str
    listener: str
    reason: str = ""

    def __str__(self) -> str:
        what = f"{self.operation} on {self.resource_type} {self.resource_name}".rstrip()
        why = f": {self.reason}" if self.reason else ""
        return one_line(f"{self.principal} at {self.host} was denied {what} for {self.api} ({self.listener}){why}")


def shortened(text: str) -> str:
    """Shorten text of a client that has not logged in: it may be half a megabyte."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


class Denials:
    """The last 1,000 refusals of a cluster, newest last. Any thread may read a copy."""

    def __init__(self) -> None:
        self.entries: deque[Denial] = deque(maxlen=_KEPT)

    def add(self, denial: Denial) -> None:
        """Keep and log a refusal."""
        self.keep(denial)
        _log.info("%s", self.entries[-1])

    def keep(self, denial: Denial) -> None:
        """Keep a refusal without logging it."""
        principal, name, reason = denial.principal, denial.resource_name, denial.reason
        if max(len(principal), len(name), len(reason)) > _LONGEST:
            denial = denial._replace(
                principal=shortened(principal), resource_name=shortened(name), reason=shortened(reason)
            )
        self.entries.append(denial)


PLAIN_TEXT = "a client that speaks plain text connected to listener "
"""The listener speaks TLS; its name follows."""
TLS = "a client that speaks TLS connected to a listener that does not"
NO_LOG_IN = "a client that does not log in connected to listener "
"""Clients log in at the listener; its name follows."""
SESSION_ENDED = "its session has ended, and it has not authenticated again"
