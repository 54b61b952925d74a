"""`odradek export`: a cluster's topics, settings, records and committed offsets, and a registry's schemas, as a log
directory."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from odradek.client_config_file import add_bootstrap_servers, add_client_config, client_security
from odradek.commands import CommandError, CommandParser


def add_arguments(parser: CommandParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "directory", type=Path, metavar="DIR", help="directory to write; it must be empty, or not exist"
    )
    add_bootstrap_servers(parser, "--from")
    parser.add_argument(
        "--topic", action="append", default=[], metavar="NAME", help="copy only this topic (repeatable)"
    )
    parser.add_argument(
        "--registry",
        metavar="URL",
        help="a schema registry to copy, alone or with --bootstrap-servers; http://USER:PASSWORD@HOST:PORT logs in",
    )
    parser.add_argument(
        "--registry-token",
        default=os.environ.get("ODRADEK_REGISTRY_TOKEN") or None,
        metavar="TOKEN",
        help="token to send to the registry (default $ODRADEK_REGISTRY_TOKEN)",
    )
    add_client_config(parser)
    parser.needs("--registry-token", "--registry")
    for option in ("--topic", "--client-config"):
        parser.needs(option, "--bootstrap-servers")


def run(arguments: argparse.Namespace) -> int:
    """Copy, and say what was copied."""
    from odradek.client_security import SecurityOptionError
    from odradek.export import export
    from odradek.protocol.errors import KafkaError
    from odradek.registry.copying import RegistrySource, RegistrySourceError
    from odradek.wire_client import WireError

    address = arguments.bootstrap_servers
    if address is None and arguments.registry is None:
        raise CommandError("nothing to copy from: give --bootstrap-servers HOST:PORT, --registry URL, or both")
    try:
        registry = None if arguments.registry is None else RegistrySource(arguments.registry, arguments.registry_token)
        security = client_security(arguments.client_config)
        report = export(arguments.directory, address, arguments.topic, security=security, registry=registry)
    except (WireError, KafkaError, SecurityOptionError, RegistrySourceError) as error:
        raise CommandError(str(error)) from error
    for remark in report.remarks:
        print(remark, file=sys.stderr)
    copied = f"topics: {report.topics}, partitions: {report.partitions}, batches: {report.batches}"
    copied += f", bytes: {report.size_bytes}"
    served = f"odradek serve --data-dir {arguments.directory}"
    if registry is not None:
        copied, served = f"{copied}, versions of schemas: {report.schemas}", f"{served} --registry-port 8081"
    print(f"{copied}; serve them with: {served}")
    return 0
