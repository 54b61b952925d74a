// What can be done over the API: a table of forms, and the dialog that asks for any of them.

import { api, kafka, registry } from "./api.js";
import { button, enc, go, h } from "./dom.js";
import { latest, look, reason } from "./frame.js";

const APIS = "AddOffsetsToTxn AddPartitionsToTxn ApiVersions ConsumerGroupHeartbeat CreateTopics EndTxn Fetch FindCoordinator Heartbeat InitProducerId JoinGroup LeaveGroup ListOffsets Metadata OffsetCommit OffsetFetch Produce SyncGroup TxnOffsetCommit".split(" ");
const ERRORS = "COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE CORRUPT_MESSAGE FENCED_LEADER_EPOCH INVALID_PRODUCER_EPOCH KAFKA_STORAGE_ERROR LEADER_NOT_AVAILABLE MESSAGE_TOO_LARGE NETWORK_EXCEPTION NOT_COORDINATOR NOT_ENOUGH_REPLICAS NOT_LEADER_OR_FOLLOWER OFFSET_OUT_OF_RANGE REBALANCE_IN_PROGRESS REQUEST_TIMED_OUT TOPIC_AUTHORIZATION_FAILED UNKNOWN_MEMBER_ID UNKNOWN_SERVER_ERROR UNKNOWN_TOPIC_OR_PARTITION".split(" ");
const LEVELS = "BACKWARD BACKWARD_TRANSITIVE FORWARD FORWARD_TRANSITIVE FULL FULL_TRANSITIVE NONE".split(" ");
export const RESOURCES = ["", "", "topic", "group", "cluster", "transactional id", "delegation token", "user"];
export const OPERATIONS = ["", "", "All", "Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction", "DescribeConfigs", "AlterConfigs", "IdempotentWrite", "CreateTokens", "DescribeTokens", "TwoPhaseCommit"];
export const MECHANISMS = ["", "SCRAM-SHA-256", "SCRAM-SHA-512"];
const numbered = names => names.map((name, number) => [number, name]).filter(([, name]) => name);

const base64 = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes)));

async function salted(password, mechanism, iterations) {
  if (!crypto.subtle) throw new Error("A browser makes SCRAM credentials only for pages of https, localhost or 127.0.0.1.");
  const salt = crypto.getRandomValues(new Uint8Array(16)), hash = mechanism === 1 ? "SHA-256" : "SHA-512";
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(password), "PBKDF2", false, ["deriveBits"]);
  return { salt: base64(salt), saltedPassword: base64(await crypto.subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations }, key, mechanism * 256)) };
}

// The offsets of a topic's partitions (as `topic` has them) at a time, a special time of Kafka's, or the ends.
export async function offsetsAt(topic, partitions, timestamp) {
  const found = new Map();
  for (const leader of new Set(partitions.map(each => each.leader))) {
    const own = partitions.filter(each => each.leader === leader);
    const answer = await kafka("ListOffsets", { replicaId: -1, isolationLevel: 0, timeoutMs: 10000, topics: [{ name: topic,
      partitions: own.map(each => ({ partitionIndex: each.index, currentLeaderEpoch: -1, timestamp })) }] }, leader);
    for (const each of answer.topics[0].partitions) found.set(each.partitionIndex, each.offset);
  }
  return partitions.map(each => found.get(each.index) < 0 ? each.high_watermark : found.get(each.index));
}

const PLACES = { "the start": () => -2, "the end": () => -1, "a time": values => values.time, "an offset": () => null };

async function reset({ group_id, topic, partition, to, time, offset }) {
  const { partitions } = await api(`topics/${enc(topic)}/info`);
  const chosen = partitions.filter(each => partition === undefined || each.index === partition);
  if (!chosen.length) throw new Error(`Topic ${topic} has no partition ${partition}.`);
  if (to === "an offset" && offset === undefined) throw new Error("Which offset?");
  if (to === "a time" && time === undefined) throw new Error("Which time?");
  const at = to === "an offset" ? chosen.map(() => offset) : await offsetsAt(topic, chosen, PLACES[to]({ time }));
  return api(`groups/${enc(group_id)}/set-offsets`, { offsets: Object.fromEntries(chosen.map((each, place) => [`${topic}-${each.index}`, at[place]])) });
}

function parsed(part, text) {
  try { return JSON.parse(text); } catch (error) { throw new Error(`The ${part} is not JSON: ${error.message}`); }
}

async function produce({ key_schema, value_schema, tombstone, ...given }) {
  for (const [part, id] of [["key", key_schema], ["value", value_schema]]) {
    if (id !== undefined) given[part] = await api("encode", { topic: given.topic, part, schema_id: id, data: parsed(part, given[part] ?? "null") });
  }
  return api("produce", { ...given, value: tombstone ? null : given.value ?? "" });
}

// A node is asked about itself.
export const nodeOf = (type, name) => type === 4 ? Number(name) : null;

const alter = remove => ({ type, name, key, value }) => kafka("IncrementalAlterConfigs", { validateOnly: false,
  resources: [{ resourceType: type, resourceName: name, configs: [{ name: key, configOperation: remove ? 1 : 0, value: remove ? null : value ?? "" }] }] }, nodeOf(type, name));

// Whom a quota is about, as Kafka's tools say it.
export const ENTITIES = ["user", "client-id", "ip"], DEFAULT = "<default>";
const QUOTAS = ["producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate", "connection_creation_rate"];
const quota = remove => ({ key, value, ...given }) => kafka("AlterClientQuotas", { validateOnly: false, entries: [{
  entity: ENTITIES.filter(each => given[each] !== undefined).map(each => ({ entityType: each, entityName: given[each] === DEFAULT ? null : given[each] })),
  ops: [{ key, value: remove ? 0 : value, remove }] }] });

const subject = name => `/subjects/${enc(name)}`;
const effects = ["answer", "drop", "lose", "cut", "delay_ms"];
const topic = ["topic", "Topic", "text", { required: true }], partition = ["partition", "Partition", "number", { required: true, min: 0 }];
const ends = [["a", "Node", "number", { required: true }], ["b", "Other node, or client id", "text", { placeholder: "all clients" }]];
const between = ({ a, b = "*", ...given }) => ({ a, b: /^\d+$/.test(b) ? Number(b) : b, ...given });

// A form: its title, the label of its button, a warning, its fields ([name, label, kind, properties]), and the call with their
// values and what was given before; by default the operation of the form's name.
const FORMS = {
  "create-topic": { title: () => "Create a topic", does: "Create", fields: [["name", "Name", "text", { required: true }],
    ["partitions", "Partitions", "number", { value: 1, min: 1 }], ["replication_factor", "Replicas", "number", { min: 1, placeholder: "the default" }],
    ["config", "Configs", "lines", { placeholder: "cleanup.policy=compact" }]] },
  "delete-topic": { title: at => `Delete ${at.name}`, does: "Delete", warns: "Its records and its committed offsets are deleted, too.",
    call: ({ name }) => api(`topics/${enc(name)}/delete`, {}) },
  "delete-records": { title: at => `Delete records of ${at.topic}`, does: "Delete", fields: [["partition", "Partition", "number", { min: 0, placeholder: "all" }],
    ["before", "Before the offset", "number", { min: 0, placeholder: "all" }]],
    call: ({ topic: name, ...given }) => api(`topics/${enc(name)}/delete-records`, given) },
  "add-partitions": { title: at => `Partitions of ${at.name}`, does: "Add", fields: [["count", "Partitions from now on", "number", { required: true, min: 1 }]],
    call: ({ name, count }) => kafka("CreatePartitions", { topics: [{ name, count, assignments: null }], timeoutMs: 10000, validateOnly: false }) },
  "config": { title: at => `${at.key} of ${at.name}`, does: "Set", fields: [["value", "Value"]], call: alter() },
  "config-default": { title: at => `${at.key} of ${at.name}`, does: "Take the default", warns: "The value that was set is removed.", call: alter(true) },
  "produce": { title: at => `Produce to ${at.topic}`, does: "Produce", fields: [["key", "Key"], ["value", "Value", "area", { rows: 5 }],
    ["tombstone", "Null in place of the value", "check"],
    ["headers", "Headers", "lines", { placeholder: "name=value" }], ["partition", "Partition", "number", { min: 0, placeholder: "by key" }],
      ["timestamp", "Time (UTC)", "time"],
    ["key_schema", "Schema id of the key", "number", { min: 0, placeholder: "none: text" }],
      ["value_schema", "Schema id of the value", "number", { min: 0, placeholder: "none: text", list: "schema-ids" }]],
    call: produce },
  "reset": { title: at => `Reset offsets of ${at.group_id}`, does: "Reset", fields: [topic,
    ["partition", "Partition", "number", { min: 0, placeholder: "all" }], ["to", "To", Object.keys(PLACES)],
    ["offset", "Offset", "number", { min: 0 }], ["time", "Time (UTC)", "time"]], call: reset },
  "delete-group": { title: at => `Delete ${at.group_id}`, does: "Delete", warns: "Its committed offsets are deleted, too. It may have no members.",
    call: ({ group_id, node }) => kafka("DeleteGroups", { groupsNames: [group_id] }, node) },
  "move-leader": { title: at => `Move a leader of ${at.topic}`, does: "Move", fields: [partition, ["node_id", "To the node", "number", { required: true }]],
    call: ({ topic: name, ...given }) => api(`topics/${enc(name)}/move-leader`, given) },
  "reassign": { title: at => `Reassign a partition of ${at.topic}`, does: "Reassign", fields: [partition,
    ["replicas", "Nodes, the preferred leader first", "text", { required: true, placeholder: "2, 3, 1" }]],
    call: ({ topic: name, replicas, ...given }) => api(`topics/${enc(name)}/reassign`, { ...given, replicas: replicas.split(",").map(Number) }) },
  "cut": { title: () => "Cut a link", does: "Cut", fields: [...ends, ["how", "How", ["silent", "reset", "close"]]], call: given => api("cut", between(given)) },
  "slow": { title: () => "Slow a link down", does: "Slow down", fields: [...ends,
    ["ms", "By, ms", "number", { required: true, min: 1 }]], call: given => api("slow", between(given)) },
  "fault": { title: () => "Add a fault", does: "Add", fields: [["api", "API", "text", { list: APIS, placeholder: "any" }],
    ["answer", "Error", "text", { list: ERRORS, placeholder: "none" }],
    ["topic", "Topic", "text", { placeholder: "any" }], ["group", "Group", "text", { placeholder: "any" }],
      ["times", "Times", "number", { min: 1, placeholder: "always" }],
    ["delay_ms", "Delay, ms", "number", { min: 0, placeholder: "0" }], ["drop", "Drop the request", "check"], ["lose", "Lose the answer", "check"],
      ["cut", "Cut the connection", "check"]],
    call: fault => {
      if (!effects.some(each => fault[each])) throw new Error("Say what the fault does: an error, a delay, drop, lose or cut.");
      return api("add-fault", { fault });
    } },
  "register": { title: at => at.subject ? `A version of ${at.subject}` : "Register a schema", does: "Register",
    fields: [["subject", "Subject", "text", { required: true, placeholder: "orders-value" }],
    ["schemaType", "Type", ["AVRO", "PROTOBUF", "JSON"]], ["schema", "Schema", "area", { rows: 9, required: true }]],
    call: ({ subject: name, ...given }) => registry("POST", `${subject(name)}/versions`, given) },
  "compatibility": { title: at => `Compatibility of ${at.subject}`, does: "Set", fields: [["compatibility", "Level", LEVELS]],
    call: ({ subject: name, compatibility }) => registry("PUT", `/config/${enc(name)}`, { compatibility }) },
  "delete-subject": { title: at => `Delete ${at.subject}`, does: "Delete", warns: "All versions are deleted.", fields: [["permanent", "For good", "check"]],
    call: async ({ subject: name, permanent }) => { await registry("DELETE", subject(name)); if (permanent) await registry("DELETE", `${subject(name)}?permanent=true`); } },
  "user": { title: () => "Add a SCRAM user, or change the password", does: "Set", fields: [["name", "User", "text", { required: true }],
    ["mechanism", "Mechanism", numbered(MECHANISMS)],
    ["password", "Password", "password", { required: true }], ["iterations", "Iterations", "number", { value: 4096, min: 4096, max: 16384 }]],
    call: async ({ name, mechanism, password, iterations }) => kafka("AlterUserScramCredentials", { deletions: [],
      upsertions: [{ name, mechanism, iterations, ...await salted(password, mechanism, iterations) }] }) },
  "delete-user": { title: at => `Remove ${at.name}`, does: "Remove", warns: "Its credentials are deleted.",
    call: ({ name, mechanism }) => kafka("AlterUserScramCredentials", { deletions: [{ name, mechanism }], upsertions: [] }) },
  "quota": { title: () => "Set a quota", does: "Set", fields: [...ENTITIES.map((each, place) => [each, ["User", "Client id", "IP address"][place], "text", { placeholder: `none, or ${DEFAULT}` }]),
    ["key", "Quota", QUOTAS], ["value", "Value", "number", { required: true, min: 0, step: "any" }]], call: quota(false) },
  "delete-quota": { title: at => `Remove ${at.key} of ${at.who}`, does: "Remove", warns: "It is in force no longer.", call: quota(true) },
  "abort": { title: at => `Abort the transaction of ${at.id}`, does: "Abort", warns: "Its producer is fenced: it has to begin anew.",
    call: ({ id, timeout, node }) => kafka("InitProducerId", { transactionalId: id, transactionTimeoutMs: timeout, producerId: -1, producerEpoch: -1,
      enable2Pc: false, keepPreparedTxn: false }, node).catch(error => { if (!error.message.startsWith("CONCURRENT_TRANSACTIONS")) throw error; }) },  // so it is told while it is aborted
  "acl": { title: () => "Add an ACL", does: "Add", fields: [["permissionType", "Permission", [[3, "Allow"], [2, "Deny"]]],
    ["principal", "Principal", "text", { value: "User:", required: true }], ["host", "Host", "text", { value: "*", required: true }],
    ["operation", "Operation", numbered(OPERATIONS)], ["resourceType", "On", numbered(RESOURCES)],
      ["resourceName", "Name", "text", { required: true, placeholder: "kafka-cluster for the cluster" }],
    ["resourcePatternType", "Pattern", [[3, "literal"], [4, "prefixed"]]]],
    call: given => kafka("CreateAcls", { creations: [given] }) },
  "delete-acl": { title: () => "Remove an ACL", does: "Remove", warns: "It is in force no longer.",
    call: at => kafka("DeleteAcls", { filters: [{ resourceTypeFilter: at.resourceType, resourceNameFilter: at.resourceName, patternTypeFilter: at.patternType,
      principalFilter: at.principal, hostFilter: at.host, operation: at.operation, permissionType: at.permissionType }] }) },
};

function lines(text) {
  return Object.fromEntries(text.split("\n").filter(each => each.trim()).map(each => {
    const at = each.indexOf("=");
    if (at < 1) throw new Error(`${each}: expected NAME=VALUE`);
    return [each.slice(0, at).trim(), each.slice(at + 1)];
  }));
}

function inputOf([name, label, kind = "text", { list, ...more } = {}], at) {
  const value = at[name] ?? more.value, props = { name, spellcheck: false, autocomplete: "off", ...more, ...(value === undefined ? {} : { value }) };
  if (Array.isArray(kind)) return h("select", { name }, kind.map(each => h("option", { value: [each].flat()[0], selected: [each].flat()[0] === value }, [each].flat().at(-1))));
  if (kind === "area" || kind === "lines") return h("textarea", { rows: 2, ...props });
  if (!list) return h("input", { ...props, type: { check: "checkbox", time: "datetime-local" }[kind] ?? kind, step: kind === "time" ? 1 : undefined });
  const id = Array.isArray(list) ? `list-${name}` : list;
  return [h("input", { ...props, type: kind, list: id }), h("datalist", { id }, Array.isArray(list) ? list.map(each => h("option", { value: each })) : [])];
}

const READ = { number: Number, lines, time: text => Date.parse(`${text}Z`) };
const read = kind => Array.isArray(kind?.[0]) ? Number : READ[kind] ?? String;  // choices in pairs have numbers

// Asks for a form's values, and calls. `at`: what is given already; a field of that name is filled in. `done` gets the answer.
export function ask(name, at = {}, done = () => {}) {
  const { title, does, warns, fields = [], call = values => api(name, values) } = FORMS[name];
  const problem = h("p", { className: "bad", role: "alert", hidden: true }), main = h("button", { className: "main" }, does);
  const inputs = fields.map(each => h("label", {}, h("span", {}, each[1]), inputOf(each, at)));
  async function send(event) {
    event.preventDefault();
    main.disabled = true;
    try {
      const values = { ...at };
      for (const [field, , kind] of fields) {
        const input = form.elements[field];
        delete values[field];
        if (kind === "check") { if (input.checked) values[field] = true; } else if (input.value !== "") values[field] = read(kind)(input.value);
      }
      const answer = await call(values);
      dialog.close();
      done(answer, values);
      await look();
    } catch (error) { problem.textContent = reason(error).message; problem.hidden = false; }
    main.disabled = false;
  }
  const form = h("form", { className: "stack fields", onsubmit: send }, inputs, warns ? h("p", {}, warns) : null, problem,
    h("div", { className: "bar" }, h("span", { className: "space" }), button("Cancel", () => dialog.close()), main));
  const dialog = h("dialog", { className: "wide", "aria-label": title(at), onclose: () => dialog.remove() }, h("h2", {}, title(at)), form);
  document.body.append(dialog);
  dialog.showModal();
  (form.querySelector("input, textarea, select") ?? main).focus();
  const ids = form.querySelector("#schema-ids");
  if (ids && latest()?.registry) registry("GET", "/schemas").then(all => ids.append(...all.map(each => h("option", { value: each.id }, `${each.subject}, version ${each.version}`)))).catch(() => {});
}

export const asks = (label, name, at, done, props) => button(label, () => ask(name, at(), done), props);

export const shownTopic = (_, { name }) => go("topics", name);
