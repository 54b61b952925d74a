"""The flows: retry, audit, groups and archive of the topic `orders`. Copy what you need, and change the rest."""

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame

from odradek.pipeline import flows
from odradek.pipeline.jobs import audit, groups
from odradek.pipeline.jobs.handlers import Message
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.retry_policy import RetryPolicy

SERVERS = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
ARCHIVE = os.path.abspath("archive")  # Spark reads this file in the project's folder

spark = flows.session()
kafka = LogPlace(bootstrap_servers=SERVERS)
policy = RetryPolicy("orders", "orders_failed", os.environ.get("RETRY_DELAYS", "5m,30m,1h").split(","))


def handle(message: Message) -> None:
    """Your work on one message. An exception is a failure: the message is tried again after the next delay."""
    if b"broken" in (message.value or b""):
        raise ValueError("a broken order")


# A failure goes to the topic of its next delay, and after the last delay to the failed topic.
dp.create_sink("retry_topics", "odradek", {"kafka.bootstrap.servers": SERVERS, "transactionalId": "orders_retry"})
retries = flows.retry(spark, kafka, handle, policy)


@dp.append_flow(target="retry_topics")
def retry() -> DataFrame:
    return retries


# Each order once, as parquet by topic and partition: `odradek pipeline replay archive` sends it to a cluster.
dp.create_sink("archive", "odradek", {"path": ARCHIVE})
orders = flows.records(spark, kafka, ["orders"])


@dp.append_flow(target="archive")
def archive_orders() -> DataFrame:
    return orders


# Lost and doubled records. `audit.findings(spark, kafka, "orders", "invoices")` compares two topics.
findings = audit.findings(spark, kafka, "orders", by="key")


@dp.materialized_view
def orders_audit() -> DataFrame:
    return findings


# The lag by group and partition, without the groups in which the sink stores its progress.
# The other tables of groups: commits, members, rebalances, ...
lag = groups.run(spark, kafka)["lag"].where("group_id not like 'orders_retry-%'")


@dp.materialized_view
def group_lag() -> DataFrame:
    return lag
