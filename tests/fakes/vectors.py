"""What real Kafkas told, by release."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.releases.release import DEFAULT

VECTORS = Path(__file__).parents[1] / "vectors"
OTHER = "4.3"
"""Another release that was recorded, where it tells something otherwise."""


def vectors_of(module: str, release: str = DEFAULT) -> Path:
    """The recordings of a module of `tests.scenarios`; a release without its own has those of the default."""
    own = VECTORS / f"{module}-{release}.json.gz"
    return own if own.exists() else VECTORS / f"{module}.json.gz"


@cache
def recorded(module: str, release: str = DEFAULT) -> dict[str, Any]:
    """What a real Kafka of a release told, by the name of the conversation."""
    conversations: dict[str, Any] = json.loads(gzip.decompress(vectors_of(module, release).read_bytes()))
    return conversations


def cases(module: str, names: Iterable[str]) -> list[Any]:
    """Each conversation with the default release, and with the other one if that tells it otherwise, as parameters."""
    names = list(names)
    default, other = recorded(module), recorded(module, OTHER)
    differing = [name for name in names if default[name] != other[name]]
    return [pytest.param(name, DEFAULT, id=name) for name in names] + [
        pytest.param(name, OTHER, id=f"{name}-{OTHER}") for name in differing
    ]
