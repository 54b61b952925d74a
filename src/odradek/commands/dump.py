"""`odradek dump`: prints the files of a log directory."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from odradek.commands import CommandError, CommandParser
from odradek.protocol.shown import one_line


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("path", type=Path, help="segment, index, snapshot or checkpoint file, or a directory of them")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line instead of text")


def run(arguments: argparse.Namespace) -> int:
    """Print every item; the exit status is 1 if a file is damaged."""
    from odradek.storage.dump import dump, render_text

    if not arguments.path.exists():
        raise CommandError(f"{arguments.path}: no such file or directory")
    found = bad = False
    for item in dump(arguments.path):
        if item["kind"] == "error" and not found and not arguments.path.is_dir():
            raise CommandError(f"{arguments.path}: {item['error']}")
        found = True
        bad = bad or item["kind"] == "error" or item.get("valid") is False
        sys.stdout.write((json.dumps(item) if arguments.json else one_line(render_text(item))) + "\n")
    if not found:
        raise CommandError(f"{arguments.path}: no files of a Kafka log directory here")
    return int(bad)
