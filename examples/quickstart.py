"""A broker, a producer and a look at what arrived: `python examples/quickstart.py`."""

from confluent_kafka import Producer

import odradek


def send_orders(broker: odradek.KafkaBroker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(5):
        producer.produce("orders", key=str(number), value=f"order {number}", headers={"kind": b"book"})
    producer.flush()


def main() -> None:
    with odradek.KafkaBroker(topics={"orders": 3}) as broker:
        send_orders(broker)
        for record in broker.records("orders"):
            print(record.partition, record.offset, record.key, record.value, record.headers)


if __name__ == "__main__":
    main()
