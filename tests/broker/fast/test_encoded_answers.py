"""Kept answers: true as long as a version stands, and not too many."""

from __future__ import annotations

from odradek.broker.fast.encoded_answers import MAX_BYTES, KeptAnswers


def ask(kept: KeptAnswers, api: str, question: object, answer: object, size: int = 1) -> None:
    kept.of(api, 1)
    kept.keep(api, question, answer, size)


def test_a_newer_version_empties_the_table_of_its_api_alone() -> None:
    kept = KeptAnswers()
    ask(kept, "Metadata", "q", "a")
    ask(kept, "ApiVersions", "q", "b")
    assert kept.of("Metadata", 1) == {"q": "a"}
    assert kept.of("Metadata", 2) == {}
    assert kept.of("ApiVersions", 1) == {"q": "b"}


def test_a_full_table_begins_anew() -> None:
    kept = KeptAnswers()
    for question in range(200):
        ask(kept, "Metadata", question, question)
    assert 0 < len(kept.of("Metadata", 1)) <= 64


def test_large_answers_fill_a_table_sooner_and_one_too_large_is_not_kept() -> None:
    kept = KeptAnswers()
    for question in range(5):
        ask(kept, "Metadata", question, question, MAX_BYTES // 3)
    assert kept.of("Metadata", 1) == {3: 3, 4: 4}
    ask(kept, "Metadata", "all", "all", MAX_BYTES + 1)
    assert "all" not in kept.of("Metadata", 1)
