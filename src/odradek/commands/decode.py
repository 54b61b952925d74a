"""`odradek decode`: frames and JSON, one line each."""

from __future__ import annotations

import argparse
import sys

from odradek.commands import CommandParser


def add_arguments(parser: CommandParser) -> None:
    """Declare the options."""
    parser.add_argument("kind", choices=("request", "response"), help="whether the lines are requests or responses")


def run(arguments: argparse.Namespace) -> int:
    """Convert standard input to standard output; 1 if a line was bad."""
    from odradek.codec_command import run_decode

    return run_decode(arguments.kind, sys.stdin, sys.stdout)
