"""Causes of clients that the broker does not understand, or that came to a listener of another kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.broker.facade.report.situation import Situation
from odradek.broker.security.denials import NO_LOG_IN, PLAIN_TEXT, TLS, one_line

if TYPE_CHECKING:
    from odradek.broker.security.denials import Denial

_WHAT = {
    PLAIN_TEXT: "spoke plain text to a TLS listener",
    TLS: "spoke TLS to a listener that does not",
    NO_LOG_IN: "did not log in at a listener where clients do",
}
"""What stands at the beginning of a reason -> what the client did."""


def is_wrong_protocol(denial: Denial) -> bool:
    """Whether a refusal is told by `wrong_protocols`."""
    return denial.operation == "LOGIN" and denial.reason.startswith(tuple(_WHAT))


def wrong_protocols(situation: Situation) -> Iterator[str]:
    """Clients whose `security.protocol` is not that of the listener: they see lost connections and time-outs."""
    for denial in situation.denied:
        for beginning, what in _WHAT.items():
            if denial.operation == "LOGIN" and denial.reason.startswith(beginning):
                yield (
                    f"a client at {denial.host} {what} ({denial.listener}): its security.protocol is not the broker's "
                    "(see broker.client_config())"
                )


def unserved_versions(situation: Situation) -> Iterator[str]:
    """Clients that are too old for the broker, or too new, and do not ask what it serves."""
    for each in situation.unserved:
        who = f"client '{one_line(each.client)}'" if each.client else "a client without an id"
        yield f"{who} at {each.host} was cut: {each}, as in Kafka 4 (is a version pinned, or the client old?)"
