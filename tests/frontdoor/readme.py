"""`python -m tests.frontdoor.readme` writes README's table of APIs, which comes from the registry of handlers."""

from __future__ import annotations

from pathlib import Path

from odradek.commands.coverage import markdown

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
START, END = "<!-- coverage -->\n", "<!-- /coverage -->"


def current(text: str) -> str:
    """The text of README with the table as it should be."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}{markdown()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(current(README.read_text()))
