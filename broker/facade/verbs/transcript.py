"""The transcript of a broker: its requests, and the verbs that wait for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from odradek.broker.clock import check_number
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S
from odradek.broker.facade.transcript_view import RequestWait, TranscriptView, Watcher
from odradek.broker.facade.verb_base import Pending, TrioVerbs
from odradek.broker.facade.verbs.undo import TrioUndo
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.broker.transcript.request_list import Conditions, Requests, Selection


class TrioTranscript(TranscriptView):
    """The last 10,000 requests, oldest first; see `RecordedRequest` and `Requests`.

    With ``odradek.transcript=false`` it has the last 64 requests, without their contents.
    """

    def __init__(self, broker: TrioVerbs) -> None:
        super().__init__(broker.cluster)
        self._broker = broker

    async def wait(
        self,
        api: str | None = None,
        count: int = 1,
        *,
        timeout: float = WAIT_TIMEOUT_S,
        **conditions: Unpack[Conditions],
    ) -> Requests:
        """Wait until ``count`` requests have been served, and return them. The other arguments are those of `filter`.

        Requests that were served before count, too; requests that wait for their answer do not. Raises TimeoutError,
        with the last requests, after ``timeout`` seconds.
        """
        check_number("timeout", timeout)
        selection = Selection(api, **conditions)
        with RequestWait(self._cluster, self._broker._look, self._reader, selection, count) as waiting:
            return await waiting.trio_wait(timeout, offload=self._broker._offload)

    def follow(self, told: Callable[[RecordedRequest], None]) -> Pending[TrioUndo]:
        """Call a function with each request that has been served, in the broker's thread.

        The function must be quick, and must not wait for the broker.
        """
        watcher = Watcher(self._cluster, lambda raw: told(self._reader.read([raw])[0]))
        return self._broker._undoable(lambda: watcher.start())

    async def clear(self) -> None:
        """Forget the requests so far."""
        await self._broker._call(self._cluster.recent.forget)
