"""What clients asked and were answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.pending import Pending
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S
from odradek.broker.facade.transcript_view import RequestWait, TranscriptView, Watcher
from odradek.broker.facade.verbs.undo import TrioUndo
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.broker.transcript.request_list import Conditions, Requests, Selection


class TrioTranscript(TranscriptView):
    """The last 10,000 requests, oldest first, as they are now; see `RecordedRequest` and `Requests`.

    Without ``odradek.transcript`` in the configuration the last 64, without what they said.
    """

    def __init__(self, broker: TrioFlavour) -> None:
        super().__init__(broker.cluster)
        self._broker = broker

    async def wait_for(
        self,
        api: str | None = None,
        count: int = 1,
        *,
        timeout: float = WAIT_TIMEOUT_S,
        **conditions: Unpack[Conditions],
    ) -> Requests:
        """Wait until so many requests have been served, and return them; other arguments as of `filter`.

        Those that were there before count too, those that still wait for their answer do not. TimeoutError, with the
        last requests, after seconds.
        """
        selection = Selection(api, **conditions)
        with RequestWait(self._cluster, self._broker._look, self._reader, selection, count) as waiting:
            return await waiting.trio_wait(timeout)

    def follow(self, told: Callable[[RecordedRequest], None]) -> Pending[TrioUndo]:
        """Have a function called in the broker's thread with each request that has come to its end.

        The function must be quick, and must not wait for the broker.
        """
        watcher = Watcher(self._cluster, lambda raw: told(self._reader.read([raw])[0]))
        return self._broker._undone_by(watcher.start, watcher.stop)

    async def clear(self) -> None:
        """Forget what was asked until now."""
        await self._broker._call(self._cluster.recent.forget)
