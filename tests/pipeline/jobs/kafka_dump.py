"""What Kafka's dump tool says about the coordinators' logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DUMPED = re.compile(r"\| offset: (\d+) \w+: (\d+) .* key: (\{.*\}) payload: (.*)$")


def dumped(folder: Path, topic: str) -> Iterator[tuple[str, int, int, int, Any, Any]]:
    """(record type, log partition, offset, time, key, value or None) as Kafka's dump tool prints them."""
    for path in sorted(folder.glob(f"{topic}-*/log.txt")):
        for line in path.read_text().splitlines():
            if found := _DUMPED.match(line):
                key = json.loads(found[3])
                value = None if found[4] in ("null", "<DELETE>") else json.loads(found[4])["data"]
                partition = int(path.parent.name.rpartition("-")[2])
                yield key["type"], partition, int(found[1]), int(found[2]), key["data"], value
