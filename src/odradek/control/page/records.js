// Records of a topic: the newest as they come, or those from an offset on.

import { Follower, api, query } from "./api.js";
import { button, facts, go, h, soon, tell } from "./dom.js";
import { Grid } from "./grid.js";
import { schemasDialog } from "./schemas.js";
import { clockText, count, preview, shown } from "./values.js";

const KEPT = 500, AT_ONCE = 200, BYTES_AT_ONCE = 2e6;
const MODES = [["data", "Decoded"], ["text", "Text"], ["json", "JSON"], ["hex", "Hex"]];

const newestFirst = (a, b) => b.timestamp - a.timestamp || b.offset - a.offset || a.partition - b.partition;
const flat = ({ record, key, value }) => ({ ...record, decodedKey: key, decodedValue: value });

const COLUMNS = [
  ["Part.", "42px", each => each.partition, "num"], ["Offset", "84px", each => count(each.offset), "num"],
  ["Time", "190px", each => [clockText(each.timestamp), "mono"]],
  ["Key", "minmax(60px, 1fr)", each => preview(each.key, each.decodedKey)],
  ["Value", "minmax(120px, 3fr)", each => each.control ? [`${each.control} marker`, "warn"] : preview(each.value, each.decodedValue)],
];

// The record that is chosen, as text, JSON, hex or what its schema makes of it.
function detailOf(root) {
  let mode = sessionStorage.getItem("odradek-mode") ?? "data", record = null;
  const part = (title, value, decoded) => [h("h3", {}, title, decoded ? h("span", { className: "tag" }, tag(decoded)) : null),
    decoded?.problem ? h("p", { className: "bad" }, decoded.problem) : null, h("pre", {}, shown(value, mode, decoded))].filter(Boolean);
  const tag = decoded => [decoded.schema, decoded.schema_id === null ? null : `id ${decoded.schema_id}`, decoded.fingerprint].filter(each => each !== null).join(", ");
  function show(given) {
    record = given;
    const known = record.decodedKey || record.decodedValue;
    const choose = each => () => { mode = each; sessionStorage.setItem("odradek-mode", each); show(record); };
    const pressed = mode === "data" && !known ? "text" : mode;
    const modes = MODES.filter(([each]) => each !== "data" || known).map(([each, label]) => button(label, choose(each), { "aria-pressed": pressed === each }));
    root.replaceChildren(h("div", { className: "bar", role: "group", "aria-label": "Show as" }, modes),
      ...part("Value", record.value, record.decodedValue), ...part("Key", record.key, record.decodedKey),
      ...record.headers.flatMap(([name, value]) => part(`Header ${name}`, value, null)), h("h3", {}, "Record"),
      facts({ Place: `${record.topic}-${record.partition} @ ${record.offset}`,
        Time: `${clockText(record.timestamp)} (${record.log_append_time ? "broker's" : "client's"})`,
        Producer: record.producer_id < 0 ? null : `${record.producer_id} epoch ${record.producer_epoch} sequence ${record.sequence}`,
        Transaction: record.control ?? (record.transactional ? "yes" : null), Codec: record.codec, "Leader epoch": record.leader_epoch }));
  }
  return show;
}

function topicBox(topic) {
  const names = h("datalist", { id: "names" });
  const box = h("input", { className: "grow search", value: topic, placeholder: "Topic  (/)", "aria-label": "Topic", spellcheck: false, list: "names",
    onchange: () => box.value && go("records", box.value) });
  box.addEventListener("input", async () => {
    const found = await api(`topic-page?${query({ contains: box.value, limit: 20, internal: true })}`).catch(() => null);
    if (found) names.replaceChildren(...found.topics.map(each => h("option", { value: each.name })));
  });
  return [names, box];
}

export function recordsView(topic = "", partition = "", offset = "") {
  let rows = [], end = 0, atOnce = AT_ONCE, leftOut = 0;
  const isLive = offset === "";
  const [names, box] = topicBox(topic);
  const part = h("select", { "aria-label": "Partition", onchange: () => go("records", topic, part.value) }, h("option", { value: "" }, "all"));
  const at = h("input", { type: "number", min: 0, "aria-label": "Offset", placeholder: "offset", value: offset,
    onchange: () => at.value !== "" && go("records", topic, part.value || "0", at.value) });
  const again = () => stream.again();
  const committed = h("input", { type: "checkbox", onchange: again }), marks = h("input", { type: "checkbox", onchange: again });
  const filter = h("input", { type: "search", placeholder: "Filter what is shown", "aria-label": "Filter", oninput: () => fill() });
  const note = h("span", { className: "quiet", role: "status" });
  const detail = h("section", { className: "detail", "aria-label": "Record" }, h("p", { className: "quiet" }, "No record chosen."));
  const step = (by, label) => button(label, () => go("records", topic, part.value || "0", Math.max(0, Number(offset || end) + by)));
  const show = detailOf(detail);
  const grid = new Grid({ label: "Records", key: each => `${each.partition}-${each.offset}`, empty: topic ? "No records." : "Name a topic.",
    columns: COLUMNS, pick: show });
  const fill = soon(() => {
    const wanted = filter.value.toLowerCase();
    const text = each => `${preview(each.key, each.decodedKey)[0]} ${preview(each.value, each.decodedValue)[0]}`.toLowerCase();
    grid.set(wanted ? rows.filter(each => text(each).includes(wanted)) : rows);
    note.textContent = leftOut ? `${count(leftOut)} offsets passed over: too many at once` : "";
  });
  const stream = new Follower(
    () => `records/stream?${query({ topic, partition, control: marks.checked, isolation: committed.checked ? "read_committed" : "read_uncommitted",
      start: offset, [isLive ? "latest" : "limit"]: atOnce })}`,
    lines => {
      const records = lines.filter(each => each.record).map(flat);
      for (const each of lines) leftOut += each.left_out ?? 0;
      if (isLive) rows = [...records, ...rows].sort(newestFirst).slice(0, KEPT);
      else rows = [...rows, ...records];
      end = Math.max(end, ...records.map(each => each.offset + 1));
      if (!isLive && rows.length >= atOnce) isFull = true;
      fill();
    },
    () => { rows = []; leftOut = 0; fill(); });
  let isFull = false;
  async function poll() {
    if (!topic || isFull || stream.control) return;
    const found = await api(`topic?${query({ name: topic })}`);
    if (part.length === 1) { part.append(...found.partitions.map(each => h("option", { value: each.index }, each.index))); part.value = partition; }
    const wanted = found.partitions.filter(each => partition === "" || each.index === Number(partition));
    const total = wanted.reduce((sum, each) => sum + each.log_end_offset - each.log_start_offset, 0);
    const mean = wanted.reduce((sum, each) => sum + each.size_bytes, 0) / Math.max(1, total);
    atOnce = Math.max(1, Math.min(Math.floor(BYTES_AT_ONCE / Math.max(1, mean)), AT_ONCE));
    if (isLive) atOnce = Math.max(1, Math.ceil(atOnce / wanted.length));
    if (wanted.length === 1) end = wanted[0].high_watermark;
    stream.keep();
  }
  const schemas = schemasDialog(topic, again);
  return {
    nodes: [names, schemas.dialog, h("div", { className: "bar" }, box, h("label", {}, "Partition", part),
      button("Live", () => go("records", topic, part.value), { "aria-pressed": isLive }), step(-100, "Older"), at, step(100, "Newer"), filter,
      h("label", {}, committed, "Committed"), h("label", {}, marks, "Markers"),
      button("Schemas", () => schemas.open().catch(tell), { disabled: !topic }), note),
    h("div", { className: "split" }, h("div", {}, grid.root), detail)],
    poll, close: () => stream.stop(),
  };
}
