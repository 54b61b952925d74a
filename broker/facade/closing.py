"""Closes a broker at the end of ``with``, and judges a strict one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from odradek.broker.facade.thread_bridge import BrokerClosedError

if TYPE_CHECKING:
    from odradek.broker.facade.report.strictness import Strictness, StrictnessFinding


class StrictBroker(Protocol):
    """A broker that this process starts and closes."""

    _strict: Strictness | None

    def close(self) -> None:
        """Stop the broker."""

    def strictness(self, since: float | None = None, also: str = "") -> list[StrictnessFinding]:
        """The strictness findings since a time."""


def judgement(broker: StrictBroker) -> Callable[[], None]:
    """Collect the findings of a strict broker while it runs.

    The function that is returned warns or raises; it does so only for the first judgement of a broker.
    """
    strict, broker._strict = broker._strict, None
    if strict is None:
        return lambda: None
    try:
        findings = broker.strictness(also=strict.also)
    except BrokerClosedError:  # the error that ended the broker is reported instead
        return lambda: None
    return lambda: strict.demand(findings)


def close_after(broker: StrictBroker, error: BaseException | None) -> None:
    """Close a broker at the end of ``with``. An error of the block is kept, and not replaced by one of the broker."""
    if error is None:
        broker.close()
        return
    broker._strict = None  # a test that failed may have left its clients open because of that
    try:
        broker.close()
    except BrokerClosedError as ended:
        error.add_note(f"and the broker ended with {ended.__cause__!r}")
