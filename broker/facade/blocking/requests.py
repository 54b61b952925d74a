"""Verbs of the requests that clients sent.

Generated from facade/verbs/requests.py: do not edit, run
`python -m odradek.broker.facade.generate_blocking`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.flavours import BlockingFlavour

if TYPE_CHECKING:
    from odradek.broker.facade.blocking.transcript import Transcript


class RequestVerbs(BlockingFlavour):
    """What clients asked."""

    _transcript: Transcript | None = None

    @property
    def requests(self) -> Transcript:
        """What clients asked and were answered: ``broker.requests.filter("Fetch", topic="orders")``."""
        from odradek.broker.facade.blocking.transcript import Transcript

        if self._transcript is None:
            self._transcript = Transcript(self)
        return self._transcript
