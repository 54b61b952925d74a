"""Why a group reads nothing, or not what was expected."""

from __future__ import annotations

from odradek.broker.config.suggestion import did_you_mean
from odradek.broker.facade.groups.info import GroupInfo
from odradek.broker.facade.report.hints import hints_of
from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.text import report_text


def why_text(situation: Situation, group_id: str) -> str:
    """What is known of a group, with the likely reasons."""
    group = situation.groups.get(group_id)
    if group is None or group.state == "Dead":
        known = ", ".join(sorted(situation.groups)) or "there is none"
        return f"group '{group_id}' does not exist{did_you_mean(group_id, situation.groups)}; the groups: {known}"
    lines = [f"- {each}" for each in (*reasons(group), *_about(situation, group))]
    topics = {topic for member in group.members for topic in member.subscription} | {name for name, _ in group.offsets}
    clients = {each.client_id for each in situation.requests if group_id in each.summary.groups}
    seen = Situation(
        **{
            **situation.__dict__,
            "topics": {name: topic for name, topic in situation.topics.items() if name in topics},
            "groups": {group_id: group},
            "transactions": {},
            "requests": tuple(each for each in situation.requests if each.client_id in clients),
            "faults": (),
            "held_back": (),
            "denied": (),
            "auto_created": {},
        }
    )
    return "\n".join([*(lines or ["- nothing unusual is known of it"]), report_text(seen, hints=False).lstrip("\n")])


def _about(situation: Situation, group: GroupInfo) -> list[str]:
    """Those hints that concern the group: what names another one does not."""
    others = [name for name in situation.groups if name != group.group_id]
    return [hint for hint in hints_of(situation) if not any(f"group '{name}'" in hint for name in others)]


def reasons(group: GroupInfo) -> list[str]:
    """What its own state tells."""
    found = []
    name = f"group '{group.group_id}'"
    if not group.members:
        found.append(f"{name} has no members ({group.state}): nobody reads for it")
    elif group.state not in ("Stable", ""):
        found.append(f"{name} is in state {group.state}: its members get no records until it is Stable")
    if group.unassigned:
        places = ", ".join(f"{topic}-{index}" for topic, index in group.unassigned[:6])
        found.append(f"nobody has {places}, of the topics that it subscribes to")
    if group.type != "share" and not group.offsets:
        found.append(f"{name} has never committed: a restart begins where auto.offset.reset says")
    idle = [member for member in group.members if not any(member.assignment.values())]
    if idle and group.state == "Stable":
        found.append(f"{len(idle)} of its {len(group.members)} members have no partition")
    caught_up = group.lag == 0 and group.offsets
    if caught_up:
        found.append(f"{name} has committed all that there is: there is nothing more to read")
    return found
