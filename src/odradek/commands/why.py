"""`odradek why GROUP`: why a group reads nothing; of any Kafka, as far as its protocol tells."""

from __future__ import annotations

import argparse

from odradek.client_config_file import add_bootstrap_servers, add_client_config, client_security
from odradek.commands import CommandError, CommandParser


def add_arguments(parser: CommandParser) -> None:
    """Declare the options."""
    parser.add_argument("group", help="group id")
    add_bootstrap_servers(parser, required=True)
    add_client_config(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask, and print what is known."""
    from odradek.client_security import SecurityOptionError
    from odradek.protocol.errors import KafkaError
    from odradek.why import why
    from odradek.wire_client import WireError

    host, port = arguments.bootstrap_servers
    try:
        print(why(arguments.group, host, port, client_security(arguments.client_config)))
    except (WireError, KafkaError, SecurityOptionError) as error:
        raise CommandError(str(error)) from error
    return 0
