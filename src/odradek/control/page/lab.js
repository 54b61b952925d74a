// The clock and the faults.

import { api } from "./api.js";
import { $, button, h } from "./dom.js";
import { act, latest } from "./frame.js";
import { Grid } from "./grid.js";
import { clockText, count } from "./values.js";

const APIS = "AddOffsetsToTxn AddPartitionsToTxn ApiVersions ConsumerGroupHeartbeat CreateTopics EndTxn Fetch FindCoordinator Heartbeat InitProducerId JoinGroup LeaveGroup ListOffsets Metadata OffsetCommit OffsetFetch Produce SyncGroup TxnOffsetCommit".split(" ");
const ERRORS = "COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE CORRUPT_MESSAGE FENCED_LEADER_EPOCH INVALID_PRODUCER_EPOCH KAFKA_STORAGE_ERROR LEADER_NOT_AVAILABLE MESSAGE_TOO_LARGE NETWORK_EXCEPTION NOT_COORDINATOR NOT_ENOUGH_REPLICAS NOT_LEADER_OR_FOLLOWER OFFSET_OUT_OF_RANGE REBALANCE_IN_PROGRESS REQUEST_TIMED_OUT TOPIC_AUTHORIZATION_FAILED UNKNOWN_MEMBER_ID UNKNOWN_SERVER_ERROR UNKNOWN_TOPIC_OR_PARTITION".split(" ");

export function labView() {
  const time = h("span", { className: "big", role: "timer" }), amount = h("input", { type: "number", min: 0, step: "any", value: 5, "aria-label": "How long" });
  const unit = h("select", { "aria-label": "Unit" }, ["seconds", "minutes", "hours", "days"].map(each => h("option", {}, each)));
  const freeze = button("Freeze", () => act(latest()?.frozen ? "clock/resume" : "clock/freeze"));
  const advance = (given, label) => button(label, () => act("clock/advance", given));
  const field = (name, props = {}) => h("input", { name, "aria-label": name, autocomplete: "off", spellcheck: false, ...props });
  const form = h("form", { className: "bar", "aria-label": "Add a fault", onsubmit: async event => {
    event.preventDefault();
    const fault = {};
    for (const each of form.elements) {
      if (each.type === "checkbox" ? each.checked : each.name && each.value !== "") fault[each.name] = each.type === "checkbox" ? true : each.type === "number" ? Number(each.value) : each.value;
    }
    if (await act("add-fault", { fault }) !== undefined && $("problem").hidden) form.reset();
  } }, h("label", {}, "API", field("api", { placeholder: "any", list: "apis" })), h("label", {}, "Error", field("answer", { placeholder: "none", list: "errors" })),
  h("label", {}, "Topic", field("topic", { placeholder: "any" })), h("label", {}, "Group", field("group", { placeholder: "any" })),
  h("label", {}, "Times", field("times", { type: "number", min: 1, placeholder: "always" })), h("label", {}, "Delay, ms", field("delay_ms", { type: "number", min: 0, placeholder: "0" })),
  ...["drop", "lose", "cut"].map(each => h("label", {}, field(each, { type: "checkbox" }), { drop: "Drop the request", lose: "Lose the answer", cut: "Cut the connection" }[each])),
  h("button", { className: "main" }, "Add"));
  const options = (id, names) => h("datalist", { id }, names.map(each => h("option", { value: each })));
  const grid = new Grid({ label: "Faults", key: each => each.number, empty: "No faults are set.", columns: [["#", "36px", each => each.number, "num"], ["API", "1fr", each => each.api ?? "any"],
    ["Does", "1.5fr", each => [each.answer, each.drop && "drop", each.lose && "lose the answer", each.cut && "cut", each.delay_ms ? `wait ${each.delay_ms} ms` : null, each.class].filter(Boolean).join(", ")],
    ["Where", "2fr", each => ["topic", "partition", "group", "client_id", "transactional_id", "node"].filter(name => each[name] !== undefined).map(name => `${name} ${each[name]}`).join(", ")],
    ["Times", "70px", each => each.times ?? "always", "num"], ["Hits", "70px", each => [count(each.hits), each.hits ? "warn" : ""], "num"]] });
  return { nodes: [h("section", { className: "card", "aria-label": "Clock" }, h("h2", {}, "Clock"), h("div", { className: "bar" }, time), h("div", { className: "bar" }, freeze, advance({ seconds: 1 }, "+1 s"), advance({ minutes: 1 }, "+1 min"),
    advance({ hours: 1 }, "+1 h"), advance({ days: 1 }, "+1 day"), amount, unit, button("Advance", () => act("clock/advance", { [unit.value]: Number(amount.value) })))),
  options("apis", APIS), options("errors", ERRORS), h("section", { className: "card", "aria-label": "Faults" }, h("div", { className: "bar" }, h("h2", {}, "Faults"), h("span", { className: "space" }),
    button("Clear all", () => act("set-faults", { faults: [] }))), form), grid.root],
  poll: async () => {
    const now = latest();
    if (now) { time.textContent = `${clockText(now.now_ms)} UTC${now.frozen ? ", frozen" : ""}`; freeze.textContent = now.frozen ? "Resume" : "Freeze"; }
    grid.set((await api("faults")).map((each, number) => ({ number, ...each })));
  } };
}
