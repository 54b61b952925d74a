"""A transaction that is held in a broker of another process."""

from __future__ import annotations

from typing import Any, Protocol

from odradek.broker.facade.future_wait import WAIT_TIMEOUT_S
from odradek.broker.facade.generated.blocking.transactions import TransactionHold


class Operate(Protocol):
    """Carries out an operation of one of several owners."""

    def __call__(self, owner: type, member: str, identity: str | None, arguments: dict[str, Any], /) -> Any: ...


class RemoteTransactionHold(TransactionHold):
    """The same as `TransactionHold`, over HTTP."""

    def __init__(self, operate: Operate, identity: str, what: str) -> None:
        self._operate = operate
        self._identity = identity
        self._what = what

    def __repr__(self) -> str:
        there = "reached" if self.reached else "not reached"
        return f"<RemoteTransactionHold {self._identity}, {there}>"

    @property
    def reached(self) -> bool:
        """Whether the transaction has come to the point and stands there."""
        return bool(self._operate(TransactionHold, "reached", self._identity, {}))

    def wait_reached(self, timeout: float = WAIT_TIMEOUT_S) -> None:
        """Wait until the transaction stands at the point. TimeoutError after seconds."""
        self._operate(TransactionHold, "wait_reached", self._identity, {"timeout": timeout})

    def release(self) -> None:
        """Let the transaction go on. Idempotent."""
        self._operate(TransactionHold, "release", self._identity, {})
