"""docs/authorization.md: what Kafka answers to whom, from the recording.

python -m tests.scenarios.authorization_page > docs/authorization.md
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from odradek.protocol.errors import ErrorCode
from tests.scenarios.authorization import Answers, error_codes, recorded

VECTORS = Path(__file__).parents[1] / "vectors" / "authorization.json.gz"
_NAMES = ("name", "topicName", "topic", "topicId", "groupId", "transactionalId", "key", "resourceName", "user")

HEAD = """# What an API answers without rights

Recorded from a real Kafka 4.4.0 with `StandardAuthorizer`, and the same here: a test compares. Each request names
topics `az-a`, `az-b` and, where it can, `az-none`, which does not exist; groups, ids and so on likewise. The rows are
sets of rights that the user has, all of them `ALLOW` on a resource of that name. `-` in front of one means `DENY`. The
answers are error codes, at the place where they stand, and what is answered beside them. Versions that answer alike
share a table.
"""


def page(answers: Answers) -> str:
    """The page as Markdown."""
    by_api: dict[str, dict[str, list[str]]] = {}
    for key, rows in answers.items():
        request, _, label = key.partition(", ")
        api, version = request.split(" ")
        title = f"{api}, {label}" if label else api
        table = "\n".join(f"| {rights or 'none'} | {summary(answer)} |" for rights, answer in rows.items())
        by_api.setdefault(title, {}).setdefault(table, []).append(version)
    parts = [HEAD]
    for title, tables in by_api.items():
        parts.append(f"## {title}\n")
        for table, versions in tables.items():
            parts.append(f"{', '.join(versions)}\n\n| Rights | Answer |\n| --- | --- |\n{table}\n")
    return "\n".join(parts)


def summary(answer: Any) -> str:
    """One line for an answer."""
    if isinstance(answer, str):
        return answer
    found = list(dict.fromkeys(_errors(answer, "")))
    fine = list(dict.fromkeys(_fine(answer)))
    if fine:
        found.append(f"answered: {', '.join(fine)}")
    return "; ".join(found) or "no error"


def _fine(answer: dict[str, Any]) -> Iterator[str]:
    """The names of what the answer tells of without an error."""
    for items in answer.values():
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict) and not any(error_codes(item)):
                yield from filter(None, [_name(item)])


def _name(item: dict[str, Any]) -> str:
    return next((str(item[name]).removeprefix("id of ") for name in _NAMES if item.get(name)), "")


def _errors(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _errors(each, place)
    elif isinstance(value, dict):
        here = " ".join(filter(None, (place, _name(value))))
        for key, each in value.items():
            if key.lower().endswith("errorcode"):
                if each:
                    code = ErrorCode(each).name
                    what = "" if key == "errorCode" else f" ({key})"
                    yield f"{here}: {code}{what}" if here else f"{code}{what}"
            elif isinstance(each, list | dict):
                yield from _errors(each, here)


if __name__ == "__main__":
    print(page(recorded(VECTORS)), end="")
