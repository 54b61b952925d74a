// The clock and the faults.

import { api } from "./api.js";
import { button, h } from "./dom.js";
import { asks } from "./forms.js";
import { act, known, latest } from "./frame.js";
import { Grid } from "./grid.js";
import { clockText, count } from "./values.js";

export function labView() {
  const time = h("span", { className: "big", role: "timer" }), amount = h("input", { type: "number", min: 0, step: "any", value: 5, "aria-label": "How long" });
  const unit = h("select", { "aria-label": "Unit" }, ["seconds", "minutes", "hours", "days"].map(each => h("option", {}, each)));
  const freeze = button("Freeze", () => act(latest()?.frozen ? "clock/resume" : "clock/freeze"));
  const advance = (given, label) => button(label, () => act("clock/advance", given));
  const remove = each => act("remove-fault", { fault: each.number });
  const grid = new Grid({ label: "Faults", key: each => each.number, empty: "No faults are set.", pick: () => {}, remove, columns: [["#", "36px", each => each.number, "num"], ["API", "minmax(80px, 1fr)", each => each.api ?? "any"],
    ["Does", "minmax(90px, 1.5fr)", each => [each.answer, each.drop && "drop", each.lose && "lose the answer", each.cut && "cut", each.delay_ms ? `wait ${each.delay_ms} ms` : null, each.class].filter(Boolean).join(", ")],
    ["Where", "minmax(70px, 2fr)", each => ["topic", "partition", "group", "client_id", "transactional_id", "node"].filter(name => each[name] !== undefined).map(name => `${name} ${each[name]}`).join(", "), "extra"],
    ["Times", "70px", each => each.times ?? "always", "num extra"], ["Hits", "70px", each => [count(each.hits), each.hits ? "warn" : ""], "num"]] });
  return { nodes: [h("section", { className: "card", "aria-label": "Clock" }, h("h2", {}, "Clock"), h("div", { className: "bar" }, time), h("div", { className: "bar" }, freeze, advance({ seconds: 1 }, "+1 s"), advance({ minutes: 1 }, "+1 min"),
    advance({ hours: 1 }, "+1 h"), advance({ days: 1 }, "+1 day"), amount, unit, button("Advance", () => act("clock/advance", { [unit.value]: Number(amount.value) })))),
  h("section", { className: "card", "aria-label": "Faults" }, h("div", { className: "bar" }, h("h2", {}, "Faults"), h("span", { className: "space" }),
    asks("Add", "fault", () => ({}), undefined, { className: "main" }), button("Remove", () => { const row = grid.row(grid.at); if (row) remove(row); }),
    button("Clear all", () => act("set-faults", { faults: [] })))), grid.root],
  poll: async () => {
    const now = await known();
    { time.textContent = `${clockText(now.now_ms)} UTC${now.frozen ? ", frozen" : ""}`; freeze.textContent = now.frozen ? "Resume" : "Freeze"; }
    grid.set((await api("faults")).map((each, number) => ({ number, ...each })));
  } };
}
