// Topics, and the partitions of one.

import { api, query } from "./api.js";
import { button, facts, go, h, tell } from "./dom.js";
import { Grid } from "./grid.js";
import { paged, search, searched } from "./parts.js";
import { count, size } from "./values.js";

export function topicsView(name) {
  const internal = h("input", { type: "checkbox", onchange: () => searched(grid)() });
  const box = search("Search topics", () => searched(grid)());
  const title = h("h2", { className: "quiet" }, "No topic chosen."), about = h("div");
  let chosen = name ?? null;
  const parts = new Grid({ label: "Partitions", key: each => each.index, columns: [
    ["#", "36px", each => each.index, "num"], ["Leader", "50px", each => each.leader < 0 ? ["none", "bad"] : each.leader, "num"],
    ["Replicas", "1fr", each => each.replicas.join(", ")],
    ["In sync", "1fr", each => [each.isr.join(", "), each.isr.length < each.replicas.length ? "warn" : ""]],
    ["Offsets", "1.5fr", each => `${count(each.log_start_offset)} – ${count(each.log_end_offset)}`, "num"],
    ["Behind", "1fr", each => { const late = Object.entries(each.replica_ends).filter(([, end]) => end < each.log_end_offset);
      return [late.map(([node, end]) => `${node}: ${count(each.log_end_offset - end)}`).join(" "), "warn"]; }],
  ], open: each => go("records", chosen, each.index) });
  const read = button("Records", () => go("records", chosen), { className: "main", hidden: true });
  const detail = async () => {
    if (chosen === null) return;
    const found = await api(`topic?${query({ name: chosen })}`);
    title.textContent = found.name; title.className = ""; read.hidden = more.hidden = false;
    about.replaceChildren(facts({ Id: found.topic_id, ...found.config }));
    parts.set(found.partitions);
  };
  const before = new Map();
  const grid = new Grid({ label: "Topics", key: each => each.name, load: paged("topic-page", box, "topics", () => ({ internal: internal.checked })),
    empty: "No topics. They come with the clients that use them, or by create_topic.", columns: [
      ["Topic", "minmax(120px, 3fr)", each => [each.name, each.internal ? "quiet" : ""]],
      ["Partitions", "90px", each => each.leaderless ? [`${each.partitions} (${each.leaderless} down)`, "bad"] : each.behind ? [`${each.partitions} (${each.behind} behind)`, "warn"] : each.partitions, "num"],
      ["Records", "1fr", each => count(each.records), "num"], ["Size", "1fr", each => size(each.size_bytes), "num"],
      ["Per second", "84px", each => rate(each), "num"]],
    pick: each => { chosen = each.name; detail().catch(tell); }, open: each => go("records", each.name) });
  function rate(each) {
    const now = performance.now(), known = before.get(each.name);
    if (!known || now - known.at > 5000) { before.set(each.name, { at: now, end: each.end, rate: 0 }); return ""; }
    if (now - known.at > 900) before.set(each.name, { at: now, end: each.end, rate: Math.max(0, each.end - known.end) / (now - known.at) * 1000 });
    const found = before.get(each.name).rate;
    return found ? found.toFixed(1) : "";
  }
  const more = h("div", { className: "more", hidden: true }, about, h("h3", {}, "Partitions"), parts.root);
  grid.chosen = chosen;
  return { nodes: [h("div", { className: "bar" }, box, h("label", {}, internal, "Kafka's own")),
    h("div", { className: "split" }, h("div", {}, grid.root),
      h("section", { className: "detail", "aria-label": "Topic" }, h("div", { className: "bar" }, title, h("span", { className: "space" }), read), more))],
  poll: () => Promise.all([grid.refresh(), detail()]) };
}
