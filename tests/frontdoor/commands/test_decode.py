"""``odradek decode`` at a shell."""

from __future__ import annotations

import json
import subprocess
import sys


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "odradek", *words]


def test_decode_and_encode_are_reverses() -> None:
    line = {"key": 18, "version": 3, "hex": "00120003000000010006676f6c64656e0007676f6c64656e04312e3000"}
    decoded = subprocess.run(
        command("decode", "request"), input=json.dumps(line) + "\nnonsense\n", capture_output=True, text=True
    )
    first, second = map(json.loads, decoded.stdout.splitlines())
    assert decoded.returncode == 1
    assert set(second) == {"error"}
    assert first["body"] == {"clientSoftwareName": "golden", "clientSoftwareVersion": "1.0"}
    back = {"key": 18, "version": 3, **first}
    encoded = subprocess.run(
        command("encode", "request"), input=json.dumps(back) + "\n", capture_output=True, text=True
    )
    assert encoded.returncode == 0
    assert json.loads(encoded.stdout)["hex"] == line["hex"]
