// A test in JavaScript that controls the broker over HTTP: one JSON line for each scenario.
//
//     node control.mjs HOST:PORT URL
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import kafkajs from "kafkajs";

const { Kafka, logLevel } = kafkajs;
const [bootstrap, url] = process.argv.slice(2);
const kafka = new Kafka({ clientId: "js", brokers: [bootstrap], logLevel: logLevel.NOTHING, retry: { retries: 10, initialRetryTime: 20 } });
const unique = (label) => `js-${label}-${randomBytes(4).toString("hex")}`;

async function control(path, body) {
  const post = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const answer = await fetch(`${url}/v1/${path}`, body === undefined ? {} : post);
  const json = await answer.json();
  if (!answer.ok) throw new Error(`${answer.status} ${json.error.message}`);
  return json;
}

async function aProducerTriesAgain() {
  const topic = unique("t");
  await control("create-topic", { name: topic });
  await control("set-faults", { faults: [{ api: "Produce", topic, answer: "NOT_LEADER_OR_FOLLOWER", times: 2 }] });
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic, messages: [{ key: "k", value: "book" }] });
  await producer.disconnect();
  assert.equal((await control("faults"))[0].hits, 2);
  await control("set-faults", { faults: [] });
  const records = await control(`records?topic=${topic}`);
  assert.deepEqual(records.map(({ key, value }) => [key, value]), [["k", "book"]]);
}

async function aSilentMemberIsOut() {
  const [topic, groupId] = [unique("t"), unique("g")];
  await control("create-topic", { name: topic });
  const consumer = kafka.consumer({ groupId, sessionTimeout: 30_000, heartbeatInterval: 50, maxWaitTimeInMs: 50 });
  await consumer.connect();
  await consumer.subscribe({ topic });
  await consumer.run({ eachMessage: async () => {} });
  const stable = await control(`groups/${groupId}/wait`, { members: 1 });
  assert.deepEqual(Object.keys(stable.assignments), [`${topic}-0`]);
  const silence = ["Heartbeat", "JoinGroup", "SyncGroup"].map((api) => ({ api, drop: true, group: groupId }));
  await control("set-faults", { faults: silence });
  await control("wait", { fault: 0 });
  await control("clock/advance", { seconds: 31 });
  assert.equal((await control(`groups/${groupId}/info`)).members.length, 0);
  await control("set-faults", { faults: [] });
  await consumer.disconnect();
}

async function mistakesAreTold() {
  await assert.rejects(control("kill-node", { node: 2 }), /400 kill-node has no argument 'node'/);
  await assert.rejects(control("nonsense"), /404 there is no/);
}

for (const scenario of [aProducerTriesAgain, aSilentMemberIsOut, mistakesAreTold]) {
  const error = await scenario().then(() => "", (problem) => `${problem.stack}`);
  console.log(JSON.stringify({ scenario: scenario.name, error }));
}
process.exit(0);
