"""The clock of a broker in another process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odradek.broker.clock import BrokerClock

if TYPE_CHECKING:
    from odradek.broker.facade.remote.transport import Transport


class RemoteClock(BrokerClock):
    """Moves and reads that clock over HTTP. Nobody can wait by it here: its ``sleep`` is for its own process."""

    def __init__(self, remote: Transport) -> None:
        super().__init__()
        self._remote = remote

    @property
    def frozen(self) -> bool:
        """Whether the clock stands still."""
        return bool(self._ask("frozen"))

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC, as records carry them."""
        return int(self._ask("now_ms"))

    def advance(self, seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> int:
        """Move the clock forward; return the new `now_ms`. See `BrokerClock.advance`."""
        return int(self._ask("advance", seconds=seconds, minutes=minutes, hours=hours, days=days))

    def freeze(self) -> None:
        """Stop the clock; only `advance` moves it until `resume`."""
        self._ask("freeze")

    def resume(self) -> None:
        """Let the clock run on from where it stands."""
        self._ask("resume")

    def attach(self) -> None:
        """RuntimeError: trio runs of this process have clocks of their own."""
        raise RuntimeError("this clock runs in another process")

    def current_time(self) -> float:
        """Seconds since 1970 on that clock."""
        return self.now_ms() / 1000

    def _ask(self, member: str, **arguments: Any) -> Any:
        return self._remote.operate(BrokerClock, member, None, arguments)
