"""`odradek export`: a running cluster's topics, settings, records and committed offsets as a log directory."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from odradek.client_config_file import add_client_config, client_security
from odradek.commands import CommandError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("directory", type=Path, metavar="DIR", help="where to write; must not exist or be empty")
    parser.add_argument("--from", dest="source", required=True, metavar="HOST:PORT", help="any Kafka to copy from")
    parser.add_argument("--topic", action="append", default=[], metavar="NAME", help="only this topic (repeatable)")
    add_client_config(parser)


def run(arguments: argparse.Namespace) -> int:
    """Copy, and say what was copied."""
    from odradek.client_security import SecurityOptionError
    from odradek.export import export
    from odradek.protocol.errors import KafkaError
    from odradek.wire_client import WireError

    host, colon, port = arguments.source.rpartition(":")
    if not colon or not port.isdecimal():
        raise CommandError(f"--from {arguments.source}: expected HOST:PORT")
    try:
        security = client_security(arguments.client_config)
        report = export(arguments.directory, host.strip("[]"), int(port), arguments.topic, security=security)
    except (WireError, KafkaError, SecurityOptionError) as error:
        raise CommandError(str(error)) from error
    for remark in report.remarks:
        print(remark, file=sys.stderr)
    print(
        f"{report.topics} topics, {report.partitions} partitions, {report.batches} batches, {report.size_bytes} bytes; "
        f"serve them with: odradek serve --data-dir {arguments.directory}"
    )
    return 0
