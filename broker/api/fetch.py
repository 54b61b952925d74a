"""Fetch (key 1).

Versions 4 to 18; `older/fetch.py` has 0 to 3, for releases before 4.0. v5 tells the log start offset; v7 brings fetch
sessions (KIP-227); v9 checks the leader epoch that the client knows (KIP-320); v10 allows zstd; v11 reads from
followers, of which the leader names the closest (KIP-392); v12 is flexible and detects diverging logs (KIP-595); v13
names topics by id (KIP-516); v15 moves the replica id; v16 names the current leader beside errors (KIP-951); v17 and
v18 add fields for replicas only.

A fetch waits until `min_bytes` are there or `max_wait_ms` have passed on the broker's clock (`fetch_wait`). Limits are
Kafka's: `partition_max_bytes` for each partition, `max_bytes` (at most `fetch.max.bytes`) for all, but the first batch
of the first partition that has any comes whole. Records are views into the log, or slices of a file: nothing is copied
on the way to the socket. Where a limit falls into a batch the answer ends there, as in Kafka; clients drop that part.
"""

from __future__ import annotations

from typing import Final

from odradek.broker.api.fetch_reader import READ_COMMITTED, FetchReader
from odradek.broker.api.fetch_wait import ParkedFetch
from odradek.broker.partitions.fetch_sessions import is_session_id
from odradek.broker.requests.access import ByItem
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.error_answers import error_response
from odradek.broker.requests.handlers import handles
from odradek.broker.requests.parked_request import Parked
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.fetch import FetchRequest, FetchResponse

_FIRST_VERSION_WITH_SESSIONS: Final = 7


@handles(
    FetchRequest,
    access=ByItem((Operation.READ, Resource.TOPIC), (Operation.CLUSTER_ACTION, Resource.CLUSTER), guard="fetch.fetch"),
    older="fetch.older",
)
def fetch(
    ctx: RequestContext, request: FetchRequest, new_reader: type[FetchReader] = FetchReader
) -> FetchResponse | Parked:
    """Read now; park only when there is less than the client wants to wait for."""
    if not is_session_id(request.session_id):
        return _refuse_everywhere(ctx, request)
    reader = new_reader(ctx, request)
    try:
        reader.open()
    except KafkaError as error:
        return FetchResponse(error_code=error.code)
    if not 0 <= request.isolation_level <= READ_COMMITTED and reader.finds_any():
        return _refuse_everywhere(ctx, request)
    if reader.read() or request.max_wait_ms <= 0:
        return reader.answer()
    parked = ParkedFetch(reader)
    return reader.answer() if parked.is_over() else parked


def _refuse_everywhere(ctx: RequestContext, request: FetchRequest) -> FetchResponse:
    """Kafka answers a session id out of its range with UNKNOWN_SERVER_ERROR, everywhere.

    So it does with an isolation level, which it looks at when there is something to read.
    """
    response: FetchResponse = error_response(request, ctx.api_version, ErrorCode.UNKNOWN_SERVER_ERROR)
    if ctx.api_version >= _FIRST_VERSION_WITH_SESSIONS:
        response.session_id = request.session_id
    return response
