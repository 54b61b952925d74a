"""Write `broker/releases/releases.json` from recordings of real brokers.

Run `python -m tests.broker.releases.generate` after a recording has changed. `recordings/` has what one node of each
release answered; `jar_tables.json` has what its jars define: types, defaults and limits of configs, from 3.5 on.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from odradek.broker.config.broker_config import TOPIC_SYNONYMS
from odradek.broker.config.definition import ConfigKey, ConfigType, Update, keys_of

HERE = Path(__file__).parent
RECORDINGS = HERE / "recordings"
DATA = HERE.parents[2] / "broker" / "releases" / "releases.json"
DEFINITION = "4.4.0"
"""The release whose config tables `broker/config/definitions` has."""
RELEASES = ("4.3.1", "4.2.1", "4.1.1", "4.0.2", "3.9.1", "3.8.1", "3.7.2", "3.6.2", "3.5.2", "3.4.1", "3.3.2")
ZOOKEEPER = ("3.9.1", "3.6.2", "3.3.2", "2.8.2")
TELEMETRY = {"71": [0, 0], "72": [0, 0]}
"""KIP-714's APIs: a broker has them, and tells them only with a reporter that takes the metrics of clients."""
_INTERNAL = 3
_VALUE, _READ_ONLY, _SOURCE, _, _TYPE, _ = range(6)
_DEFAULT_SOURCE = 5
_SHARE_STATE = "share.coordinator.state.topic"
_CONFIGS_OF_THE_RECORDING = {f"{_SHARE_STATE}.min.isr", f"{_SHARE_STATE}.replication.factor"}
"""Set by the recording's server.properties, which shows them as unknown names where they are internal."""


def recording(name: str) -> dict[str, Any]:
    """What a real broker of this release answered; `name` is a patch release, with `-zookeeper` where it had one."""
    loaded: dict[str, Any] = json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def jar_tables() -> dict[str, dict[str, dict[str, list[Any]]]]:
    """Release -> scope -> name -> [type, default, importance, internal, validator], from 3.5 on."""
    changes = json.loads((HERE / "jar_tables.json").read_text(encoding="utf-8"))["config_defs"]
    tables: dict[str, dict[str, dict[str, list[Any]]]] = {}
    current: dict[str, dict[str, list[Any]]] = {}
    for release, scopes in changes.items():
        for scope, change in scopes.items():
            table = {**current.get(scope, {}), **change["set"]}
            current[scope] = {name: row for name, row in table.items() if name not in change["gone"]}
        tables[release] = {scope: dict(table) for scope, table in current.items()}
    return tables


def data() -> dict[str, Any]:
    """What `releases.json` holds."""
    jars = jar_tables()
    oldest = jars["3.5.2"]  # of older releases nobody has read the jars: limits and hidden names are those of 3.5
    releases: dict[str, Any] = {}
    for name in RELEASES:
        releases[short(name)] = of_recording(recording(name), jars.get(name, oldest))
    for name in ZOOKEEPER:
        releases[f"{short(name)}-zookeeper"] = of_recording(recording(f"{name}-zookeeper"), jars.get(name, oldest))
    return {"releases": releases}


def short(name: str) -> str:
    """`3.6` of `3.6.2`."""
    return name.rpartition(".")[0]


def of_recording(recorded: dict[str, Any], jar: dict[str, dict[str, list[Any]]]) -> dict[str, Any]:
    """The data of one release: APIs, features, and how its configs differ from the definition's."""
    if recorded["kafka"].startswith("2."):  # what 3.5 hides came with 3.0
        jar = {scope: {name: row for name, row in table.items() if not row[_INTERNAL]} for scope, table in jar.items()}
    answers = recorded["api_versions_answers"]
    features = answers["v4"] if answers["v4"]["error"] == 0 else answers["v3"]
    base_jar = jar_tables()[DEFINITION]
    return {
        "patch": recorded["kafka"].partition("-")[0],
        "apis": recorded["api_versions"] | (TELEMETRY if _has_telemetry(recorded["kafka"]) else {}),
        "supported": features["supported_features"],
        "finalized": {name: level for name, (_, level) in features["finalized_features"].items()},
        "configs": {
            scope: differences(scope, recorded["configs"][scope], base_jar[scope], jar[scope])
            for scope in ("broker", "topic")
        }
        | {"group": group_differences(base_jar["group"], jar)},
    }


def _has_telemetry(name: str) -> bool:
    version, _, mode = name.partition("-")
    return not mode and tuple(map(int, version.split("."))) >= (3, 7)


def differences(
    scope: str, recorded: dict[str, list[Any]], base_jar: dict[str, list[Any]], jar: dict[str, list[Any]]
) -> dict[str, Any]:
    """Names that are gone or added, and what is another of the names that the tables have."""
    known, others = keys_of(scope), keys_of(f"other_{scope}")
    hidden = {name for name, row in jar.items() if row[_INTERNAL]} - set(recorded)
    gone = {name for name, key in known.items() if name not in recorded and name not in hidden and is_shown(key)}
    gone |= {name for name, row in base_jar.items() if row[_INTERNAL] and name not in jar}
    changed: dict[str, dict[str, Any]] = {
        name: {"internal": True} for name, key in known.items() if name in hidden and not key.internal
    }
    for name in sorted(set(recorded) - _CONFIGS_OF_THE_RECORDING):
        if name not in known and name not in others:
            raise ValueError(f"{name} is in no table of broker/config/definitions")
        change = changes(known.get(name) or others[name], recorded[name])
        if name in base_jar and name in jar:
            change |= jar_changes(base_jar[name], jar[name])
        if change:
            changed[name] = change
    added = (set(recorded) | hidden & set(others)) - set(known)
    return {"gone": sorted(gone), "added": sorted(added), "changed": changed}


def is_shown(key: ConfigKey) -> bool:
    """Whether DescribeConfigs shows a key that nobody has set."""
    return not key.internal and key.update is not Update.DYNAMIC_ONLY


def changes(key: ConfigKey, recorded: list[Any]) -> dict[str, str | None]:
    """What a row of DescribeConfigs says otherwise than a key: type, whether it is dynamic, a default that shows."""
    change: dict[str, str | None] = {}
    if ConfigType(recorded[_TYPE]) is not key.type:
        change["type"] = ConfigType(recorded[_TYPE]).name.lower()
    if bool(recorded[_READ_ONLY]) != (key.update is Update.READ_ONLY):
        change["update"] = "" if recorded[_READ_ONLY] else "broker"
    behind = key.name in TOPIC_SYNONYMS and key.name not in keys_of("broker")
    if recorded[_SOURCE] == _DEFAULT_SOURCE and recorded[_VALUE] != key.default and not behind:
        change["default"] = recorded[_VALUE]
        if recorded[_VALUE] == "" and key.limits.startswith("list+"):
            change["limits"] = key.limits.replace("list+", "list", 1)
    return change


def jar_changes(base: list[Any], row: list[Any]) -> dict[str, str | None]:
    """What two rows of jar_tables.json tell apart: default, importance and limits."""
    change: dict[str, str | None] = {}
    if base[1] != row[1] and "<required>" not in (base[1], row[1]):
        text = row[1][1:-1].replace(", ", ",") if row[0] == "LIST" and row[1].startswith("[") else row[1]
        change["default"] = None if text == "null" else text
    if base[2] != row[2]:
        change["importance"] = row[2].lower()
    if base[4] != row[4] and (limits := limits_of(row[4])) is not None:
        change["limits"] = limits
    return change


def limits_of(validator: str) -> str | None:
    """A validator's text in the form of `broker/config/definitions`; None where odradek keeps the definition's."""
    if not validator.startswith(("[", "(")):  # none, or one that its text describes
        return ""
    bounds = re.fullmatch(r"\[(-?\d+),\.\.\.(?:,(\d+))?\]", validator)
    return f"{bounds[1]}..{bounds[2] or ''}" if bounds else None


def group_differences(base: dict[str, list[Any]], jar: dict[str, dict[str, list[Any]]]) -> dict[str, Any]:
    """The same of a group's configs, which no recording has: groups got configs with 4.0."""
    have = jar.get("group", {})
    changed = {name: jar_changes(base[name], have[name]) for name in sorted(base) if name in have}
    return {
        "gone": sorted(set(base) - set(have)),
        "added": sorted(set(have) - set(base)),
        "changed": {name: change for name, change in changed.items() if change},
    }


if __name__ == "__main__":
    DATA.write_text(json.dumps(data(), indent=1) + "\n", encoding="utf-8")
