"""Stores made by keytool of a JDK 17 (`tests/vectors/key_stores.json`), with what keytool says is in them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

VECTORS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "vectors" / "key_stores.json").read_text(encoding="utf-8")
)


def store_bytes(name: str) -> bytes:
    """The file."""
    return base64.b64decode(VECTORS[name]["data"])


def write_store(name: str, folder: Path) -> str:
    """The path of a copy of the file."""
    path = folder / name
    path.write_bytes(store_bytes(name))
    return str(path)


def digests(name: str, kind: str) -> dict[str, list[str]]:
    """SHA-256 of the certificates of each entry of the kind, by its alias."""
    return {alias: entry["sha256"] for alias, entry in VECTORS[name]["entries"].items() if entry["kind"] == kind}
