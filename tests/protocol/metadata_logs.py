"""What Kafka 4.3.1 wrote into `__cluster_metadata-0`, and what Kafka's own dump tool says of it.

`static` is a node with static voters (kraft.version 0) after five starts, one of them after a kill: topics, configs,
quotas, ACLs, SCRAM users, features, deletions. `dynamic` is a node formatted with `--standalone` (kraft.version 1).
`nodes` is the second of three nodes, of which one was stopped and one killed.
"""

from __future__ import annotations

import json
import re
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

ARCHIVE = Path(__file__).resolve().parent.parent / "vectors" / "metadata_log.tar.gz"
LOG = "00000000000000000000.log"
LOGS = (f"static/{LOG}", f"dynamic/{LOG}", f"nodes/{LOG}")
SNAPSHOTS = (
    "static/00000000000000000158-0000000005.checkpoint",
    "dynamic/00000000000000000000-0000000000.checkpoint",
    "dynamic/00000000000000000026-0000000002.checkpoint",
)


@cache
def metadata_file(name: str) -> bytes:
    """A file of the archive, such as `static/quorum-state`."""
    with tarfile.open(ARCHIVE) as archive:
        member = archive.extractfile(f"metadata_log/{name}")
        assert member is not None
        return member.read()


def dumped_records(name: str) -> list[tuple[int, Any]]:
    """(offset, payload) of each record in Kafka's dump of a file; control records are {their name: fields}."""
    lines = metadata_file(f"{name}.dump").decode().splitlines()
    return [_record(line) for line in lines if line.startswith("|")]


def _record(line: str) -> tuple[int, Any]:
    found = re.fullmatch(r"\| offset: (\d+) .* headerKeys: \[\] (\w+):? (\{.*\})", line)
    assert found is not None, line
    content = json.loads(found[3])
    return int(found[1]), content if found[2] == "payload" else {found[2]: content}
