"""Properties about listeners, and what Kafka's own configuration makes of each: taken, or refused with which words.

``tests/vectors/listener_rules.json`` keeps both. This writes it, with Kafka's jars (see `real_kafka`):

    python -m tests.scenarios.listener_rules tests/vectors/listener_rules.json
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.conformance.real_kafka import java_command

RECORDER = Path(__file__).parent / "java" / "recorders" / "ListenerRulesRecorder.java"
VECTORS = Path(__file__).parents[1] / "vectors"

BASIC = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
controller.listener.names=CONTROLLER
"""
"""In front of each case."""


def ask(cases: Mapping[str, str]) -> dict[str, list[str]]:
    """What Kafka answers to the properties of each case."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"== {name}\n{text}\n" for name, text in cases.items()))
        file.flush()
        command = java_command(str(RECORDER), file.name)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line.split("\t") for line in done.stdout.splitlines() if line.startswith("answer\t")]
    return {name: answer for _, name, *answer in lines}


def recorded(release: str = "") -> dict[str, tuple[str, list[str]]]:
    """Properties and Kafka's answer of each case; those of the default release, if a release was not recorded."""
    own = VECTORS / f"listener_rules-{release}.json"
    cases = json.loads((own if own.exists() else VECTORS / "listener_rules.json").read_text())
    return {name: (case["properties"], case["answer"]) for name, case in cases.items()}


def _main(path: Path) -> None:
    cases = {name: properties for name, (properties, _) in recorded().items()}
    answers = ask(cases)
    table = {name: {"properties": text, "answer": answers[name]} for name, text in cases.items()}
    path.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
