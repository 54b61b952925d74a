"""The subcommands of `odradek`: a module each, named as the command."""

from __future__ import annotations

COMMANDS = {
    "serve": "Run a broker until it is interrupted.",
    "ctl": "Control a running broker over HTTP: nodes, clock, faults, records, groups (serve --control-port).",
    "top": "Watch a running broker: topics, rates, groups with their lag, open transactions (serve --control-port).",
    "coverage": "Show every API with the versions served and what differs from Kafka.",
    "decode": "Decode frames: JSON lines with hex on standard input, JSON lines on standard output.",
    "encode": "Encode frames: the reverse of decode.",
    "dump": "Print what the files of a log directory say.",
    "export": "Copy a running cluster into a log directory that serve --data-dir can serve.",
    "transcript": "Print, select or convert the requests that broker.requests.save(FILE) wrote.",
    "why": "Tell why a consumer group reads nothing, of any running Kafka.",
    "pipeline": "Run a Spark job over Kafka's logs: retry, groups, transactions, audit, report, archive, replay.",
}


class CommandError(Exception):
    """What the user can put right; shown as one line, exit status 2."""
