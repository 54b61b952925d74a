"""Running `odradek tools` in the process of a test."""

from __future__ import annotations

import argparse

from odradek.commands import tools


def run(words: str) -> int:
    """The exit status of a command."""
    parser = argparse.ArgumentParser()
    tools.add_arguments(parser)
    return tools.run(parser.parse_args(words.split(" ")))
