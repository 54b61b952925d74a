// Transactional ids; nodes, with buttons; the clock and the faults.

import { api } from "./api.js";
import { button, clockText, count, facts, h, many, tell } from "./dom.js";
import { ask, asks } from "./forms.js";
import { act, known, latest } from "./frame.js";
import { Grid } from "./grid.js";
import { configs, search } from "./parts.js";

export function transactionsView() {
  let all = [];
  const box = search("Search transactional ids", () => fill());
  const grid = new Grid({ label: "Transactions", key: each => each.transactional_id, empty: "No transactional ids.", pick: () => {},
    remove: each => each.age_ms === null ? tell(new Error(`No transaction of ${each.transactional_id} is open.`)) : ask("abort", { id: each.transactional_id, timeout: each.timeout_ms, node: each.coordinator_id }), columns: [
    ["Transactional id", "minmax(100px, 2fr)", each => each.transactional_id, "", "transactional_id"],
    ["State", "minmax(120px, 1fr)", each => [each.state, each.state === "CompleteCommit" ? "good" : each.state === "CompleteAbort" ? "bad" : each.state === "Empty" ? "quiet" : "warn"]],
    ["Partitions", "minmax(110px, 2fr)", each => each.partitions.join(", "), "extra"],
      ["Age", "70px", each => each.age_ms === null ? "" : `${(each.age_ms / 1000).toFixed(1)} s`, "num", "age_ms"],
    ["Timeout", "80px", each => `${each.timeout_ms / 1000} s`, "num extra"],
      ["Producer", "110px", each => `${each.producer_id} epoch ${each.producer_epoch}`, "num extra"],
    ["Coordinator", "90px", each => each.coordinator_id, "num extra"], ["Held at", "minmax(60px, 1fr)", each => [each.held_at.join(", "), "warn"], "extra"]] });
  const fill = () => grid.set(all.filter(each => each.transactional_id.includes(box.value)));
  return { nodes: [h("div", { className: "bar" }, box, button("Abort", grid.chosenRow(grid.remove))), grid.root], poll: async () => { all = Object.values(await api("transactions")); fill(); } };
}

export function nodesView() {
  const cards = h("div", { className: "cards" }), made = new Map();
  function card(id) {
    const state = h("strong"), about = h("div"), title = h("h2", {}, `Node ${id}`);
    const verbs = { up: [["Kill", "kill-node"], ["Stop", "stop-node"], ["Freeze", "freeze-node"]], frozen: [["Thaw", "thaw-node"],
      ["Kill", "kill-node"]], down: [["Start", "start-node"], ["Remove", "remove-node"]] };
    const bars = Object.fromEntries(Object.entries(verbs).map(([kind, some]) => [kind, h("div", { className: "bar", hidden: true },
      some.map(([label, path]) => button(label, () => act(path, { node_id: id }), { "aria-label": `${label} node ${id}` })))]));
    const section = h("section", { className: "card", "aria-label": `Node ${id}` },
      h("div", { className: "bar" }, title, h("span", { className: "space" }), state,
      button("Configs", () => configs(4, String(id)).catch(tell), { "aria-label": `Configs of node ${id}` })), about, ...Object.values(bars));
    cards.append(section);
    const show = node => {
      state.textContent = node.state + (node.controller ? ", controller" : "");
      state.className = { up: "good", frozen: "warn", down: "bad" }[node.state];
      for (const [kind, bar] of Object.entries(bars)) bar.hidden = kind !== node.state;
      about.replaceChildren(facts({ Address: `${node.host}:${node.port}`, Rack: node.rack, Leads: many(node.leads, "partition"), Replicas: count(node.replicas), "Not in sync": node.behind ? count(node.behind) : null }));
    };
    return { section, show };
  }
  const bar = h("div", { className: "bar" }, button("Add a node", () => act("add-node", {})), asks("Cut a link", "cut", () => ({})),
    asks("Slow a link down", "slow", () => ({})),
    button("Heal", () => act("heal"), { title: "Takes back all that was done to nodes, links, disks and replicas" }));
  return { nodes: [bar, cards], poll: async () => {
    const nodes = Object.values(await api("nodes"));
    for (const node of nodes) {
      if (!made.has(node.id)) made.set(node.id, card(node.id));
      made.get(node.id).show(node);
    }
    for (const [id, { section }] of made) if (!nodes.some(node => node.id === id)) {
      section.remove();
      made.delete(id);
    }
  } };
}

export function labView() {
  const time = h("span", { className: "big", role: "timer" }), amount = h("input", { type: "number", min: 0, step: "any", value: 5, "aria-label": "How long" });
  const unit = h("select", { "aria-label": "Unit" }, ["seconds", "minutes", "hours", "days"].map(each => h("option", {}, each)));
  const freeze = button("Freeze", () => act(latest()?.frozen ? "clock/resume" : "clock/freeze"));
  const advance = (given, label) => button(label, () => act("clock/advance", given));
  const remove = each => act("remove-fault", { fault: each.number });
  const grid = new Grid({ label: "Faults", key: each => each.number, empty: "No faults are set.", pick: () => {}, remove,
    columns: [["#", "36px", each => each.number, "num"], ["API", "minmax(80px, 1fr)", each => each.api ?? "any"],
    ["Does", "minmax(90px, 1.5fr)", each => [each.answer, each.drop && "drop", each.lose && "lose the answer", each.cut && "cut", each.delay_ms ? `wait ${each.delay_ms} ms` : null, each.class].filter(Boolean).join(", ")],
    ["Where", "minmax(70px, 2fr)", each => ["topic", "partition", "group", "client_id", "transactional_id", "node"].filter(name => each[name] !== undefined).map(name => `${name} ${each[name]}`).join(", "), "extra"],
    ["Times", "70px", each => each.times ?? "always", "num extra"], ["Hits", "70px", each => [count(each.hits), each.hits ? "warn" : ""], "num"]] });
  return { nodes: [h("section", { className: "card", "aria-label": "Clock" }, h("h2", {}, "Clock"), h("div", { className: "bar" }, time),
    h("div", { className: "bar" }, freeze, advance({ seconds: 1 }, "+1 s"), advance({ minutes: 1 }, "+1 min"),
    advance({ hours: 1 }, "+1 h"), advance({ days: 1 }, "+1 day"), amount, unit,
      button("Advance", () => act("clock/advance", { [unit.value]: Number(amount.value) })))),
  h("section", { className: "card", "aria-label": "Faults" }, h("div", { className: "bar" }, h("h2", {}, "Faults"), h("span", { className: "space" }),
    asks("Add", "fault", () => ({}), undefined, { className: "main" }), button("Remove", grid.chosenRow(remove)),
    button("Clear all", () => act("set-faults", { faults: [] })))), grid.root],
  poll: async () => {
    const now = await known();
    { time.textContent = `${clockText(now.now_ms)} UTC${now.frozen ? ", frozen" : ""}`; freeze.textContent = now.frozen ? "Resume" : "Freeze"; }
    grid.set((await api("faults")).map((each, number) => ({ number, ...each })));
  } };
}
