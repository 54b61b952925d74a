"""What a transaction coordinator needs to know of its broker."""

from __future__ import annotations

from typing import Protocol


class TransactionSettings(Protocol):
    """Times in milliseconds."""

    @property
    def transaction_version(self) -> int:
        """The finalized level of transaction.version: 0, 1 or 2."""

    @property
    def id_expiration_ms(self) -> int:
        """transactional.id.expiration.ms"""

    @property
    def expire_interval_ms(self) -> int:
        """transaction.remove.expired.transaction.cleanup.interval.ms"""

    @property
    def request_timeout_ms(self) -> int:
        """request.timeout.ms"""

    @property
    def abort_interval_ms(self) -> int:
        """transaction.abort.timed.out.transaction.cleanup.interval.ms"""

    def new_producer_id(self) -> int:
        """A producer id that nobody has had."""
