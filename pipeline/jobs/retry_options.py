"""The options of the retry job's source and sink, checked: each goes to the side that knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from odradek.client_security.options import ClientSecurity, security_options
from odradek.pipeline.source_options import OptionError, SourceOptions, positive_number

_SOURCE = (
    "failOnDataLoss",
    "maxOffsetsPerTrigger",
    "recordsPerTask",
    "bytesPerTask",
    "startingOffsets",
    "startingTimestamp",
)
_SINK = ("transactionalId", "transactionTimeout")


@dataclass(frozen=True)
class RetryOptions:
    """Options for `spark.readStream` and for the sink, both with the cluster and how to log in there."""

    source: Mapping[str, str]
    sink: Mapping[str, str]
    security: ClientSecurity
    transactional_id: str | None
    """What the transactional ids are to begin with."""
    max_offsets: int | None
    """How many a micro-batch may read."""

    @classmethod
    def parse(cls, bootstrap_servers: str, given: Mapping[str, str]) -> RetryOptions:
        """From the options of a job, whose names are not case-sensitive; raises OptionError."""
        options = {name.lower(): value for name, value in given.items()}
        log_in = {f"kafka.{name}": value for name, value in security_options(options, "kafka.").items()}
        known = {name.lower() for name in (*_SOURCE, *_SINK)}
        if unknown := sorted(set(options) - known - set(log_in)):
            names = [*_SOURCE, *_SINK, "kafka.security.*", "kafka.sasl.*", "kafka.ssl.*"]
            raise OptionError(f"unknown option {', '.join(unknown)}; known: {', '.join(names)}")
        cluster = {"kafka.bootstrap.servers": bootstrap_servers, **log_in}
        source, sink = (
            {**cluster, **{name: options[name.lower()] for name in names if name.lower() in options}}
            for names in (_SOURCE, _SINK)
        )
        checked = SourceOptions.parse({**source, "subscribe": "any"})
        positive_number("transactionTimeout", options.get("transactiontimeout"))
        named = sink.get("transactionalId")
        if named == "":
            raise OptionError("transactionalId: the beginning of the transactional ids, not ''")
        return cls(source, sink, checked.security, named, checked.max_offsets_per_trigger)
