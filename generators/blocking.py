"""Source text of the verbs of a broker that blocks, from those that are awaited (`broker/facade/verbs`)."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "broker" / "facade" / "verbs"
TARGET = "broker/facade/generated/blocking"

_CHANGES = (
    (
        r"\A\"\"\"(.*?)\"\"\"\n",
        r'"""\1\n\nGenerated from facade/verbs/{name}: do not edit, run `make generate`.\n"""\n',
    ),
    (r"import Pending, Trio", "import Trio"),
    (r"Pending\[(\w+)\]", r"\1"),
    (r"Awaitable\[(\w+)\]", r"\1"),
    (r"import Awaitable, ", "import "),
    (r"\b(async|await) ", ""),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"facade\.verbs\.", "facade.generated.blocking."),
    (r"\bTrio(Verbs|Broker)\b", r"Blocking\1"),
    (r"\bTrio([A-Z])", r"\1"),
    (r"(, )?offload=self\.(_broker\.)?_offload", ""),
    (r"\btrio_(wait|settled)", r"blocking_\1"),
    (r"A broker in the caller's trio run", "A broker in a thread of its own"),
    (
        r"Each is awaited; those that can be taken back may be used in ``(with)`` instead.",
        r"Each blocks; those that can be taken back may be used in ``\1``.",
    ),
)


def files() -> dict[str, str]:
    """Path -> source text: of each module of `facade/verbs` a twin that blocks where it awaits."""
    return {f"{TARGET}/{path.name}": _blocking(path) for path in sorted(SOURCE.glob("[!_]*.py"))}


def _blocking(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    for pattern, replacement in _CHANGES:
        text = re.sub(pattern, replacement.replace("{name}", path.name), text)
    return text
