"""Kafka's own integration tests on odradek do no less than the table says; each day some of them in turn.

`make kafka-suite` runs all of them; docs/kafka-suite.md has the table.
"""

from __future__ import annotations

import datetime

import pytest

from tests.conformance.kafka_suite import jars, runner, table
from tests.conformance.real_kafka import Unavailable


@pytest.mark.jdk
def test_classes_whose_turn_it_is() -> None:
    try:
        jars.classpath()
    except Unavailable as missing:
        pytest.skip(str(missing))
    known = table.read()
    assert set(known) == set(jars.test_classes())
    names = [name for name in table.turn(known, datetime.datetime.now(datetime.UTC).date()) if jars.can_run(name)]
    results = runner.run(names, table.is_explained)
    worse = [
        line
        for name in names
        for line in table.worse(name, table.entry(name, known[name]["jar"], results[name], 0), known[name])
    ]
    repeat = ",".join(sorted({line.partition(".")[0] for line in worse}))
    assert not worse, "\n  ".join(["worse than the table:", *worse, f"repeat with: make kafka-suite ONLY={repeat}"])
