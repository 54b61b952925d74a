"""Updates of feature levels as raw requests, written down so that a real Kafka and odradek can be compared.

A story begins with how the cluster was formatted. Then each step is [what was asked, what came back]: the answer to
UpdateFeatures, and the levels that are finalized afterwards. Those of the real releases lie in
``tests/vectors/feature_updates.json.gz``, with what `kafka-storage format` says to wrong arguments. This writes those
of one release, or some stories of it:

    ASK_KAFKA=4.0.2 python -m tests.scenarios.feature_updates tests/vectors/feature_updates.json.gz old formats
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.protocol.json_form import to_json
from odradek.wire_client import WireConnection
from tests.conformance.real_kafka import CLUSTER_ID, KAFKA_VERSION, RELEASE, RealKafka, properties_text, run_tool

UPGRADE, SAFE, UNSAFE, UNKNOWN = 1, 2, 3, 7
METADATA, GROUP, TRANSACTION, SHARE, STREAMS, ELR, KRAFT = (
    "metadata.version",
    "group.version",
    "transaction.version",
    "share.version",
    "streams.version",
    "eligible.leader.replicas.version",
    "kraft.version",
)
UNSTABLE = "unstable.feature.versions.enable"


class Step(NamedTuple):
    """One UpdateFeatures: feature -> (level, kind of update)."""

    updates: Mapping[str, tuple[int, int]]
    validate_only: bool = False
    version: int = 1


class Story(NamedTuple):
    """`release`, `features`: the arguments of `kafka-storage format`. `config`: of the broker."""

    steps: Sequence[Step]
    release: str | None = None
    features: Sequence[str] = ()
    config: Mapping[str, str] = {}


NEWEST = {"3.3": 7, "3.6": 14, "3.9": 21, "4.0": 25, "4.1": 27, "4.2": 29, "4.3": 30, "4.4": 33}
"""Release -> its newest level of metadata.version."""
WITH_FEATURES = ("4.0", "4.1", "4.2", "4.3", "4.4")
"""Releases whose format takes --feature for what clients use."""
BEFORE_FEATURES = ("3.3", "3.6")
"""Releases that have one feature only, without a config and an argument of format for others."""
FORMATS: Sequence[Sequence[str]] = (
    ("--release-version", "9.9"),
    ("--release-version", "3.0"),
    ("--release-version", "3.2-IV0"),
    ("--release-version", "3.6"),
    ("--release-version", "4.5-IV0"),
    ("--feature", "group.version=7"),
    ("--feature", "foo.version=1"),
    ("--feature", "foo.version=0"),
    ("--feature", "group.version"),
    ("--feature", "group.version=x"),
    ("--feature", "group.version=-1"),
    ("--feature", "group.version=0", "--feature", "group.version=1"),
    ("--feature", "metadata.version=2"),
    ("--feature", "metadata.version=20"),
    ("--feature", "metadata.version=99"),
    ("--feature", "metadata.version=23"),
    ("--feature", "metadata.version=26"),
    ("--feature", "metadata.version=34"),
    ("--release-version", "4.0", "--feature", "metadata.version=20"),
    ("--release-version", "3.9-IV0", "--feature", "eligible.leader.replicas.version=1"),
    ("--release-version", "3.6-IV0", "--feature", "transaction.version=2"),
    ("--release-version", "3.6-IV0", "--feature", "kraft.version=1"),
    ("--feature", "kraft.version=0"),
    ("--feature", "kraft.version=1"),
)
"""Arguments of `kafka-storage format`."""


def _singles(newest: int) -> list[Step]:
    """Updates of one feature each, from the levels of an old cluster to the newest and back."""
    return [
        Step({METADATA: (newest, UPGRADE)}, validate_only=True),
        Step({METADATA: (newest + 1, UPGRADE)}),
        Step({METADATA: (newest + 5, UPGRADE)}),
        Step({METADATA: (0, SAFE)}),
        Step({METADATA: (-1, UPGRADE)}),
        Step({METADATA: (2, SAFE)}),
        Step({METADATA: (7, SAFE)}),
        Step({METADATA: (7, UPGRADE)}),
        Step({METADATA: (7, UNSAFE)}),
        Step({METADATA: (newest, SAFE)}),
        Step({METADATA: (newest, UNSAFE)}),
        Step({METADATA: (newest, UNKNOWN)}),
        Step({"foo.version": (1, UPGRADE)}),
        Step({"foo.version": (0, SAFE)}),
        *(Step({name: (1, UPGRADE)}, validate_only=True) for name in (GROUP, TRANSACTION, SHARE, STREAMS, ELR, KRAFT)),
        Step({GROUP: (9, UPGRADE)}),
        Step({TRANSACTION: (2, UPGRADE)}),
        Step({TRANSACTION: (1, SAFE)}),
        Step({TRANSACTION: (0, UNSAFE)}),
        Step({GROUP: (1, UPGRADE), "foo.version": (1, UPGRADE)}),
        Step({"foo.version": (1, UPGRADE), GROUP: (1, UPGRADE)}),
        Step({ELR: (1, UPGRADE)}),
        Step({ELR: (1, UPGRADE), METADATA: (newest, UPGRADE)}, validate_only=True),
        Step({METADATA: (newest, UPGRADE)}),
        Step({METADATA: (newest, UPGRADE)}),
        Step({METADATA: (newest - 1, SAFE)}, validate_only=True),
        Step({METADATA: (newest - 1, UNSAFE)}, validate_only=True),
        Step({METADATA: (newest - 1, UPGRADE)}),
        Step({METADATA: (newest - 3, SAFE)}, validate_only=True),
        Step({METADATA: (14, SAFE)}),
        Step({METADATA: (14, UNSAFE)}),
        Step({ELR: (1, UPGRADE)}),
        Step({ELR: (1, UPGRADE)}),
        Step({ELR: (0, SAFE)}),
        Step({ELR: (0, UNSAFE)}),
        Step({GROUP: (1, UPGRADE)}),
        Step({GROUP: (0, UPGRADE)}),
        Step({GROUP: (0, SAFE)}),
        Step({GROUP: (0, SAFE)}),
        Step({SHARE: (1, UPGRADE)}),
        Step({SHARE: (2, UPGRADE)}),
        Step({STREAMS: (1, UPGRADE)}),
        Step({TRANSACTION: (2, UPGRADE)}),
        Step({KRAFT: (1, UPGRADE)}, validate_only=True),
        Step({KRAFT: (0, SAFE)}),
        Step({}, validate_only=False),
    ]


def _in_version(steps: Sequence[Step], version: int) -> list[Step]:
    return [step._replace(version=version) for step in steps]


def stories(release: str) -> dict[str, Story]:
    """The stories of a release."""
    newest = NEWEST[release]
    old = "3.6-IV0" if newest > NEWEST["3.3"] else "3.3-IV0"
    after = _singles(newest)
    told = {
        "quorum": Story(
            [
                Step({KRAFT: (1, UPGRADE)}),
                Step({KRAFT: (1, UPGRADE)}),
                Step({KRAFT: (0, SAFE)}, validate_only=True),
                Step({KRAFT: (0, UNSAFE)}),
                Step({KRAFT: (2, UPGRADE)}),
            ]
        ),
        "old": Story(after, old),
        "old v0": Story(
            [
                Step({METADATA: (7, SAFE)}, version=0),
                Step({METADATA: (newest, UPGRADE)}, version=0),
                Step({METADATA: (newest - 2, SAFE)}, version=0),
            ],
            old,
        ),
        "unstable": Story(
            [
                Step({METADATA: (newest + 9, UPGRADE)}),
                Step({METADATA: (newest + 1, UPGRADE)}),
                Step({GROUP: (2, UPGRADE)}),
                Step({SHARE: (3, UPGRADE)}),
                Step({STREAMS: (2, UPGRADE)}),
                Step({TRANSACTION: (3, UPGRADE)}),
                Step({ELR: (2, UPGRADE)}),
                Step({METADATA: (newest + 2, UPGRADE)}),
            ],
            config={UNSTABLE: "true"},
        ),
    }
    if release in BEFORE_FEATURES:
        del told["unstable"]
    if release in WITH_FEATURES:
        told["old v2"] = Story(_in_version(after, 2), old, (f"{GROUP}=0", f"{TRANSACTION}=1"))
    return told


def tell(story: Story, port: int, settled: Callable[[], object] = lambda: None) -> dict[str, Any]:
    """What a broker answers. `settled`: called before the levels are asked for."""
    told = []
    with WireConnection("127.0.0.1", port) as connection:
        supported = features(connection)[0]
        for step in story.steps:
            updates = [_key(name, *update, step.version) for name, update in step.updates.items()]
            request = UpdateFeaturesRequest(60_000, updates, step.validate_only)
            version = step.version
            answer = connection.receive(request, version, connection.send(request, version))
            settled()
            asked = {name: list(update) for name, update in step.updates.items()}
            told.append([[asked, step.validate_only, version], to_json(answer, version), features(connection)[1]])
    return {"supported": supported, "steps": told}


def _key(name: str, level: int, kind: int, version: int) -> FeatureUpdateKey:
    if version == 0:
        return FeatureUpdateKey(name, level, allow_downgrade=kind != UPGRADE)
    return FeatureUpdateKey(name, level, upgrade_type=kind)


def features(connection: WireConnection) -> tuple[dict[str, list[int]], dict[str, int]]:
    """The levels that are supported, and those that are finalized."""
    request = ApiVersionsRequest("odradek", "1")
    first = connection.receive(request, 0, connection.send(request, 0))
    version = min(4, next(each.max_version for each in first.api_keys if each.api_key == request.API_KEY))
    answer = connection.receive(request, version, connection.send(request, version))
    supported = {each.name: [each.min_version, each.max_version] for each in answer.supported_features}
    finalized = {each.name: each.max_version_level for each in answer.finalized_features}
    return dict(sorted(supported.items())), dict(sorted(finalized.items()))


class FormattedKafka(RealKafka):
    """A real Kafka that was formatted for a story."""

    def __init__(self, story: Story) -> None:
        super().__init__(config=story.config)
        self._story = story

    def prepare(self) -> None:
        properties = self.folder / "server.properties"
        properties.write_text(properties_text(self.properties()))
        told = format_arguments(self._story.release, self._story.features)
        done = run_tool("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties), *told)
        if done.returncode:
            raise RuntimeError(f"formatting failed: {done.stdout}{done.stderr}")


def format_arguments(release: str | None, features: Sequence[str]) -> list[str]:
    """As `kafka-storage format` takes them."""
    given = [] if release is None else ["--release-version", release]
    return [*given, *(text for feature in features for text in ("--feature", feature))]


def told_by_kafka(story: Story) -> dict[str, Any]:
    """What a real Kafka answers to a story."""
    import time

    with FormattedKafka(story) as kafka:
        return tell(story, kafka.port, lambda: time.sleep(1))


def formats() -> list[Any]:
    """What a real `kafka-storage format` says: [arguments, exit code, last line]."""
    told = []
    for arguments in FORMATS:
        if RELEASE in BEFORE_FEATURES and "--feature" in arguments:
            continue
        kafka = RealKafka()
        properties = kafka.folder / "server.properties"
        properties.write_text(properties_text(kafka.properties()))
        done = run_tool("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties), *arguments)
        lines = [
            line
            for line in (done.stdout + done.stderr).splitlines()
            if not line.startswith(("SLF4J:", "log4j:", "\tat "))
        ]
        told.append([arguments, done.returncode, lines[-1].replace(str(kafka.log_dir), "/DATA")])
        kafka.stop()
    return told


def _main(file: Path, names: Sequence[str]) -> None:
    """Write what the asked release says: to all stories and arguments of format, or to some stories."""
    known = json.loads(gzip.decompress(file.read_bytes())) if file.exists() else {}
    of_release = known.setdefault(RELEASE, {"patch": KAFKA_VERSION, "stories": {}})
    for name, story in stories(RELEASE).items():
        if not names or name in names:
            of_release["stories"][name] = told_by_kafka(story)
    if not names or "formats" in names:
        of_release["formats"] = formats()
    text = json.dumps(dict(sorted(known.items())), separators=(",", ":"))
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2:])
