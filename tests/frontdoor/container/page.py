"""`make pages`: writes the tables of docs/containers.md from the code that reads the variables."""

from __future__ import annotations

import re
from pathlib import Path

from odradek.container.environment import markdown

PAGE = Path(__file__).resolve().parents[3] / "docs" / "containers.md"

if __name__ == "__main__":
    text = PAGE.read_text()
    PAGE.write_text(re.sub(r"(?s)(?<=<!-- variables -->\n).*(?=<!-- end -->)", lambda _: markdown(), text))
