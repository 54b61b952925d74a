// Nodes, with buttons.

import { api } from "./api.js";
import { button, facts, h, tell } from "./dom.js";
import { act } from "./frame.js";
import { configs } from "./parts.js";
import { count, many } from "./values.js";

export function nodesView() {
  const cards = h("div", { className: "cards" }), made = new Map();
  function card(id) {
    const state = h("strong"), about = h("div"), title = h("h2", {}, `Node ${id}`);
    const verbs = { up: [["Kill", "kill-node"], ["Stop", "stop-node"], ["Freeze", "freeze-node"]], frozen: [["Thaw", "thaw-node"], ["Kill", "kill-node"]], down: [["Start", "start-node"], ["Remove", "remove-node"]] };
    const bars = Object.fromEntries(Object.entries(verbs).map(([kind, some]) => [kind, h("div", { className: "bar", hidden: true },
      some.map(([label, path]) => button(label, () => act(path, { node_id: id }), { "aria-label": `${label} node ${id}` })))]));
    const section = h("section", { className: "card", "aria-label": `Node ${id}` }, h("div", { className: "bar" }, title, h("span", { className: "space" }), state, button("Configs", () => configs(4, String(id)).catch(tell), { "aria-label": `Configs of node ${id}` })), about, ...Object.values(bars));
    cards.append(section);
    const show = node => {
      state.textContent = node.state + (node.controller ? ", controller" : "");
      state.className = { up: "good", frozen: "warn", down: "bad" }[node.state];
      for (const [kind, bar] of Object.entries(bars)) bar.hidden = kind !== node.state;
      about.replaceChildren(facts({ Address: `${node.host}:${node.port}`, Rack: node.rack, Leads: many(node.leads, "partition"), Replicas: count(node.replicas), "Not in sync": node.behind ? count(node.behind) : null }));
    };
    return { section, show };
  }
  const bar = h("div", { className: "bar" }, button("Add a node", () => act("add-node", {})));
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
