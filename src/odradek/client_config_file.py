"""`--bootstrap-servers` and `--client-config` of odradek's commands: a cluster, and a properties file as Kafka's tools
take it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from odradek.client_security.errors import SecurityOptionError
from odradek.client_security.options import ClientSecurity, security_options
from odradek.storage.java_properties import parse_properties


def add_client_config(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument(
        "--client-config",
        type=Path,
        metavar="FILE",
        help="properties file with security.protocol, sasl.* and ssl.*, as for --command-config of Kafka's tools",
    )


def add_bootstrap_servers(parser: argparse.ArgumentParser, *others: str, required: bool = False) -> None:
    """Declare the option of a cluster: (host, port) of the first address. ``others``: what it is called, too."""
    parser.add_argument(
        "--bootstrap-servers",
        *others,
        type=_first_address,
        required=required,
        metavar="HOST:PORT",
        help="a broker of the cluster; any Kafka will do",
    )


def _first_address(text: str) -> tuple[str, int]:
    host, colon, port = text.partition(",")[0].strip().rpartition(":")
    if not colon or not port.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: expected HOST:PORT")
    return host.strip("[]"), int(port)


def client_options(path: Path | None) -> dict[str, str]:
    """The security options of the file; what else is in it is named on standard error. SecurityOptionError."""
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
    return ClientSecurity.parse(client_options(path))
