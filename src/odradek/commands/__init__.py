"""The subcommands of `odradek`: one module each, with the name of the command.

A module has ``add_arguments(parser)`` and ``run(arguments)``, which returns the exit status. It is imported only when
its command runs. Nothing here owns state.
"""

from __future__ import annotations

COMMANDS = {
    "serve": "Run a broker until it is interrupted.",
    "ctl": "Control a broker that runs with --control-port: nodes, clock, faults, records, groups.",
    "top": "Watch a broker that runs with --control-port: topics, rates, group lag, open transactions.",
    "coverage": "List every API with the versions that odradek serves and its differences from Kafka.",
    "decode": "Decode frames from hex to JSON, one per line, from standard input to standard output.",
    "encode": "Encode frames from JSON to hex: the reverse of decode.",
    "dump": "Print the contents of the files in a log directory.",
    "export": "Copy a running cluster into a log directory for serve --data-dir.",
    "transcript": "Print, filter or convert a transcript that broker.requests.save(FILE) wrote.",
    "why": "Explain why a consumer group reads nothing, on any running Kafka.",
    "pipeline": "Run a Spark job over Kafka's topics or log directories: reports, audit, retry, archive.",
}


class CommandError(Exception):
    """A mistake that the user can fix. It is printed as one line, and the exit status is 2."""
