"""One Kafka release: what it tells of itself, and in which behaviours it differs from others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

DEFAULT = "4.4"
"""The release that the broker behaves as unless it is told otherwise: the definition of correct."""
_DEFAULT_PATCH = "4.4.0"
DEFAULT_DIRECTORIES = "4.3"
"""The first release as which a broker may have a data directory."""
_ZOOKEEPER = "-zookeeper"
_CLIENT_METRICS, _GROUP = 16, 32  # types of resources in DescribeConfigs
_ZOOKEEPER_ONLY = ("2.8",)
"""Releases whose KRaft mode was a preview: they are served in ZooKeeper mode."""

_TEXTS_OF_KRAFT = {
    "replication factor": "Unable to replicate the partition {factor} time(s): The target replication factor of "
    "{factor} cannot be reached because only {brokers} broker(s) are registered.",
    "no brokers": "Unable to replicate the partition {factor} time(s): All brokers are currently fenced.",
}
_TEXTS_BEFORE_4_4 = {
    "node id": "You must set `node.id` to the same value as `broker.id`.",
    "state epoch": "The share coordinator rejected the request because the share-group state epoch did not match.",
}
_TEXTS_BEFORE_4_2 = {
    "release version": "Version {text} is not a valid version. The minimum version is {first} and the maximum version "
    "is {last}",
}
_TEXTS_BEFORE_4_0 = {
    "release version": "Version {text} is not a valid version",
    "level": "No MetadataVersion with feature level {level}",
}
_TEXTS_BEFORE_3_9 = {
    "coordinator type": "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details.",
}
_TEXTS_BEFORE_3_8 = {
    "bootstrap version": "Bootstrap metadata versions before 3.3-IV0 are not supported. Can't load metadata from "
    "format command",
}
_TEXTS_BEFORE_3_7 = {
    "metadata downgrade": "Refusing to perform the requested downgrade because it might delete metadata information. "
    "Retry using UNSAFE_DOWNGRADE if you want to force the downgrade to proceed.",
}
_TEXTS_OF_2_8 = {
    "name of dots": 'Topic name cannot be "." or ".."',
    "long name": "Topic name is illegal, it can't be longer than 249 characters, topic name: {name}",
    "characters of a name": 'Topic name "{name}" is illegal, it contains a character other than ASCII alphanumerics, '
    "'.', '_' and '-'",
}
_TEXTS_OF_ZOOKEEPER = {
    "replication factor": "Replication factor: {factor} larger than available brokers: {brokers}.",
    "no brokers": "Replication factor: {factor} larger than available brokers: 0.",
    "partitions": "Number of partitions must be larger than 0.",
    "client metrics": "Config type client-metrics is only supported on KRaft clusters",
    "collision": "Topic '{name}' collides with existing topics: {others}",
}


class ReleaseError(ValueError):
    """A version of Kafka that odradek cannot behave as; the text names those that it can."""


class Release:
    """A release of Kafka, in KRaft or ZooKeeper mode. Immutable; equal requests for one share an object.

    `apis`: API key -> lowest and highest version that ApiVersions tells; None where that is all that is served.
    `supported`: feature -> lowest and highest level. `finalized`: the levels that a new cluster has. Both are None for
    the default release, whose levels the controller has.
    `configs`: scope (`broker`, `topic`, `group`) -> `gone` and `added` names, and what is `changed` of others.
    """

    def __init__(self, name: str, data: Mapping[str, Any] | None, *, zookeeper: bool = False) -> None:
        number = tuple(map(int, name.split(".")))
        self.name = name
        self.zookeeper = zookeeper
        self.code = (number[0] * 100 + number[1]) * 2 + (not zookeeper)
        """A number that orders releases, and tells those with ZooKeeper from others."""
        self.patch: str = _DEFAULT_PATCH if data is None else data["patch"]
        self.apis: Mapping[int, tuple[int, int]] | None = None
        self.supported: Mapping[str, tuple[int, int]] | None = None
        self.finalized: Mapping[str, int] | None = None
        self.configs: Mapping[str, Mapping[str, Any]] = {}
        if data is not None:
            self.apis = {int(key): (low, high) for key, (low, high) in data["apis"].items()}
            self.supported = {feature: (low, high) for feature, (low, high) in data["supported"].items()}
            self.finalized = data["finalized"]
            self.configs = data["configs"]
        # Behaviours. Each says what the recordings and release notes say of it.
        self.has_removed_versions = number < (4, 0)
        """Requests in versions that 4.0 removed are served, and records in message formats 0 and 1 (KIP-896)."""
        self.keeps_message_formats = zookeeper
        """A log is in the format that `message.format.version` says, below version 3.0 of the brokers' protocol."""
        self.refuses_append_time = number < (3, 6)
        """A producer may not send a message whose timestamp the broker is said to have set."""
        self.sends_part_of_first_batch = number < (3, 0)
        """Fetch up to version 2 sends the beginning of a first batch that is above the limit; later, nothing."""
        self.refuses_conversion_early = number >= (3, 0)
        """Fetch in an old version of a topic without conversion is refused, also where there is nothing to read."""
        self.checks_first_sequences = number >= (4, 1)
        """A producer that registers partitions by producing (KIP-890, part 2) begins with sequence 0."""
        self.verifies_transactions = number >= (3, 6)
        """Produce refuses a partition that the transaction has not been told of (KIP-890, part 1)."""
        self.reads_unknown_timestamps = number < (3, 9)
        """ListOffsets looks special timestamps up as times where it does not know them, whatever the version."""
        self.fails_at_null_configs = number < (3, 0)
        """A null value of a config is an invalid request in CreateTopics, and AlterConfigs fails without a reason."""
        self.finds_local_starts = number >= (3, 5)
        """ListOffsets knows the special timestamp -4 (KIP-405)."""
        self.finds_max_timestamps = number >= (3, 0)
        """ListOffsets knows the special timestamp -3 (KIP-734)."""
        self.first_group_epoch = 1 if number >= (4, 3) else 0
        """The epoch of a consumer or share group before its first member, and of a streams group's assignment."""
        self.knows_named_groups = number >= (4, 1)
        """A pattern of a consumer group may name its groups as `(?<name>...)`; before, only as `(?P<name>...)`."""
        self.counts_dropped_patterns = number >= (4, 2)
        """A consumer group gets another epoch when a member gives up its pattern."""
        self.describes_revoked_partitions = number >= (4, 3)
        """ConsumerGroupDescribe shows the partitions, too, that a member still has to give up."""
        self.rejoins_by_epoch = number >= (4, 2)
        """A member of a consumer group that comes with epoch 0 joins again; before, it is fenced in later epochs."""
        self.reconciles_by_subscription = number >= (4, 2)
        """A member gives up partitions of topics that it no longer subscribes to, though its target has them still."""
        self.stores_topics_of_groups = number < (4, 1)
        """A consumer group stores its topics in a record of their own; later, their hash in the group's record."""
        self.reads_shares_without_leader = number >= (4, 3)
        """ReadShareGroupState with leader epoch -1 is answered; before, later leaders fence it."""
        self.knows_ids_of_offsets = number >= (4, 3)
        """Offsets have the ids of their topics however they are committed, and a member may commit in an epoch in which
        it got the partition; before, 4.2 stores the ids of commits by id."""
        self.stores_group_details = number >= (4, 3)
        """Stored: since when members have partitions, when targets were computed, ids of topics with offsets."""
        self.has_new_coordinator = number >= (4, 0)
        """Groups are kept by the coordinator of KIP-848. The one before knows no configs of groups, shows assignments
        in stable groups only, and refuses a commit for a group that it does not have with ILLEGAL_GENERATION."""
        self.newest_offset_commit = 4 if number >= (4, 1) else 3
        """The version in which committed offsets are stored."""
        self.finds_share_coordinators = number == (3, 9) or number >= (4, 1)
        """FindCoordinator looks for the coordinator of a share partition (KIP-932)."""
        self.unknown_resources = frozenset(
            kind for kind, since in ((_CLIENT_METRICS, (3, 7)), (_GROUP, (4, 0))) if number < since
        )
        """Types of resources that have no configs yet: client metrics (KIP-714), groups (KIP-848)."""
        self.assigns_streams_by_holdings = number >= (4, 4)
        """Tasks are assigned by what members have and have restored; before, by what they were to have."""
        self.assigns_empty_groups = number >= (4, 4)
        """When its last member leaves, a group's assignment epoch becomes its epoch."""
        self.counts_assignors = number >= (4, 4)
        """A consumer group gets another epoch when its members come to prefer another assignor."""
        self.counts_newcomers = number >= (4, 4)
        """Assignors meet a member that joins where a group's table has it; before, last of those in its slot."""
        self.keeps_refused_assignments = number >= (4, 4)
        """An epoch of a streams group gives nobody tasks if a refused heartbeat would have begun it without any."""
        self.knows_networks = number >= (4, 4)
        """The host of an access control entry may be a network (KIP-1276), and may not be empty."""
        self.has_static_streams_members = number >= (4, 4)
        """Members of streams groups may be static, tell the offsets of their tasks, and join a full group again."""
        self.tells_changed_endpoints = number >= (4, 4)
        """Members of a streams group hear at once of another's new end point; one that joins without has none."""
        self.knows_tags_of_standbys = number >= (4, 4)
        """Streams groups may name client tags by which standby tasks are to be spread."""
        self.knows_topology_descriptions = number >= (4, 4)
        """Members of streams groups may send a description of their topology (KIP-1331)."""
        self.moves_own_tasks_at_once = number >= (4, 4)
        """A member that has given an active task up gets it as a standby at once, and the other way round."""
        self.stores_topic_ids_in_transactions = number >= (4, 4)
        """Offsets that are committed in a transaction are stored with the ids of their topics (KIP-1319)."""
        self.task_offset_interval_ms = 60_000 if number >= (4, 4) else 0
        """How often members of streams groups tell the offsets of their tasks; 0 where Kafka does not ask."""
        self.refuses_negative_share_epochs = number >= (4, 4)
        """The share coordinator refuses negative leader and state epochs; before, -1 is not compared."""
        self.keeps_directories = not zookeeper and number >= (4, 3)
        """A broker may have a data directory: its records are written as this release writes them."""
        self.refuses_endless_quotas = number >= (4, 4)
        """A quota has to be a finite number."""
        self.wraps_throttle_times = number < (4, 4)
        """A time to wait for a quota of bytes that is too long for an int wraps; a negative one throttles nobody."""
        self.indexes_quotas = number >= (4, 4)
        """DescribeClientQuotas lists what it finds in the order of a map of the entities that match one component."""
        self.tells_bounds_by_value = number >= (4, 4)
        """The refusal of a group config that is out of bounds names the bounds' values, not their configs."""
        self.writes_whole_share_updates = number >= (4, 4)
        """A write that leaves start offset or count alone is stored with those that there were."""
        self.share_start_of_added_partitions = 0 if number >= (4, 4) else -1
        """Where a share group begins in a partition that its topic got later; -1 leaves it to its config."""
        self.knows_share_topics_by_partition = number >= (4, 4)
        """ShareFetch answers UNKNOWN_TOPIC_ID for the partition; before, the whole request fails."""
        self.limits_added_partitions = number >= (4, 4)
        """CreatePartitions refuses to add more partitions than a request may."""
        self.tells_refused_brokers = number < (4, 4)
        """The refusal to change a broker's configs has a text."""
        self.updates_features_one_by_one = number < (4, 0)
        """UpdateFeatures refuses single features; since 4.0 one that is refused refuses all."""
        self.refuses_unknown_level_0 = number < (3, 7)
        """UpdateFeatures refuses to turn off a feature that brokers do not know."""
        self.upgrades_quorums = number >= (4, 1)
        """UpdateFeatures makes a static quorum a dynamic one (`kraft.version`); 4.0 says so, and does not."""
        self.tells_both_metadata_versions = number >= (4, 2)
        """The refusal of a downgrade names the `metadata.version` that there is, too."""
        self.forwards_to_controller = not zookeeper
        """Brokers hand on what only the controller may do; without that they answer NOT_CONTROLLER."""
        self.tells_leader_not_available = zookeeper
        """The first Metadata that creates a topic is answered LEADER_NOT_AVAILABLE, not UNKNOWN_TOPIC_OR_PARTITION."""
        self.texts: Mapping[str, str] = {
            **(_TEXTS_BEFORE_4_4 if number < (4, 4) else {}),
            **(_TEXTS_OF_KRAFT if number < (4, 3) else {}),
            **(_TEXTS_BEFORE_4_2 if number < (4, 2) else {}),
            **(_TEXTS_BEFORE_4_0 if number < (4, 0) else {}),
            **(_TEXTS_BEFORE_3_9 if number < (3, 9) else {}),
            **(_TEXTS_BEFORE_3_8 if number < (3, 8) else {}),
            **(_TEXTS_BEFORE_3_7 if number < (3, 7) else {}),
            **(_TEXTS_OF_ZOOKEEPER if zookeeper else {}),
            **(_TEXTS_OF_2_8 if number < (3, 0) else {}),
        }
        """Refusals in other words than the default release's, see `text`."""

    def text(self, refusal: str, default: str, /, **values: object) -> str:
        """A refusal in the words of this release; `default` where they are those of the default release."""
        template = self.texts.get(refusal)
        return default if template is None else template.format(**values)

    def __str__(self) -> str:
        return f"{self.name} (ZooKeeper)" if self.zookeeper else self.name

    def __repr__(self) -> str:
        return f"<Kafka {self.patch}{' in ZooKeeper mode' if self.zookeeper else ''}>"


@cache
def _data() -> Mapping[str, Any]:
    import json  # the default release, which most starts are, needs no file

    text = (Path(__file__).parent / "releases.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = json.loads(text)["releases"]
    return loaded


def release_names() -> list[str]:
    """The versions that `release_of` takes, oldest first."""
    names = {name.removesuffix(_ZOOKEEPER) for name in _data()} | {DEFAULT}
    return sorted(names, key=lambda name: tuple(map(int, name.split("."))))


@cache
def release_of(version: str = DEFAULT, zookeeper: bool | None = None) -> Release:
    """The release with this version: `3.6`, or a patch release of it such as `3.6.1`.

    `zookeeper`: in ZooKeeper mode; by default only where the release has no other. Raises ReleaseError.
    """
    parts = version.strip().split(".")
    name = ".".join(parts[:2])
    if len(parts) in (2, 3) and name == DEFAULT and not zookeeper:
        return Release(DEFAULT, None)
    if not (len(parts) in (2, 3) and all(part.isdecimal() for part in parts)) or name not in release_names():
        raise ReleaseError(f"odradek does not behave as Kafka {version!r}; it knows {', '.join(release_names())}")
    if zookeeper is None:
        zookeeper = name in _ZOOKEEPER_ONLY
    data = _data().get(name + _ZOOKEEPER if zookeeper else name)
    if data is not None:
        return Release(name, data, zookeeper=zookeeper)
    if not zookeeper:
        raise ReleaseError(f"Kafka {name} had KRaft as a preview only: odradek behaves as its ZooKeeper mode")
    known = ", ".join(sorted(each.removesuffix(_ZOOKEEPER) for each in _data() if each.endswith(_ZOOKEEPER)))
    raise ReleaseError(f"odradek has no ZooKeeper mode of Kafka {name}; it has those of {known}")
