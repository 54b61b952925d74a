"""`--client-config FILE`: a properties file as the Java client and Kafka's tools take it, for odradek's commands."""

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
