"""What can be followed over HTTP: lines of JSON, one for each thing that happens, until the reader hangs up."""

from __future__ import annotations

from dataclasses import replace

from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.generated.blocking.transcript import Transcript
from odradek.broker.facade.remote.operations import Operation, Parameter, operation_of

_LATEST = Parameter("latest", int | None, None)

REQUESTS = replace(
    operation_of(Transcript, "filter"),
    member="stream",
    path="/v1/requests/stream",
    parameters=(*operation_of(Transcript, "filter").parameters, _LATEST),
    doc="Requests as they come to their end, a line of JSON for each, until the reader hangs up.\n\n"
    '`latest`: no more than so many at a time, ten times a second; {"left_out": n} says how many were passed over.',
)
RECORDS = replace(
    operation_of(BlockingBroker, "decoded_records"),
    member="records_stream",
    path="/v1/records/stream",
    parameters=(*operation_of(BlockingBroker, "decoded_records").parameters, _LATEST),
    doc="Records of a topic as they come, as `decoded_records` has them: a line of JSON for each, until the reader "
    "hangs up.\n\n"
    "`start`: begin at this offset, else with what comes from now on. `latest`: begin so many offsets before the end "
    'of each partition, and give no more of one at a time; {"left_out": n} says how many offsets were passed over. '
    '`limit`: end after so many records. An {"error": ...} is the last line.',
)
STREAMS: tuple[Operation, ...] = (RECORDS, REQUESTS)
