"""`kafka-storage` in the image: `random-uuid`, and `format`, whose SCRAM users the broker creates when it starts.

Nothing needs to be formatted. What `format` is told is kept in a file that `odradek serve --from-env` reads; so are the
users that `kafka-configs --zookeeper` creates.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def kept_file() -> Path:
    """Where `format` leaves its words: `$ODRADEK_FORMAT_FILE`, or a file in the user's folder."""
    return Path(os.environ.get("ODRADEK_FORMAT_FILE") or Path.home() / ".odradek-format.json")


def formatted() -> dict[str, Any]:
    """`cluster_id` and `scram` as the last `format` said them; empty without one."""
    try:
        found: dict[str, Any] = json.loads(kept_file().read_text())
    except FileNotFoundError:
        return {}
    return found


def keep(cluster_id: str | None, scram: Sequence[str]) -> None:
    """Leave a cluster id (None: the one before), and more users, for the broker's start."""
    before = formatted()
    file = kept_file()
    file.touch(mode=0o600)
    kept = {
        "cluster_id": cluster_id or before.get("cluster_id"),
        "scram": [*dict.fromkeys([*before.get("scram", []), *scram])],
    }
    file.write_text(json.dumps(kept))


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("kafka-storage")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("random-uuid", help="print a random cluster id")
    formatting = commands.add_parser("format", help="keep the cluster id and the users for the broker's start")
    formatting.add_argument("--cluster-id", "-t", required=True)
    formatting.add_argument("--config", "-c", help="has no effect: configs come from the environment")
    formatting.add_argument("--add-scram", "-S", action="append", default=[])
    formatting.add_argument("--ignore-formatted", "-g", action="store_true")
    formatting.add_argument("--standalone", "-s", action="store_true")
    arguments = parser.parse_args(words)
    if arguments.command == "random-uuid":
        from odradek.protocol.uuids import new_uuid_text

        print(new_uuid_text())
        return 0
    if arguments.add_scram:
        from odradek.broker.security.sasl.credentials import scram_record

        try:
            for text in arguments.add_scram:
                scram_record(text)
        except ValueError as error:
            print(f"kafka-storage: --add-scram: {error}", file=sys.stderr)
            return 2
    keep(arguments.cluster_id, arguments.add_scram)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
