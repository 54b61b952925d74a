"""`odradek why GROUP --at HOST:PORT`: why a group reads nothing; of any Kafka, as far as its protocol tells."""

from __future__ import annotations

import argparse

from odradek.client_config_file import add_client_config, client_security
from odradek.commands import CommandError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("group", help="group id")
    parser.add_argument("--at", required=True, metavar="HOST:PORT", help="a broker of the cluster")
    add_client_config(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask, and print what is known."""
    from odradek.client_security import SecurityOptionError
    from odradek.protocol.errors import KafkaError
    from odradek.why import why
    from odradek.wire_client import WireError

    host, colon, port = arguments.at.rpartition(":")
    if not colon or not port.isdecimal():
        raise CommandError(f"--at {arguments.at}: expected HOST:PORT")
    try:
        print(why(arguments.group, host.strip("[]"), int(port), client_security(arguments.client_config)))
    except (WireError, KafkaError, SecurityOptionError) as error:
        raise CommandError(str(error)) from error
    return 0
