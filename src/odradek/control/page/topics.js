// Topics, and the partitions of one.

import { api } from "./api.js";
import { button, count, enc, facts, go, h, size, tell } from "./dom.js";
import { asks, shownTopic } from "./forms.js";
import { latest } from "./frame.js";
import { Grid } from "./grid.js";
import { configs, groupColumns, paged, search, searched } from "./parts.js";

export function topicsView(name) {
  const internal = h("input", { type: "checkbox", onchange: () => searched(grid)() });
  const box = search("Search topics", () => searched(grid)());
  const title = h("h2", { className: "quiet" }, "No topic chosen."), about = h("div");
  let chosen = name ?? null, config = {};
  const parts = new Grid({ label: "Partitions", key: each => each.index, columns: [
    ["#", "36px", each => each.index, "num"], ["Leader", "50px", each => each.leader < 0 ? ["none", "bad"] : each.leader, "num"],
    ["Replicas", "1fr", each => each.replicas.join(", "), "extra"],
    ["In sync", "1fr", each => [each.isr.join(", "), each.isr.length < each.replicas.length ? "warn" : ""]],
    ["Offsets", "1.5fr", each => `${count(each.log_start_offset)} – ${count(each.log_end_offset)}`, "num"],
    ["Behind", "minmax(0, 1fr)", each => { const late = Object.entries(each.replica_ends).filter(([, end]) => end < each.log_end_offset);
      return [late.map(([node, end]) => `${node}: ${count(each.log_end_offset - end)}`).join(" "), "warn"]; }, "extra"],
  ], pick: () => {}, open: each => go("records", chosen, each.index) });
  const consumers = new Grid({ label: "Groups", small: true, key: each => each.group_id, empty: "No group reads it.", columns: groupColumns(), pick: () => {},
    open: each => go("groups", each.group_id),
    load: paged("group-page", { value: "" }, "groups", () => ({ topic: chosen })) });
  const here = () => ({ name: chosen }), topic = () => ({ topic: chosen }), place = () => ({ topic: chosen, partition: parts.row(parts.at)?.index });
  const gone = () => { chosen = null; title.textContent = "No topic chosen."; more.hidden = true; grid.chosen = null; };
  const bar = h("div", { className: "bar" }, button("Records", () => go("records", chosen), { className: "main" }), asks("Produce", "produce", topic),
    button("Configs", () => configs(2, chosen).catch(tell)), asks("Add partitions", "add-partitions", here), asks("Move a leader", "move-leader", place),
      asks("Reassign", "reassign", place), asks("Delete records", "delete-records", topic), asks("Delete", "delete-topic", here, gone));
  const detail = async picked => {
    if (chosen === null) return;
    const mine = chosen, found = await api(`topics/${enc(mine)}/info`);
    if (mine !== chosen) return;
    title.textContent = found.name; title.className = ""; more.hidden = false;
    about.replaceChildren(facts({ Id: found.topic_id, ...found.config }));
    parts.set(found.partitions);
    if (picked || latest()?.groups <= 100) await consumers.refresh();  // it is asked of every group
  };
  const before = new Map();
  const grid = new Grid({ label: "Topics", key: each => each.name, load: paged("topic-page", box, "topics", () => ({ internal: internal.checked })),
    empty: "No topics. Clients make them, or the button above.", columns: [
      ["Topic", "minmax(110px, 3fr)", each => [each.name, each.internal ? "quiet" : ""], "", "name"],
      ["Partitions", "90px", each => each.leaderless ? [`${each.partitions} (${each.leaderless} down)`, "bad"] : each.behind ? [`${each.partitions} (${each.behind} behind)`, "warn"] : each.partitions, "num", "partitions"],
      ["Records", "minmax(64px, 1fr)", each => count(each.records), "num", "records"],
        ["Size", "minmax(70px, 1fr)", each => size(each.size_bytes), "num extra", "size_bytes"],
      ["Per second", "84px", each => rate(each), "num extra"]],
    pick: each => { chosen = each.name; detail(true).catch(tell); }, open: each => go("records", each.name) });
  function rate(each) {
    const now = performance.now(), known = before.get(each.name);
    if (!known || now - known.at > 5000) { before.set(each.name, { at: now, end: each.end, rate: 0 }); return ""; }
    if (now - known.at > 900) before.set(each.name, { at: now, end: each.end, rate: Math.max(0, each.end - known.end) / (now - known.at) * 1000 });
    const found = before.get(each.name).rate;
    return found ? found.toFixed(1) : "";
  }
  const more = h("div", { className: "more", hidden: true }, bar, about, h("h3", {}, "Partitions"), parts.root, h("h3", {}, "Groups that read it"), consumers.root);
  grid.chosen = chosen;
  return { nodes: [h("div", { className: "bar" }, box, asks("Create", "create-topic", () => ({}), shownTopic), h("label", {}, internal, "Internal topics")),
    h("div", { className: "split" }, h("div", {}, grid.root),
      h("section", { className: "detail", "aria-label": "Topic" }, title, more))],
  poll: () => Promise.all([grid.refresh(), detail().catch(error => { if (chosen === null) return; gone(); throw error; })]) };
}
