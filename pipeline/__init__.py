"""The data pipeline: a Spark data source for Kafka, and jobs on it. Needs ``odradek[spark]`` and a JDK.

Records come from a cluster (`cluster_client`, `source`) or from a log directory (`log_folder`). Tables of rows,
reports and records leave. Nothing here knows the broker: the modules use `protocol`, `storage/formats` and the wire
client. All state is in Kafka, or in the checkpoints of Spark.
"""
