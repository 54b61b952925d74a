"""Runs the pipeline twice against a broker in this process and prints the results: python try_it.py"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from odradek import KafkaBroker
from odradek.pipeline.session import worker_path

ORDERS = 100
HERE = Path(__file__).parent


def run_pipeline(broker: KafkaBroker) -> None:
    command = Path(sys.executable).with_name("spark-pipelines")
    settings = {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "RETRY_DELAYS": "1s"}
    # With this path Python processes start faster: they import the installed pyspark, not the one in Spark's zip file.
    environment = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": worker_path(), **os.environ, **settings}
    shutil.rmtree(HERE / "spark-warehouse", ignore_errors=True)  # this Spark loses its tables when it ends
    subprocess.run([command, "run"], cwd=HERE, env=environment, check=True)


def main() -> None:
    with KafkaBroker(topics={"orders": 2}) as broker:
        for number in range(ORDERS):
            broker.produce("orders", key=f"order-{number}", value="broken" if number % 10 == 0 else "fine")
        broker.group("invoicing").set_offsets({("orders", 0): 10, ("orders", 1): 10})
        for _ in range(2):  # the first run sends failures to the retry topic, the second handles them again
            run_pipeline(broker)
        for topic in ("retry_1s_topic", "orders_failed"):
            print(f"{topic}: {len(list(broker.records(topic, isolation='read_committed')))} messages")
    archived = sum(pq.ParquetFile(file).metadata.num_rows for file in HERE.glob("archive/topic=*/*/*.parquet"))
    print(f"archive: {archived} records")
    for table in ("orders_audit", "group_lag"):
        print(f"{table}: {pq.read_table(HERE / 'spark-warehouse' / table).num_rows} rows")


if __name__ == "__main__":
    main()
