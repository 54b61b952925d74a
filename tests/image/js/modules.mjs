// Starts the image (the one argument, with a version as its tag) by Testcontainers' module, in both of its modes, and
// tells of each in a line of JSON.
import { KafkaContainer } from "@testcontainers/kafka";
import { Kafka, logLevel } from "kafkajs";

const RECORDS = 100;

async function readBack(container) {
  const brokers = [`${container.getHost()}:${container.getMappedPort(9093)}`];
  const kafka = new Kafka({ clientId: "test", brokers, logLevel: logLevel.NOTHING });
  const producer = kafka.producer();
  await producer.connect();
  const messages = [...Array(RECORDS).keys()].map((number) => ({ value: String(number) }));
  await producer.send({ topic: "orders", messages });
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: "g" });
  await consumer.connect();
  await consumer.subscribe({ topic: "orders", fromBeginning: true });
  let read = 0;
  await new Promise((resolve) => {
    consumer.run({ eachMessage: async () => ++read === RECORDS && resolve() });
  });
  await consumer.disconnect();
}

async function kraft(image) {
  const kafka = await new KafkaContainer(image).withKraft().start();
  return kafka;
}

function zookeeper(image) {
  return new KafkaContainer(image).start();
}

for (const [scenario, start] of Object.entries({ kraft, zookeeper })) {
  let error = "";
  try {
    const container = await start(process.argv[2]);
    await readBack(container);
    await container.stop();
  } catch (failed) {
    error = String(failed);
  }
  console.log(JSON.stringify({ scenario, error }));
}
