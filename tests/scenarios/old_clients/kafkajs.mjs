// kafkajs: `kafkajs.mjs HOST:PORT TOPIC`. Tells each step in a line, as OldClient.java.
import kafkajs from "kafkajs";

const { Kafka, CompressionTypes, Partitioners, logLevel } = kafkajs;
const [servers, topic] = process.argv.slice(2);
const CODECS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP };
const PATIENCE_MS = 15_000;
const kafka = new Kafka({ clientId: "old", brokers: [servers], logLevel: logLevel.NOTHING, retry: { retries: 3 } });

async function produce() {
  const producer = kafka.producer({ createPartitioner: Partitioners.LegacyPartitioner ?? Partitioners.DefaultPartitioner });
  await producer.connect();
  let count = 0;
  for (const [name, compression] of Object.entries(CODECS)) {
    const messages = [0, 1, 2].map((index) => ({ key: "k", value: `${name}${index}` }));
    await producer.send({ topic, compression, messages });
    count += messages.length;
  }
  await producer.disconnect();
  return `${count} records`;
}

async function consume() {
  const consumer = kafka.consumer({ groupId: topic });
  const values = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("nothing came")), PATIENCE_MS);
    consumer.run({
      eachMessage: async ({ message }) => {
        values.push(message.value.toString());
        if (values.length === 3 * Object.keys(CODECS).length) {
          clearTimeout(late);
          resolve();
        }
      },
    });
  });
  await consumer.disconnect();
  return values.join(" ");
}

for (const [name, step] of Object.entries({ produce, group: consume })) {
  const outcome = await step().catch((error) => {
    console.error(name, error);
    return "failed";
  });
  console.log(`${name}=${outcome}`);
}
process.exit(0);
