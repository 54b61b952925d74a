"""What clients asked a broker in another process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from odradek.broker.facade.future_wait import WAIT_TIMEOUT_S
from odradek.broker.facade.generated.blocking.transcript import Transcript
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.remote.table import operation_of
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.broker.transcript.request_list import Conditions, Requests, load_transcript

if TYPE_CHECKING:
    from odradek.broker.facade.remote.transport import Transport


class RemoteTranscript(Transcript):
    """The same as `Transcript`, over HTTP: each look fetches the requests. `follow` is not to be had."""

    def __init__(self, remote: Transport) -> None:
        self._remote = remote

    def all(self) -> Requests:
        """The requests as they are now; later ones do not come in."""
        return self._ask("filter")

    def __len__(self) -> int:
        return len(self.all())

    def wait_for(
        self,
        api: str | None = None,
        count: int = 1,
        *,
        timeout: float = WAIT_TIMEOUT_S,
        **conditions: Unpack[Conditions],
    ) -> Requests:
        """Wait until so many requests have been served; see `Transcript.wait_for`. ValueError for ``when``."""
        if "when" in conditions:
            raise ValueError("`when` is a function of this process; the broker is in another one")
        return self._ask("wait_for", api=api, count=count, timeout=timeout, **conditions)

    def follow(self, told: Callable[[RecordedRequest], None]) -> Undo:
        """RuntimeError: the function would be called in the broker's process. GET /v1/requests/stream has the same."""
        raise RuntimeError("a function cannot follow a broker in another process: read /v1/requests/stream")

    def clear(self) -> None:
        """Forget what was asked until now."""
        self._remote.operate(Transcript, "clear", None, {})

    def _ask(self, member: str, **arguments: Any) -> Requests:
        found = self._remote.ask(operation_of(Transcript, member), None, arguments)
        return load_transcript(map(json.dumps, found))
