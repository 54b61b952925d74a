"""Quix Streams with Avro and a schema registry: doubles the numbers of a topic into another one.

Run as ``orders.py BOOTSTRAP_SERVERS REGISTRY_URL`` in an environment of its own, as Quix Streams pins its Kafka client.
"""

import json
import sys

from quixstreams import Application
from quixstreams.models.serializers.avro import AvroDeserializer, AvroSerializer
from quixstreams.models.serializers.schema_registry import SchemaRegistryClientConfig

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "number", "type": "int"}]}


def main(bootstrap: str, url: str) -> None:
    """Print what was read from the second topic."""
    client = SchemaRegistryClientConfig(url=url)
    app = Application(broker_address=bootstrap, consumer_group="doubling", auto_offset_reset="earliest", loglevel=None)
    written = AvroSerializer(ORDER, schema_registry_client_config=client)
    read = AvroDeserializer(schema_registry_client_config=client)
    orders = app.topic("quix-orders", value_serializer=written, value_deserializer=read)
    doubled = app.topic("quix-doubled", value_serializer=written, value_deserializer=read)
    with app.get_producer() as producer:
        for number in (1, 2, 3):
            message = orders.serialize(key="k", value={"number": number})
            producer.produce(topic=orders.name, key=message.key, value=message.value)
    frame = app.dataframe(orders)
    frame = frame.apply(lambda order: {"number": 2 * order["number"]})
    seen = []
    frame = frame.update(lambda order: seen.append(order["number"])).to_topic(doubled)
    app.run(count=3, timeout=60)
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
