"""Names of segment files."""

from __future__ import annotations

import pytest

from odradek.storage.formats.file_names import DELETED, LOG, SNAPSHOT, TIME_INDEX, file_name, parse_file_name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("00000000000000000042.log", (42, LOG, "")),
        ("00000000000000000042.timeindex.deleted", (42, TIME_INDEX, DELETED)),
        ("09223372036854775807.snapshot", (2**63 - 1, SNAPSHOT, "")),
    ],
)
def test_names_there_and_back(name: str, parts: tuple[int, str, str]) -> None:
    assert file_name(*parts) == name
    assert parse_file_name(name) == parts


@pytest.mark.parametrize("name", ["42.log", "00000000000000000042.txt", "00000000000000000042", "partition.metadata"])
def test_other_names(name: str) -> None:
    assert parse_file_name(name) is None
