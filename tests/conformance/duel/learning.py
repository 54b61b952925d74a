"""What an answer adds to what the conversation knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.conformance.duel.pairing import Form
from tests.conformance.duel.steps import Answered, Step
from tests.conformance.duel.world import Producer, World

_UNKNOWN_MEMBER = 25
_MEMBER_ID_REQUIRED = 79
_FENCED = 110


def learn(world: World, answered: Answered) -> None:
    """Fill the pools from Kafka's answer, which odradek's equals."""
    lesson = _LESSONS.get(answered.step.api)
    if lesson and "outcome" not in answered.kafka:
        lesson(world, answered.step, answered.kafka)


def _partitions(world: World, topics: Any, partitions: str) -> Iterator[tuple[str, Form]]:
    """Each with the name of its topic."""
    for topic in topics:
        for partition in topic[partitions]:
            yield world.named(topic.get("name") or topic.get("topicId")), partition


def _create_topics(world: World, step: Step, answer: Form) -> None:
    if step.body.get("validateOnly"):
        return
    for asked, topic in zip(step.body["topics"], answer["topics"], strict=False):
        if topic["errorCode"] == 0:
            made = len(asked["assignments"]) or max(asked["numPartitions"], 1)
            world.topics[topic["name"]] = topic.get("numPartitions", made)
            world.topic_ids[topic["name"]] = topic.get(
                "topicId", f"${{id of {topic['name'].replace('${run}', 'run')}.topicId}}"
            )


def _create_partitions(world: World, step: Step, answer: Form) -> None:
    if not step.body["validateOnly"]:
        counts = {each["name"]: each["count"] for each in step.body["topics"]}
        for topic in answer["results"]:
            if topic["errorCode"] == 0:
                world.topics[topic["name"]] = counts[topic["name"]]


def _delete_topics(world: World, step: Step, answer: Form) -> None:
    for topic in answer["responses"]:
        if topic["errorCode"] == 0 and len(world.topics) > 1:
            world.topics.pop(topic["name"], None)


def _join_group(world: World, step: Step, answer: Form) -> None:
    group, code = step.body["groupId"], answer["errorCode"]
    if code in (0, _MEMBER_ID_REQUIRED):
        member = world.known(group, answer["memberId"])
        member.epoch = answer["generationId"]
        member.instance = step.body.get("groupInstanceId")
        member.leads = code == 0 and answer["leader"] == answer["memberId"]
        member.protocol = answer.get("protocolName") or member.protocol
        member.owned = [each["memberId"] for each in answer.get("members", ())]
    elif code == _UNKNOWN_MEMBER:
        world.forget(group, step.body["memberId"])


def _leave_group(world: World, step: Step, answer: Form) -> None:
    for member in answer.get("members", ()):
        if member["errorCode"] == 0:
            world.forget(step.body["groupId"], member["memberId"])


def _group_heartbeat(world: World, step: Step, answer: Form) -> None:
    group, code = step.body["groupId"], answer["errorCode"]
    if code == 0 and answer.get("memberId"):
        if answer["memberEpoch"] < 0:
            world.forget(group, answer["memberId"])
            return
        member = world.known(group, answer["memberId"])
        member.epoch = answer["memberEpoch"]
        member.instance = step.body.get("instanceId")
        if answer.get("assignment"):
            member.owned = answer["assignment"]["topicPartitions"]
        if answer.get("activeTasks") is not None:
            member.owned = {name: answer[name] for name in ("activeTasks", "standbyTasks", "warmupTasks")}
    elif code in (_UNKNOWN_MEMBER, _FENCED):
        world.forget(group, step.body["memberId"])


def _init_producer_id(world: World, step: Step, answer: Form) -> None:
    if answer["errorCode"] == 0:
        _producer(world, step.body["transactionalId"], answer)


def _producer(world: World, transactional_id: str | None, answer: Form) -> None:
    if transactional_id is not None:
        world.producers = [each for each in world.producers if each.transactional_id != transactional_id]
    world.producers.append(Producer(answer["producerId"], answer["producerEpoch"], transactional_id))


def _end_txn(world: World, step: Step, answer: Form) -> None:
    if answer["errorCode"] == 0 and "producerId" in answer and answer["producerId"] != -1:
        old = next((each for each in world.producers if each.transactional_id == step.body["transactionalId"]), None)
        if old and (old.id, old.epoch) != (answer["producerId"], answer["producerEpoch"]):
            _producer(world, step.body["transactionalId"], answer)


def _produce(world: World, step: Step, answer: Form) -> None:
    told = {
        (topic, each["index"]): each for topic, each in _partitions(world, answer["responses"], "partitionResponses")
    }
    for topic, partition in _partitions(world, step.body["topicData"], "partitionData"):
        place = (topic, partition["index"])
        if not isinstance(partition["records"], dict) or place not in told or told[place]["errorCode"] != 0:
            continue
        for batch in partition["records"]["batches"]:
            count = len(batch["records"])
            world.ends[place] = told[place]["baseOffset"] + count
            for producer in world.producers:
                if (producer.id, producer.epoch) == (batch.get("producerId"), batch.get("producerEpoch")):
                    producer.sequences[place] = batch["baseSequence"] + count


def _fetch(world: World, step: Step, answer: Form) -> None:
    if answer.get("sessionId") and answer["errorCode"] == 0:
        known = dict(world.sessions)
        known[answer["sessionId"]] = known.get(answer["sessionId"], 0) + 1
        world.sessions = list(known.items())


def _share_fetch(world: World, step: Step, answer: Form) -> None:
    if answer["errorCode"] == 0 and step.body["memberId"]:
        member = world.known(step.body["groupId"], step.body["memberId"])
        member.session = 0 if step.body["shareSessionEpoch"] == -1 else step.body["shareSessionEpoch"] + 1
        for topic, partition in _partitions(world, answer.get("responses", ()), "partitions"):
            place = (topic, partition["partitionIndex"])
            for each in partition.get("acquiredRecords", ()):
                member.acquired.setdefault(place, []).append((each["firstOffset"], each["lastOffset"]))


def _token(world: World, step: Step, answer: Form) -> None:
    if answer["errorCode"] == 0:
        world.hmacs.append(answer["hmac"])


def _telemetry(world: World, step: Step, answer: Form) -> None:
    if answer["errorCode"] == 0:
        world.instances.append((answer["clientInstanceId"], answer["subscriptionId"]))


_LESSONS: dict[str, Callable[[World, Step, Form], None]] = {
    "CreateTopics": _create_topics,
    "CreatePartitions": _create_partitions,
    "DeleteTopics": _delete_topics,
    "JoinGroup": _join_group,
    "LeaveGroup": _leave_group,
    "ConsumerGroupHeartbeat": _group_heartbeat,
    "ShareGroupHeartbeat": _group_heartbeat,
    "StreamsGroupHeartbeat": _group_heartbeat,
    "InitProducerId": _init_producer_id,
    "EndTxn": _end_txn,
    "Produce": _produce,
    "Fetch": _fetch,
    "ShareFetch": _share_fetch,
    "ShareAcknowledge": _share_fetch,
    "CreateDelegationToken": _token,
    "GetTelemetrySubscriptions": _telemetry,
}
