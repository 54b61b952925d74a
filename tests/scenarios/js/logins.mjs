// kafkajs logs in: one JSON line of standard input is one attempt, one JSON line of output what became of it.
//
// Who is let in writes a record to the topic and reads it back.
import { readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import kafkajs from "kafkajs";

const { Kafka, logLevel } = kafkajs;

function sasl({ mechanism, user, password, token }) {
  if (mechanism === "OAUTHBEARER") return { mechanism: "oauthbearer", oauthBearerProvider: async () => ({ value: token }) };
  return { mechanism: mechanism.toLowerCase(), username: user, password };
}

function tls({ authority, certificate }) {
  if (!authority) return false;
  const own = certificate && readFileSync(certificate);
  return { ca: [readFileSync(authority)], ...(own && { key: own, cert: own }) };
}

async function run(attempt) {
  const { name, address, topic } = attempt;
  const kafka = new Kafka({
    clientId: "js", brokers: [address], ssl: tls(attempt), sasl: sasl(attempt), logLevel: logLevel.NOTHING,
    connectionTimeout: 30_000, authenticationTimeout: 30_000, retry: { retries: 0 },
  });
  const admin = kafka.admin(); // it does not connect again and again
  await admin.connect();
  await admin.disconnect();
  const producer = kafka.producer({ retry: { retries: 10 } });
  await producer.connect();
  await producer.send({ topic, messages: [{ value: name }] });
  await producer.disconnect();
  const groupId = `js-${randomBytes(4).toString("hex")}`;
  const consumer = kafka.consumer({ groupId, sessionTimeout: 30_000, maxWaitTimeInMs: 50, retry: { retries: 10 } });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise((found, failed) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => failed(payload.error));
    consumer.run({ eachMessage: async ({ message }) => { if (message.value.toString() === name) found(); } }).catch(failed);
  });
  await consumer.disconnect();
}

const attempts = readFileSync(0, "utf8").trim().split("\n").map((line) => JSON.parse(line));
await Promise.all(
  attempts.map(async (attempt) => {
    const error = await run(attempt).then(() => "", (failure) => `${failure.name}: ${failure.message}`);
    console.log(JSON.stringify({ scenario: attempt.name, error }));
  }),
);
process.exit(0);
