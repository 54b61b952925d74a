"""The subcommands of `odradek`: one module each, with the name of the command.

A module has ``add_arguments(parser)``, which declares its options, and ``run(arguments)``, which returns the exit
status. It is imported only when its command runs. Nothing here owns state. Here are the table of commands, and the
options that several of them have.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from odradek.client_security.options import ClientSecurity

COMMANDS = {
    "serve": (
        "Run a broker until it is interrupted.",
        "odradek serve --port 9092 --topic orders:6 --control-port 9090",
    ),
    "ctl": (
        "Control a broker that runs with --control-port: nodes, clock, faults, records, groups.",
        "odradek ctl clock advance hours=1",
    ),
    "top": (
        "Watch a broker that runs with --control-port: topics, rates, group lag, open transactions.",
        "odradek top --at http://127.0.0.1:9090",
    ),
    "coverage": (
        "List every API with the versions that odradek serves and its differences from Kafka.",
        "odradek coverage --configs",
    ),
    "decode": (
        "Decode frames from hex to JSON, one per line, from standard input to standard output.",
        """echo '{"hex": "0012000000000001000474657374"}' | odradek decode request""",
    ),
    "encode": (
        "Encode frames from JSON to hex: the reverse of decode.",
        """echo '{"hex": "0012000000000001000474657374"}' | odradek decode request | odradek encode request""",
    ),
    "dump": (
        "Print the contents of the files in a log directory.",
        "odradek dump DIR/orders-0",
    ),
    "export": (
        "Copy a running cluster into a log directory for serve --data-dir.",
        "odradek export DIR --bootstrap-servers 127.0.0.1:9092 --topic orders",
    ),
    "transcript": (
        "Print, filter or convert a transcript that broker.requests.save(FILE) wrote.",
        "odradek transcript FILE --api Fetch --topic orders --error any",
    ),
    "tools": (
        "Run a command of Kafka's, such as kafka-topics, on any running Kafka.",
        "odradek tools kafka-topics --bootstrap-server localhost:9092 --list",
    ),
    "why": (
        "Explain why a consumer group reads nothing, on any running Kafka.",
        "odradek why shipping --bootstrap-servers 127.0.0.1:9092",
    ),
    "pipeline": (
        "Run a Spark job over Kafka's topics or log directories: reports, audit, retry, archive.",
        "odradek pipeline report report.html --bootstrap-servers 127.0.0.1:9092",
    ),
}
"""What each command does, and an example of it."""
MODULES = {"decode": "codec", "encode": "codec"}
"""Command to its module, where that has another name."""


class CommandError(Exception):
    """A mistake that the user can fix. It is printed as one line, and the exit status is 2."""


class CommandParser(argparse.ArgumentParser):
    """Prints a wrong option in one line, not below a page of usage, and has an `example` in its help."""

    def __init__(self, *arguments: Any, example: str = "", **options: Any) -> None:
        if example:
            options |= {"epilog": f"example:\n  {example}", "formatter_class": argparse.RawDescriptionHelpFormatter}
        super().__init__(*arguments, **options | {"conflict_handler": "resolve"})  # for a --help of its own
        self._needs: list[tuple[argparse.Action, argparse.Action]] = []

    def needs(self, option: str, other: str) -> None:
        """Refuse an option that says nothing without the other one. Both have been added, and have no default value."""
        actions = self._option_string_actions
        self._needs.append((actions[option], actions[other]))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Options that are all known: an unknown one is an error of the command, not of `odradek`."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            from odradek.broker.mistakes import did_you_mean

            nearest = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized argument {unknown[0]}{nearest}")
        for option, other in self._needs:
            if getattr(found, option.dest) != option.default and getattr(found, other.dest) == other.default:
                self.error(f"{option.option_strings[0]} needs {other.option_strings[0]}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """One line, and the exit status 2."""
        said = " ".join(message.removeprefix("argument ").split())
        self.exit(2, f"{self.prog}: {said} ({self.prog} --help)\n")


def add_control_api(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a control API: its URL and its token."""
    usual = "http://127.0.0.1:9090"
    parser.add_argument(
        "--at",
        default=os.environ.get("ODRADEK_CONTROL") or usual,
        metavar="URL",
        help=f"URL of the control API (default $ODRADEK_CONTROL, else {usual})",
    )
    parser.add_argument(
        "--token",
        default=os.environ.get("ODRADEK_CONTROL_TOKEN"),
        help="token of the control API (default $ODRADEK_CONTROL_TOKEN)",
    )


def add_client_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--client-config",
        type=Path,
        metavar="FILE",
        help="properties file with security.protocol, sasl.* and ssl.*, as for --command-config of Kafka's tools",
    )


def add_bootstrap_servers(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Declare the option of a cluster."""
    parser.add_argument(
        "--bootstrap-servers",
        required=required,
        metavar="HOST:PORT,...",
        help="brokers of the cluster; any Kafka will do",
    )


def client_options(path: Path | None) -> dict[str, str]:
    """The security options of the file; what else is in it is named on standard error. SecurityOptionError."""
    from odradek.client_security.options import ClientSecurity, SecurityOptionError, security_options
    from odradek.storage.java_properties import parse_properties

    if path is None:
        return {}
    try:
        given = parse_properties(path.read_bytes())
    except OSError as error:
        raise SecurityOptionError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise SecurityOptionError(f"{path}: {error}") from None
    options = security_options(given)
    if others := sorted(set(given) - set(options)):
        print(f"{path}: only security options count here, not {', '.join(others)}", file=sys.stderr)
    ClientSecurity.parse(options)
    return options


def client_security(path: Path | None) -> ClientSecurity:
    """The same as a value for odradek's own clients."""
    from odradek.client_security.options import ClientSecurity

    return ClientSecurity.parse(client_options(path))


def os_error_text(error: OSError) -> str:
    """``FILE: No such file or directory``."""
    if not error.strerror:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
