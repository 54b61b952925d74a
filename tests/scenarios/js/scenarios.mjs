// kafkajs against a broker: runs every scenario, one JSON line for each.
//
//     node scenarios.mjs HOST:PORT
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import kafkajs from "kafkajs";

const { Kafka, CompressionTypes, logLevel } = kafkajs;
const kafka = new Kafka({ clientId: "js", brokers: [process.argv[2]], logLevel: logLevel.NOTHING, connectionTimeout: 30_000, retry: { retries: 10 } });
const unique = (label) => `js-${label}-${randomBytes(4).toString("hex")}`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what, probe) {
  for (const end = Date.now() + 60_000; !(await probe()); await pause(20)) assert(Date.now() < end, what);
}

async function topic(numPartitions) {
  const admin = kafka.admin();
  await admin.connect();
  const name = unique("t");
  // kafkajs's own wait for leaders fails where a broker has not learned of the topic yet.
  await admin.createTopics({ topics: [{ topic: name, numPartitions }], waitForLeaders: false });
  await until("leaders", () => admin.fetchTopicOffsets(name).then(() => true, () => false));
  await admin.disconnect();
  return name;
}

async function produceAndConsume() {
  const name = await topic(2);
  const producer = kafka.producer({ idempotent: true });
  await producer.connect();
  for (const compression of [CompressionTypes.None, CompressionTypes.GZIP]) {
    const messages = [0, 1, 2].map((n) => ({ partition: n % 2, key: `k${n}`, value: `v${n}`, headers: { h: `${n}` } }));
    await producer.send({ topic: name, compression, messages: [...messages, { partition: 0, key: "gone", value: null }] });
  }
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: unique("g"), sessionTimeout: 30_000, maxWaitTimeInMs: 50 });
  const seen = [];
  await consumer.connect();
  await consumer.subscribe({ topic: name, fromBeginning: true });
  await consumer.run({ eachMessage: async ({ partition, message }) => { seen.push({ partition, ...message }); } });
  await until("all records", () => seen.length === 8);
  await consumer.disconnect();
  assert.deepEqual(seen.filter((each) => each.partition === 1).map((each) => each.value.toString()), ["v1", "v1"]);
  const first = seen.filter((each) => each.partition === 0);
  assert.deepEqual(first.map((each) => each.offset), ["0", "1", "2", "3", "4", "5"]);
  assert.equal(first[2].value, null);
  assert.equal(first[1].headers.h.toString(), "2");
}

async function administration() {
  const name = await topic(1);
  const admin = kafka.admin();
  await admin.connect();
  assert.equal(await admin.createTopics({ topics: [{ topic: name }] }), false);
  await admin.createPartitions({ topicPartitions: [{ topic: name, count: 3 }] });
  await until("three partitions", async () => (await admin.fetchTopicMetadata({ topics: [name] })).topics[0].partitions.length === 3);
  const resource = { type: 2, name };
  await admin.alterConfigs({ resources: [{ ...resource, configEntries: [{ name: "retention.ms", value: "5000" }] }] });
  const asked = { resources: [{ ...resource, configNames: ["retention.ms"] }], includeSynonyms: false };
  const retention = async () => (await admin.describeConfigs(asked)).resources[0].configEntries[0].configValue;
  await until("the changed config", async () => (await retention()) === "5000");
  const ends = () => admin.fetchTopicOffsets(name).then((all) => all.map((each) => each.offset), () => []);
  await until("ends of three partitions", async () => (await ends()).join() === "0,0,0");
  assert.equal((await admin.describeCluster()).brokers.length, 1);
  await admin.deleteTopics({ topics: [name] });
  await until("deletion", async () => !(await admin.listTopics()).includes(name));
  await admin.disconnect();
}

async function roundRobinGroup() {
  const name = await topic(4);
  const groupId = unique("g");
  const owned = [];
  const members = [];
  for (const number of [0, 1]) {
    const consumer = kafka.consumer({ groupId, sessionTimeout: 30_000, heartbeatInterval: 100, maxWaitTimeInMs: 50 });
    consumer.on(consumer.events.GROUP_JOIN, (event) => { owned[number] = event.payload.memberAssignment[name] ?? []; });
    await consumer.connect();
    await consumer.subscribe({ topic: name, fromBeginning: true });
    await consumer.run({ eachMessage: async () => {} });
    members.push(consumer);
  }
  await until("two each", () => owned[0]?.length === 2 && owned[1]?.length === 2);
  assert.deepEqual([...owned[0], ...owned[1]].sort(), [0, 1, 2, 3]);
  const admin = kafka.admin();
  await admin.connect();
  const { groups } = await admin.describeGroups([groupId]);
  assert.equal(groups[0].state, "Stable");
  assert.equal(groups[0].members.length, 2);
  await members[0].disconnect();
  await until("all four", () => owned[1].length === 4);
  await members[1].commitOffsets([{ topic: name, partition: 0, offset: "3" }]);
  await members[1].disconnect();
  const [offsets] = await admin.fetchOffsets({ groupId, topics: [name] });
  assert.equal(offsets.partitions.find((each) => each.partition === 0).offset, "3");
  await admin.deleteGroups([groupId]);
  await admin.disconnect();
}

async function transactions() {
  const name = await topic(1);
  const producer = kafka.producer({ transactionalId: unique("txn"), maxInFlightRequests: 1, idempotent: true });
  await producer.connect();
  for (const [value, end] of [["kept", "commit"], ["dropped", "abort"], ["kept too", "commit"]]) {
    const transaction = await producer.transaction();
    await transaction.send({ topic: name, messages: [{ value }] });
    await transaction[end]();
  }
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: unique("g"), sessionTimeout: 30_000, maxWaitTimeInMs: 50 });
  const seen = [];
  await consumer.connect();
  await consumer.subscribe({ topic: name, fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => { seen.push(message.value.toString()); } });
  await until("committed records", () => seen.length >= 2);
  await consumer.disconnect();
  assert.deepEqual(seen, ["kept", "kept too"]);
}

const scenarios = { produceAndConsume, administration, roundRobinGroup, transactions };
await Promise.all(
  Object.entries(scenarios).map(async ([scenario, run]) => {
    const error = await run().then(() => "", (failure) => String(failure.stack ?? failure));
    console.log(JSON.stringify({ scenario, error }));
  }),
);
process.exit(0);
