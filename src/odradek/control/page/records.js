// Records of a topic: the newest as they come, or those from an offset on.

import { Follower, api, query } from "./api.js";
import { button, clockText, copy, count, download, enc, facts, go, h, preview, shown, soon, tell } from "./dom.js";
import { asks, offsetsAt } from "./forms.js";
import { Grid } from "./grid.js";
import { paged, search, searched } from "./parts.js";

const KEPT = 500, AT_ONCE = 200, BYTES_AT_ONCE = 2e6;
const MODES = [["data", "Decoded"], ["text", "Text"], ["json", "JSON"], ["hex", "Hex"]];

const newestFirst = (a, b) => b.timestamp - a.timestamp || b.offset - a.offset || a.partition - b.partition;
const flat = ({ record, key, value }) => ({ ...record, decodedKey: key, decodedValue: value });

const COLUMNS = [
  ["Part.", "42px", each => each.partition, "num", "partition"], ["Offset", "84px", each => count(each.offset), "num", "offset"],
  ["Time", "190px", each => [clockText(each.timestamp), "mono"], "extra", "timestamp"],
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
    root.replaceChildren(h("div", { className: "bar", role: "group", "aria-label": "Show as" }, modes,
      button("Copy", () => copy(shown(record.value, pressed, record.decodedValue)))),
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

// Which schemas the records of a topic have: pasted, or from a file.
const base64 = bytes => { let text = ""; for (const each of bytes) text += String.fromCharCode(each); return btoa(text); };

function schemasDialog(topic, changed) {
  let binary = null;
  const list = h("ul", { className: "plain" }), problem = h("p", { className: "bad", role: "alert", hidden: true });
  const part = h("select", { "aria-label": "Part" }, h("option", { value: "value" }, "values"), h("option", { value: "key" }, "keys"));
  const text = h("textarea", { "aria-label": "Schema", rows: 9, spellcheck: false, placeholder: "Avro's JSON, or the text of a .proto file",
    oninput: () => { binary = null; } });
  const file = h("input", { type: "file", "aria-label": "File", onchange: () => read() });
  const message = h("input", { "aria-label": "Message", placeholder: "the first", spellcheck: false });
  const id = h("input", { type: "number", min: 0, "aria-label": "Schema id", placeholder: "any" });
  function fail(error) { problem.hidden = !error; problem.textContent = error ? error.message : ""; }
  async function read() {
    const given = file.files[0];
    if (!given) return;
    const bytes = new Uint8Array(await given.arrayBuffer());
    try {
      const found = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      if (/[\u0000-\u0008\u000e-\u001f]/.test(found)) throw new TypeError("binary");
      text.value = found;
      binary = null;
    } catch { binary = base64(bytes); text.value = `(${given.name}: a descriptor set of ${bytes.length} bytes)`; }
  }
  async function refresh() {
    const found = (await api("schemas")).filter(each => each.topic === topic);
    list.replaceChildren(...found.map(each => h("li", { className: "bar" },
      h("span", {}, `${each.part === "key" ? "keys" : "values"}${each.schema_id === null ? "" : ` of id ${each.schema_id}`}: `, h("b", {}, each.name), ` (${each.kind})`),
      button("Remove", () => change("remove-schema", { part: each.part, schema_id: each.schema_id }), { "aria-label": `Remove ${each.name}` }))));
    if (!found.length) list.append(h("li", { className: "quiet" }, "None yet: records are shown as text, JSON or hex."));
  }
  async function change(path, body) {
    try { await api(`topics/${enc(topic)}/${path}`, body); fail(null); await refresh(); changed(); return true; } catch (error) { fail(error); return false; }
  }
  async function add(event) {
    event.preventDefault();
    const given = { part: part.value, schema: binary ? { base64: binary } : text.value };
    if (message.value) given.message = message.value;
    if (id.value !== "") given.schema_id = Number(id.value);
    if (await change("set-schema", given)) { text.value = ""; file.value = ""; binary = null; }
  }
  const dialog = h("dialog", { className: "wide", "aria-label": `Schemas of ${topic}` }, h("h2", {}, `Schemas of ${topic}`), list,
    h("form", { className: "stack", "aria-label": "Add a schema", onsubmit: add },
      h("div", { className: "bar" }, h("label", {}, "Of the", part), h("label", {}, "Schema id", id), h("label", {}, "Message", message), file), text, problem,
      h("div", { className: "bar" }, h("span", { className: "quiet" }, "Avro, .proto, or a descriptor set (protoc --include_imports -o)"), h("span", { className: "space" }),
        button("Close", () => dialog.close()), h("button", { className: "main" }, "Set"))));
  return { dialog, open: async () => { fail(null); await refresh(); dialog.showModal(); text.focus(); } };
}

// Which topic, where none is named.
function topicsToRead() {
  const box = search("Search topics", () => searched(grid)());
  const grid = new Grid({ label: "Topics", key: each => each.name, load: paged("topic-page", box, "topics", () => ({ internal: true })), empty: "No topics.",
    pick: () => {}, open: each => go("records", each.name),
    columns: [["Topic", "minmax(110px, 3fr)", each => [each.name, each.internal ? "quiet" : ""], "", "name"],
      ["Records", "minmax(70px, 1fr)", each => count(each.records), "num", "records"]] });
  return { nodes: [h("div", { className: "bar" }, box, button("Open", grid.chosenRow(grid.open)), h("span", { className: "quiet" }, "Choose the topic to read.")), grid.root],
    poll: () => grid.refresh() };
}

// `offset`: of the partition; without a partition of all, or of each ("7,0,12").
export function recordsView(topic = "", partition = "", offset = "") {
  if (!topic) return topicsToRead();
  let rows = [], parts = [], atOnce = AT_ONCE, leftOut = 0, isFull = false, wanted = "", looked = 0, isOver = false;
  const isLive = offset === "", starts = offset.split(",").map(Number);
  const [names, box] = topicBox(topic);
  const part = h("select", { "aria-label": "Partition", onchange: () => go("records", topic, part.value) }, h("option", { value: "" }, "all"));
  const at = h("input", { type: "number", min: 0, "aria-label": "Offset", placeholder: "offset", value: starts.length > 1 ? "" : offset,
    onchange: () => at.value !== "" && go("records", topic, part.value, at.value) });
  const time = h("input", { type: "datetime-local", step: 1, "aria-label": "Time (UTC)", title: "Time (UTC)",
    onchange: () => time.value && offsetsAt(topic, parts, Date.parse(`${time.value}Z`)).then(found => go("records", topic, part.value, found.join(","))).catch(tell) });
  const again = () => { isFull = false; stream.again(); };
  const committed = h("input", { type: "checkbox", onchange: again }), marks = h("input", { type: "checkbox", onchange: again });
  const filter = h("input", { type: "search", placeholder: "Filter (Enter: all)", "aria-label": "Filter",
    oninput: () => fill(), onkeydown: event => { if (event.key === "Enter") lookFor(filter.value); } });
  const lookFor = text => { wanted = text; again(); };
  const note = h("span", { className: "quiet", role: "status" });
  const detail = h("section", { className: "detail", "aria-label": "Record" }, h("p", { className: "quiet" }, "No record chosen."));
  // Each partition goes on before or behind what is shown of it.
  const step = (isNewer, label) => button(label, () => go("records", topic, part.value, parts.map((each, place) => {
    const own = rows.filter(row => row.partition === each.index).map(row => row.offset), share = Math.ceil(AT_ONCE / parts.length);
    const begin = isLive ? each.high_watermark : starts[place] ?? starts[0];
    if (isNewer) return own.length ? Math.max(...own) + 1 : begin;
    return Math.max(each.log_start_offset, Math.min(begin, ...own) - share);
  }).join(",")));
  const show = detailOf(detail);
  const grid = new Grid({ label: "Records", key: each => `${each.partition}-${each.offset}`, empty: "No records.",
    columns: COLUMNS, pick: show });
  const fill = soon(() => {
    const shownOnly = filter.value.toLowerCase();
    const text = each => `${preview(each.key, each.decodedKey)[0]} ${preview(each.value, each.decodedValue)[0]}`.toLowerCase();
    grid.set(shownOnly && !wanted ? rows.filter(each => text(each).includes(shownOnly)) : rows);
    note.textContent = wanted ? `${count(rows.length)} found in ${isFull ? "" : isOver ? "all " : ""}${count(looked)} records${isFull ? `; the first ${KEPT} are shown` : ""}`
      : leftOut ? `${count(leftOut)} offsets passed over: too many at once` : "";
  });
  const stream = new Follower(
    () => `records/stream?${query({ topic, partition, control: marks.checked, isolation: committed.checked ? "read_committed" : "read_uncommitted",
      ...(wanted ? { contains: wanted, start: 0, limit: KEPT } : isLive ? { latest: atOnce } : { [starts.length > 1 ? "starts" : "start"]: offset, limit: atOnce }) })}`,
    lines => {
      const records = lines.filter(each => each.record).map(flat);
      for (const each of lines) { leftOut += each.left_out ?? 0; looked += each.searched ?? 0; if (each.searched !== undefined) isOver = !each.more; }
      if (isLive && !wanted) rows = [...records, ...rows].sort(newestFirst).slice(0, KEPT);
      else rows = [...rows, ...records];
      if (rows.length >= (wanted ? KEPT : isLive ? Infinity : atOnce)) isFull = true;
      fill();
    },
    () => { rows = []; leftOut = looked = 0; isOver = false; fill(); });
  async function poll() {
    if (isFull || stream.control) return;
    const found = await api(`topics/${enc(topic)}/info`);
    if (part.length === 1) { part.append(...found.partitions.map(each => h("option", { value: each.index }, each.index))); part.value = partition; }
    parts = found.partitions.filter(each => partition === "" || each.index === Number(partition));
    const total = parts.reduce((sum, each) => sum + each.log_end_offset - each.log_start_offset, 0);
    const mean = parts.reduce((sum, each) => sum + each.size_bytes, 0) / Math.max(1, total);
    atOnce = Math.max(1, Math.min(Math.floor(BYTES_AT_ONCE / Math.max(1, mean)), AT_ONCE));
    if (isLive) atOnce = Math.max(1, Math.ceil(atOnce / parts.length));
    else atOnce = Math.max(atOnce, parts.length);
    stream.keep();
  }
  const schemas = schemasDialog(topic, again);
  async function downloadAll() {
    const all = await api(`records?${query({ topic, partition, isolation: committed.checked ? "read_committed" : "", control: marks.checked || "" })}`);
    download(`${topic}.jsonl`, all.map(each => `${JSON.stringify(each)}\n`));
  }
  return {
    nodes: [names, schemas.dialog, h("div", { className: "bar" }, box, h("label", {}, "Partition", part),
      button("Live", () => { if (isLive && wanted) { filter.value = ""; lookFor(""); } else go("records", topic, part.value); }, { "aria-pressed": isLive }),
      step(false, "Older"), step(true, "Newer"), at, time, filter, button("Search all", () => lookFor(filter.value)), asks("Produce", "produce", () => ({ topic })),
      button("Download", () => download(`${topic}.jsonl`, grid.rows.map(each => `${JSON.stringify(each)}\n`).join(""))),
      button("Download all", () => downloadAll().catch(tell)),
      h("label", {}, committed, "Committed"), h("label", {}, marks, "Markers"),
      button("Schemas", () => schemas.open().catch(tell)), note),
    h("div", { className: "split" }, h("div", {}, grid.root), detail)],
    poll, close: () => stream.stop(),
  };
}
