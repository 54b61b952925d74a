"""A whole test with each client: a fresh topic, ten records into it, a fresh group that reads and commits, and the end.

The programs print how long each step took. The admin client is one for all tests of a program; producers and consumers
are new in each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from tests.conformance.real_kafka import java_command
from tests.scenarios.java_host import compiled
from tests.scenarios.test_other_clients import go_program, js_folder

CLIENTS = ("confluent", "kafka-python", "aiokafka", "java", "kafkajs", "franz-go-env")
STEPS = ("create the topic", "produce", "consume", "commit", "close")
RECORDS = 10

Seconds = Mapping[str, float]
"""By step."""


def run(client: str, config: Mapping[str, Any], tests: int = 1) -> list[Seconds]:
    """Run so many tests with a client, one after the other; ``config`` is what `client_config` gives.

    Skips, or raises :class:`Unavailable`, where the client cannot be had; RuntimeError for a program that fails.
    """
    words = json.dumps(config)
    environment: Mapping[str, str] = {}
    match client:
        case "java":
            command = java_command("scenarios.WholeTest", str(tests), words)
            place = command.index("-cp") + 1
            command[place] = f"{compiled()}:{command[place]}"
        case "kafkajs":
            node, folder = js_folder()
            command = [node, str(folder / "whole_test.mjs"), str(tests), words]
        case "franz-go-env":
            command, environment = [str(go_program("whole_test/main.go")), str(tests)], config
        case _:
            command = [sys.executable, "-m", "tests.scenarios.whole_test_python", client, str(tests), words]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{client} ended with status {done.returncode}: {done.stderr.strip()[-2000:]}")
    found: list[Seconds] = json.loads(done.stdout.splitlines()[-1])
    return found
