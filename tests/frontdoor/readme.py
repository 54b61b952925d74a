"""Writes README's table of served APIs: `python -m tests.frontdoor.readme`."""

from __future__ import annotations

from pathlib import Path

from odradek.commands.coverage import markdown

README = Path(__file__).parents[2] / "README.md"
START, END = "<!-- coverage -->\n", "<!-- /coverage -->"


def current(text: str) -> str:
    """The text of README with the table as it should be."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}{markdown()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(current(README.read_text()))
