"""Encoded answers are kept while what they tell is true."""

from __future__ import annotations

from odradek.broker.requests.kept_answers import KeptAnswers


def test_a_newer_version_of_the_facts_empties_the_table_of_its_api_only() -> None:
    answers = KeptAnswers()
    answers.of("Metadata", 1)["question"] = b"answer"
    answers.of("ApiVersions", 1)[4] = b"other"
    assert answers.of("Metadata", 1) == {"question": b"answer"}
    assert answers.of("Metadata", 2) == {}
    assert answers.of("ApiVersions", 1) == {4: b"other"}


def test_a_table_does_not_grow_for_ever() -> None:
    answers = KeptAnswers()
    for number in range(1000):
        answers.of("Metadata", 1)[number] = b""
        assert len(answers.of("Metadata", 1)) <= 64
