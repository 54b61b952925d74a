"""The environments of public compose files (tests/vectors/compose_environments.json): names and values, and what the
Kafka images derive from them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

from tests.scenarios.authority import Authority

FILE = Path(__file__).parents[2] / "vectors" / "compose_environments.json"
PASSWORD = "abcdefgh"


class Environment(TypedDict):
    """One Kafka service. `host` is its name in the network, `listeners` what its image listens on.

    `refused` is part of the line that says why it cannot be, None for one that starts; `refused_in_image` is the same
    for a container, whose user may not write everywhere. `files`: path below the root to content, or `key store`,
    `trust store` and `password` for such a file.
    """

    name: str
    image: str
    host: str
    environment: dict[str, str]
    refused: str | None
    refused_in_image: str | None
    files: dict[str, str]
    listeners: str


ENVIRONMENTS: list[Environment] = json.loads(FILE.read_text())
STARTED = [each for each in ENVIRONMENTS if each["refused"] is None]


def _trust_store(ca: Path) -> bytes:
    trusted = pkcs12.PKCS12Certificate(x509.load_pem_x509_certificate(ca.read_bytes()), b"ca")
    return pkcs12.serialize_java_truststore([trusted], BestAvailableEncryption(PASSWORD.encode()))


def write_files(environment: Environment, root: Path) -> None:
    """The files that the environment names, below `root`."""
    if not environment["files"]:
        return
    authority = Authority(root / "authority")
    authority.issue("broker", "localhost", environment["host"])
    contents = {
        "key store": authority.pkcs12("broker", PASSWORD).read_bytes(),
        "trust store": _trust_store(authority.ca),
        "password": PASSWORD.encode(),
    }
    for name, kind in environment["files"].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents.get(kind, kind.encode()))
