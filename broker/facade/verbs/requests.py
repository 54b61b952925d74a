"""Verbs of the requests that clients sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.flavours import TrioFlavour

if TYPE_CHECKING:
    from odradek.broker.facade.verbs.transcript import TrioTranscript


class RequestVerbs(TrioFlavour):
    """What clients asked."""

    _transcript: TrioTranscript | None = None

    @property
    def requests(self) -> TrioTranscript:
        """What clients asked and were answered: ``broker.requests.filter("Fetch", topic="orders")``."""
        from odradek.broker.facade.verbs.transcript import TrioTranscript

        if self._transcript is None:
            self._transcript = TrioTranscript(self)
        return self._transcript
