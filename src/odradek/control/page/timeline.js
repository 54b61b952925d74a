// What was seen of a group's states while the page is open, as a bar; and who joined, left and came back, a lane for each.

import { h, svg } from "./dom.js";
import { many } from "./values.js";

const SETTLED = new Set(["Stable", "Empty", "Dead"]);
const KEPT = 200, LANES = 12, SHOWN_S = 120, LANE = 16;
const seen = new Map();
const KINDS = { JoinGroup: "moving", SyncGroup: "moving", LeaveGroup: "left", ConsumerGroupHeartbeat: "moving", ShareGroupHeartbeat: "moving", StreamsGroupHeartbeat: "moving" };

export function note(info) {
  const known = seen.get(info.group_id) ?? [], now = Date.now(), last = known.at(-1);
  if (last && last.state === info.state && last.generation === info.generation && last.members === info.members.length) last.until = now;
  else known.push({ from: last?.until ?? now, until: now, state: info.state, generation: info.generation, members: info.members.length });
  seen.set(info.group_id, known.slice(-KEPT));
}

const kindOf = state => state === "Stable" ? "stable" : SETTLED.has(state) ? "none" : "moving";

export function states(group) {
  const known = seen.get(group) ?? [], begin = known[0]?.from ?? 0, span = Math.max(1000, (known.at(-1)?.until ?? 0) - begin);
  const said = each => `${each.state}, generation ${each.generation}, ${many(each.members, "member")}`;
  const text = known.slice(-6).map(each => `${each.state} (generation ${each.generation}, ${many(each.members, "member")}) ${((each.until - each.from) / 1000).toFixed(0)} s`).join(" → ");
  const bars = known.map(each => svg("rect", { x: each.from - begin, y: 0, height: 10, width: Math.max(span / 300, each.until - each.from), class: kindOf(each.state) },
    svg("title", {}, said(each))));
  return [svg("svg", { class: "timeline", role: "img", preserveAspectRatio: "none", viewBox: `0 0 ${span} 10`, "aria-label": text }, ...bars),
    h("p", { className: "quiet" }, text)];
}

// The requests that moved the group, a lane for each client: when it asked to join, and how long it waited.
export function lanes(asked) {
  const moves = asked.filter(each => each.api in KINDS && (each.latencyMs !== null || each.state === "waiting"));
  const clients = [...new Set(moves.map(each => each.clientId ?? "?"))].slice(0, LANES);
  if (!clients.length) return [];
  const end = Math.max(...moves.map(each => each.at + (each.latencyMs ?? 0) / 1000)) + 0.5;
  const begin = Math.max(end - SHOWN_S, Math.min(...moves.map(each => each.at)) - 0.5);
  return [h("div", { className: "lanes", role: "list", "aria-label": "Rebalances by client" }, clients.map(client => {
    const own = moves.filter(each => (each.clientId ?? "?") === client && each.at >= begin);
    const bars = own.map(each => svg("rect", { x: each.at - begin, y: 2, height: LANE - 4, width: Math.max((end - begin) / 150, (each.latencyMs ?? 1000 * (end - each.at)) / 1000),
      class: each.problems.length ? "failed" : KINDS[each.api] }, svg("title", {}, each.line)));
    return h("div", { className: "lane", role: "listitem" }, h("span", { className: "mono", title: client }, client),
      svg("svg", { class: "timeline", role: "img", preserveAspectRatio: "none", viewBox: `0 0 ${end - begin} ${LANE}`,
        "aria-label": `${client}: ${many(own.length, "request")}` }, ...bars));
  })), h("p", { className: "quiet" }, `+${begin.toFixed(1)} s to +${end.toFixed(1)} s. `, h("span", { className: "key moving" }), " joins and waits ",
    h("span", { className: "key left" }), " leaves ", h("span", { className: "key failed" }), " is refused")];
}
