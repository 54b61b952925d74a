"""A conversation that was recorded from Apicurio Registry, which has Confluent's API beside its own.

Where Apicurio leaves Confluent's public documentation, odradek follows the documentation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.frontdoor.registry.conftest import Ask

RECORDED = json.loads((Path(__file__).parents[2] / "vectors" / "registry_apicurio.json").read_text())["steps"]
LEAVES_THE_DOCUMENTATION = {
    ("GET", "/contexts"): "the name of the default context has colons",
    ("GET", "/mode"): "there are no modes",
    ("GET", "/config"): "everything is compatible until a config says otherwise",
    ("GET", "/config/s"): "the global config counts as that of a subject without one",
    ("PUT", "/config/s"): "a level that is none is no JSON to it",
    ("GET", "/subjects/s/versions/0"): "a number that is no version is a version that is not there",
    ("POST", "/compatibility/subjects/s/versions/latest?verbose=true"): "everything is compatible",
}
"""What Apicurio does in place of what is documented, by method and path."""


def _agree(found: tuple[int, Any], recorded: tuple[int, Any]) -> bool:
    """Whether status, error code and each field that Apicurio gives are the same. Words of errors differ."""
    (status, answer), (wanted_status, wanted) = found, recorded
    if status != wanted_status:
        return False
    if isinstance(wanted, dict):
        given = {name: each for name, each in wanted.items() if name != "message" and each not in (None, [])}
        return isinstance(answer, dict) and given.items() <= answer.items()
    return bool(answer == wanted)


def test_answers_are_those_of_apicurio(registry: Ask) -> None:
    different = set()
    for step in RECORDED:
        method, path, body = step["asked"]
        if not _agree(registry(method, path, body), (step["status"], step["answer"])):
            different.add((method, path))
    assert different == set(LEAVES_THE_DOCUMENTATION)
