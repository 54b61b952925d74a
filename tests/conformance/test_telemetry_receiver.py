"""A real Kafka advertises the telemetry APIs with a metrics reporter that takes client metrics, and not without one.

It serves them either way (`test_telemetry_conversations` runs without one).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from tests.conformance import real_kafka
from tests.conformance.real_kafka import RealKafka
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import Target
from tests.scenarios.telemetry_conversations import transcribe

RECEIVER = Path(__file__).parents[1] / "scenarios" / "java" / "telemetry" / "Receiver.java"
TELEMETRY = {71, 72}


def advertised(bootstrap: str) -> set[int]:
    with WireClient.at(bootstrap) as client:
        return {row.api_key for row in client.request(ApiVersionsRequest("test", "1"), 4).api_keys} & TELEMETRY


def test_not_advertised_without_a_receiver(broker: Target) -> None:
    assert advertised(broker.bootstrap) == set()


def test_advertised_with_a_receiver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("needs a JDK 17: no `javac` on the PATH")
    jars = real_kafka.classpath()
    subprocess.run([javac, "-nowarn", "-d", str(tmp_path), "-cp", jars, str(RECEIVER)], check=True)
    monkeypatch.setattr(real_kafka, "classpath", lambda: f"{tmp_path}:{jars}")
    with RealKafka(config={"metric.reporters": "Receiver"}) as kafka:
        assert advertised(kafka.bootstrap_servers) == TELEMETRY
        assert transcribe("lifecycle", kafka.bootstrap_servers)[0][1]["error"] == "NONE"
