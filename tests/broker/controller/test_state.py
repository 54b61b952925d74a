"""What decisions depend on beside the image, and the command that asks for one."""

from __future__ import annotations

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.machine import adopt
from odradek.broker.controller.state import FollowRule, MetadataState
from odradek.broker.metadata.writer import ImageWriter


def test_the_least_in_sync_replicas_at_the_start_are_those_of_the_configuration() -> None:
    assert MetadataState(ImageWriter().image, BrokerConfig({}), 1).default_min_isr() == "1"
    assert MetadataState(ImageWriter().image, BrokerConfig({"min.insync.replicas": "2"}), 1).default_min_isr() == "2"


def test_a_command_names_its_rule_and_shows_no_argument() -> None:
    assert repr(FollowRule(adopt, (["secret"],), {})) == "FollowRule(adopt)"
