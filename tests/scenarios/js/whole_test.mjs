// The whole test with kafkajs: prints the seconds of each step of each test, as JSON.
//
//     node whole_test.mjs COUNT CONFIG
//
// CONFIG is what `broker.client_config` gives, as JSON.
import { randomUUID } from "node:crypto";
import kafkajs from "kafkajs";

const [count, words] = process.argv.slice(2);
const config = JSON.parse(words);
const STEPS = ["create the topic", "produce", "consume", "commit", "close"];
const RECORDS = 10;
const kafka = new kafkajs.Kafka({ logLevel: kafkajs.logLevel.ERROR, ...config });

async function test(admin) {
  const topic = `t-${randomUUID()}`;
  const marks = [performance.now()];
  const done = () => marks.push(performance.now());
  await admin.createTopics({ topics: [{ topic, numPartitions: 1, replicationFactor: 1 }] });
  done();
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic, messages: Array.from({ length: RECORDS }, (_, number) => ({ value: `${number}` })) });
  await producer.disconnect();
  done();
  const consumer = kafka.consumer({ groupId: `g-${randomUUID()}`, ...config });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  let seen = 0;
  await new Promise((resolve) => {
    consumer.run({ autoCommit: false, eachMessage: async () => { if (++seen === RECORDS) resolve(); } });
  });
  done();
  await consumer.commitOffsets([{ topic, partition: 0, offset: `${RECORDS}` }]);
  done();
  await consumer.disconnect();
  done();
  return Object.fromEntries(STEPS.map((name, step) => [name, (marks[step + 1] - marks[step]) / 1000]));
}

const admin = kafka.admin();
await admin.connect();
const found = [];
for (let number = 0; number < Number(count); number++) found.push(await test(admin));
await admin.disconnect();
console.log(JSON.stringify(found));
