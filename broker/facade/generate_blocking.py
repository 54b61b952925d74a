"""Writes `facade/blocking`: `python -m odradek.broker.facade.generate_blocking`, after a verb was added or changed.

Each module of `facade/verbs` has a twin there that blocks where it awaits. What a broker over HTTP has is written
too: see `generate_remote`. A test compares them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from odradek.broker.facade import generate_remote

SOURCE = Path(__file__).with_name("verbs")
TARGET = Path(__file__).with_name("blocking")

_CHANGES = (
    (
        r"\A\"\"\"(.*?)\"\"\"\n",
        r'"""\1\n\nGenerated from facade/verbs/{name}: do not edit, run\n'
        r'`python -m odradek.broker.facade.generate_blocking`.\n"""\n',
    ),
    (r"from odradek\.broker\.facade\.pending import .*\n", ""),
    (r"Pending\[(\w+)\]", r"\1"),
    (r"Awaitable\[(\w+)\]", r"\1"),
    (r"import Awaitable, ", "import "),
    (r"\b(async|await) ", ""),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"facade\.verbs\.", "facade.blocking."),
    (r"\bTrio(Flavour|Broker)\b", r"Blocking\1"),
    (r"\bTrio([A-Z])", r"\1"),
    (r"\btrio_(wait|settled)", r"blocking_\1"),
    (r"A broker in the caller's trio run", "A broker in a thread of its own"),
    (
        r"Each is awaited; those that can be taken back may be used in ``(with)`` instead.",
        r"Each blocks; those that can be taken back may be used in ``\1``.",
    ),
)


def blocking_sources() -> dict[Path, str]:
    """The modules that `facade/blocking` should have, and their texts."""
    return {TARGET / path.name: _blocking(path) for path in sorted(SOURCE.glob("[!_]*.py"))}


def _blocking(path: Path) -> str:
    text = path.read_text()
    for pattern, replacement in _CHANGES:
        text = re.sub(pattern, replacement.replace("{name}", path.name), text)
    text = _ruff(text, path, "check", "--quiet", "--select", "I", "--fix")
    return _ruff(text, path, "format", "--quiet")


def _ruff(text: str, path: Path, *words: str) -> str:
    command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(TARGET / path.name), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Write what should be there, and remove what should not."""
    sources = blocking_sources()
    for path in set(TARGET.glob("[!_]*.py")) - sources.keys():
        path.unlink()
    for path, text in sources.items():
        path.write_text(text)
    generate_remote.TARGET.write_text(generate_remote.remote_source())


if __name__ == "__main__":
    main()
