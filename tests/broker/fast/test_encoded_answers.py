"""Kept answers: true as long as a version stands, and not too many."""

from __future__ import annotations

from odradek.broker.fast.encoded_answers import KeptAnswers


def test_a_newer_version_empties_the_table_of_its_api_alone() -> None:
    kept = KeptAnswers()
    kept.of("Metadata", 1)["q"] = "a"
    kept.of("ApiVersions", 1)["q"] = "b"
    assert kept.of("Metadata", 1) == {"q": "a"}
    assert kept.of("Metadata", 2) == {}
    assert kept.of("ApiVersions", 1) == {"q": "b"}


def test_a_full_table_begins_anew() -> None:
    kept = KeptAnswers()
    for question in range(200):
        kept.of("Metadata", 1)[question] = question
    assert 0 < len(kept.of("Metadata", 1)) <= 64
