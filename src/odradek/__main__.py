"""The `odradek` command: a table of subcommands, each a module of `odradek.commands` that is imported when chosen.

A command module has `add_arguments(parser)` and `run(arguments) -> int` (the exit status). It raises
`odradek.commands.CommandError`, or lets an OSError through, for what the user can put right: one line on standard
error, exit status 2.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from odradek._compiled import compiled
from odradek._version import __version__
from odradek.commands import COMMANDS, MODULES, CommandError, CommandParser, os_error_text
from odradek.protocol.shown import printable


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is returned."""
    words = list(sys.argv[1:] if argv is None else argv)
    chosen = next((word for word in words if not word.startswith("-")), None)
    parser = CommandParser(
        prog="odradek", description="Apache Kafka in your test process.", example="odradek serve --topic orders:6"
    )
    kind = "compiled" if compiled else "pure"
    parser.add_argument("--version", action="version", version=f"odradek {__version__} ({kind})")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (help_text, example) in COMMANDS.items():
        command = commands.add_parser(name, help=help_text, description=help_text, example=example)
        if name == chosen:
            module = importlib.import_module(f"odradek.commands.{MODULES.get(name, name)}")
            module.add_arguments(command)
    arguments = parser.parse_args(words)
    try:
        status: int = module.run(arguments)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (CommandError, OSError) as error:
        said = os_error_text(error) if isinstance(error, OSError) else error
        job = getattr(arguments, "job", "")  # of `odradek pipeline`
        print(printable(f"{' '.join(filter(None, ('odradek', arguments.command, job)))}: {said}"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    raise SystemExit(main())
