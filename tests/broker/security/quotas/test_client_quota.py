"""Throttle times are those that Kafka's own quota managers computed (tests/scenarios/quota_figures.py)."""

from __future__ import annotations

import gzip
import json
from math import inf
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.security.quotas.client_quota import ClientQuota, MutationQuota
from odradek.broker.security.quotas.limits import PRODUCE, Limits
from odradek.broker.security.quotas.rate import Window

VECTORS = Path(__file__).parents[3] / "vectors" / "quota_figures.json.gz"
STORIES: list[dict[str, Any]] = json.loads(gzip.decompress(VECTORS.read_bytes()))
NOW_MS = 1_700_000_000_000
MOST = 1.7976931348623157e308
ALICE: QuotaEntity = (("user", "alice"),)


def limits(quotas: dict[QuotaEntity, float]) -> Limits:
    return Limits(PRODUCE, {entity: {PRODUCE: value} for entity, value in quotas.items()})


def told(story: dict[str, Any]) -> list[Any]:
    """What our quotas say to the steps of a story."""
    window = Window(story["samples"], story["seconds"] * 1000)
    used = ClientQuota(limits({}), window, window.sample_ms if story["kind"] == "request" else None)
    mutations = MutationQuota(limits({}), window)
    quotas: dict[QuotaEntity, float] = {}
    now_ms = NOW_MS
    answers: list[Any] = []
    for step in story["steps"]:
        now_ms += step["after"]
        user, client = step["user"], step["client"]
        match step["does"]:
            case "set":
                parts = [("client-id", client), ("user", user)]
                entity = tuple(part for part in parts if part[1] != "")
                quotas.pop(entity, None)
                if step["value"] is not None:
                    quotas[entity] = step["value"]
                used.limits = mutations.limits = limits(quotas)
            case "record":
                answers.append(used.use(user, client, step["value"], now_ms))
            case "take back":
                used.take_back(user, client, step["value"], now_ms)
            case "most":
                most = used.most_at_once(user, client)
                answers.append(MOST if most == inf else most)
            case does:
                taken, wait_ms = mutations.take(user, client, step["value"], now_ms, strict=does == "strict")
                answers.append(wait_ms if taken else -wait_ms)
    return answers


@pytest.mark.parametrize("kind", ["rate", "request", "mutation"])
def test_figures_of_kafka(kind: str) -> None:
    stories = [story for story in STORIES if story["kind"] == kind]
    assert len(stories) > 60
    throttled = 0
    for number, story in enumerate(stories):
        expected = story["answers"]
        if kind != "mutation":  # a wait that has wrapped to less than nothing throttles nobody
            expected = [max(0, answer) for answer in expected]
        assert told(story) == expected, f"story {number}"
        throttled += sum(answer != 0 and answer != MOST for answer in expected)
    assert throttled > 100


def test_a_client_without_quotas_costs_nothing() -> None:
    quota = ClientQuota(limits({}), Window(11, 1000))
    assert quota.use("alice", "app", 1e12, NOW_MS) == 0
    assert len(quota) == 0


def test_counters_that_were_unused_for_an_hour_are_forgotten() -> None:
    quota = ClientQuota(limits({(("client-id", None),): 5.0}), Window(11, 1000))
    for number in range(300):
        quota.use("alice", f"client-{number}", 1.0, NOW_MS)
    assert len(quota) == 300
    for number in range(300):
        quota.use("alice", f"other-{number}", 1.0, NOW_MS + 3_600_001)
    assert len(quota) == 300
