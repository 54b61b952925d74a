"""Whether a request fits the member that it names: epochs, instance ids, sizes. Texts are Kafka's."""

from __future__ import annotations

from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.member import AWAY, Epochs, Member
from odradek.broker.coordinator.group.consumer.reconciliation import Owned
from odradek.protocol.errors import ErrorCode, KafkaError


def check_room(group: ConsumerGroup, member_id: str, limit: int) -> None:
    """GROUP_MAX_SIZE_REACHED for somebody new in a full group."""
    if len(group.members) >= limit and member_id not in group.members:
        text = f"The consumer group has reached its maximum capacity of {limit} members."
        raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, text)


def check_epoch(member: Member, epoch: int, owned: Owned | None) -> None:
    """FENCED_MEMBER_EPOCH unless the epoch is the member's, or 0: it joins again.

    Its previous one will do while it owns nothing that it was not given: the answer with the new epoch may be lost.
    """
    if epoch in (0, member.epoch):
        return
    if epoch > member.epoch:
        what = "greater"
    elif epoch == member.previous_epoch and _is_part_of(owned, member.assigned):
        return
    else:
        what = "smaller"
    raise KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {what} member epoch ({epoch}) than the one known by the group coordinator "
        f"({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


def known_static(group: ConsumerGroup, instance_id: str) -> Member:
    """The member with that instance id; UNKNOWN_MEMBER_ID if there is none."""
    member = group.static_member(instance_id)
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    return member


def check_instance(member: Member, member_id: str) -> None:
    """FENCED_INSTANCE_ID for anybody but the member that has the instance id."""
    if member.member_id != member_id:
        text = (
            f"Static member {member_id} with instance id {member.instance_id} was fenced by member {member.member_id}."
        )
        raise KafkaError(ErrorCode.FENCED_INSTANCE_ID, text)


def check_released(member: Member, member_id: str) -> None:
    """UNRELEASED_INSTANCE_ID while the member that has the instance id has not left for a while."""
    if member.epoch != AWAY:
        text = (
            f"Static member {member_id} with instance id {member.instance_id} cannot join the group because the "
            f"instance id is owned by {member.member_id} member."
        )
        raise KafkaError(ErrorCode.UNRELEASED_INSTANCE_ID, text)


def _is_part_of(owned: Owned | None, assigned: Epochs) -> bool:
    if owned is None:
        return False
    for topic_id, partitions in owned.items():
        given = assigned.get(topic_id)
        if given is None or any(partition not in given for partition in partitions):
            return False
    return True
