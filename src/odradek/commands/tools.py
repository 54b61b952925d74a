"""`odradek tools NAME`: the commands of Kafka that are used in containers."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from odradek.protocol.errors import KafkaError
from odradek.tools.options import COMMANDS, KAFKA, ToolError, dashed, parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", type=_name, metavar="NAME", help=", ".join(COMMANDS) + "; the name may end in .sh")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help="options of Kafka's command")


def _name(text: str) -> str:
    name = text.removesuffix(".sh")
    if name not in COMMANDS:
        raise argparse.ArgumentTypeError(f"no command {name}; there are {', '.join(COMMANDS)}")
    return name


def run(arguments: argparse.Namespace) -> int:
    """Run the command; its exit status is returned."""
    name = arguments.name
    command = COMMANDS[name]
    try:
        options = parse(name, arguments.words)
        if "version" in options:
            print(KAFKA)
            return 0
        if "help" in options:
            print(f"{name}, as odradek knows it\n")
            lines = [*map(dashed, command.flags.split()), *(f"{dashed(each)} VALUE" for each in command.values.split())]
            print("\n".join(f"  {each}" for each in sorted(lines)))
            return 0
        module, _, function = command.function.partition(":")
        status: int = getattr(import_module(f"odradek.tools.{module}"), function)(options)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, KafkaError, ValueError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return status
