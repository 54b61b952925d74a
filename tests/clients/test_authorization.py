"""The table of rights (tests/scenarios/authorization) over a SASL listener: users log in, and tokens are there too."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from odradek.broker.api.generated.index import INDEX
from odradek.protocol.apis import API_BY_KEY
from tests.scenarios.authorization import differing, log_in, odradek_with_users, recorded, tell_all

VECTORS = Path(__file__).parents[1] / "vectors" / "authorization.json.gz"
SERVED = {API_BY_KEY[key].name for key in INDEX}


def test_the_answers_are_kafkas() -> None:
    with odradek_with_users() as port:
        told = tell_all(partial(log_in, port), lambda row: row.api in SERVED)
    expected = {key: answers for key, answers in recorded(VECTORS).items() if key.split(" ")[0] in SERVED}
    assert set(told) == set(expected)
    assert differing(told, expected) == {}
