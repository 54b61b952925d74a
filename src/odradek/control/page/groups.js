// Groups: members, offsets, and how they came to it.

import { Follower, api, query } from "./api.js";
import { button, count, enc, facts, h, many, svg, tell } from "./dom.js";
import { asks } from "./forms.js";
import { Grid } from "./grid.js";
import { configs, groupColumns, lagText, paged, requestColumns, requestKey, SETTLED, search, searched } from "./parts.js";

// What was seen of a group's states while the page is open, as a bar; and who joined, left and came back, a lane for each.

const KEPT_STATES = 200, LANES = 12, SHOWN_S = 120, LANE = 16;
const seen = new Map();
const KINDS = { JoinGroup: "moving", SyncGroup: "moving", LeaveGroup: "left", ConsumerGroupHeartbeat: "moving", ShareGroupHeartbeat: "moving", StreamsGroupHeartbeat: "moving" };

function note(info) {
  const known = seen.get(info.group_id) ?? [], now = Date.now(), last = known.at(-1);
  if (last && last.state === info.state && last.generation === info.generation && last.members === info.members.length) last.until = now;
  else known.push({ from: last?.until ?? now, until: now, state: info.state, generation: info.generation, members: info.members.length });
  seen.set(info.group_id, known.slice(-KEPT_STATES));
}

const kindOf = state => state === "Stable" ? "stable" : SETTLED.has(state) ? "none" : "moving";

function states(group) {
  const known = seen.get(group) ?? [], begin = known[0]?.from ?? 0, span = Math.max(1000, (known.at(-1)?.until ?? 0) - begin);
  const said = each => `${each.state}, generation ${each.generation}, ${many(each.members, "member")}`;
  const text = known.slice(-6).map(each => `${each.state} (generation ${each.generation}, ${many(each.members, "member")}) ${((each.until - each.from) / 1000).toFixed(0)} s`).join(" → ");
  const bars = known.map(each => svg("rect", { x: each.from - begin, y: 0, height: 10, width: Math.max(span / 300, each.until - each.from), class: kindOf(each.state) },
    svg("title", {}, said(each))));
  return [svg("svg", { class: "timeline", role: "img", preserveAspectRatio: "none", viewBox: `0 0 ${span} 10`, "aria-label": text }, ...bars),
    h("p", { className: "quiet" }, text)];
}

// The requests that moved the group, a lane for each client: when it asked to join, and how long it waited.
function lanes(asked) {
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

const MOVES = /^(JoinGroup|SyncGroup|LeaveGroup|ConsumerGroupHeartbeat|ShareGroupHeartbeat|StreamsGroupHeartbeat|Heartbeat|OffsetCommit|DeleteGroups)$/;
const ONLY_ERRORS = /^(Heartbeat|OffsetCommit)$/;
const KEPT = 500;

// The ends of partitions without a committed offset, which a group's snapshot lacks.
async function endsOf(places) {
  const topics = [...new Set(places.map(each => each.slice(0, each.lastIndexOf("-"))))], found = new Map();
  for (const each of await Promise.all(topics.map(name => api(`topics/${enc(name)}/info`)))) for (const one of each.partitions) found.set(`${each.name}-${one.index}`, one.high_watermark);
  return found;
}

export function groupsView(group) {
  let chosen = group ?? null, coordinator = null, first, asked = [], from = null;
  const box = search("Search groups", () => searched(grid)());
  const title = h("h2", { className: "quiet" }, "No group chosen."), more = h("div", { className: "more", hidden: true }), about = h("div"), bar = h("div"), story = h("div");
  const members = new Grid({ label: "Members", small: true, key: each => each.member_id, empty: "No members.", columns: [
    ["Client", "minmax(70px, 1fr)", each => each.client_id], ["Member", "minmax(100px, 1fr)", each => [each.member_id, "mono"], "extra"],
    ["Partitions", "minmax(90px, 2fr)", each => Object.entries(each.assignment).map(([topic, parts]) => `${topic}: ${parts.join(", ")}`).join("; ")]] });
  const offsets = new Grid({ label: "Offsets", small: true, key: each => each.place, empty: "Nothing committed.", columns: [
    ["Partition", "minmax(70px, 2fr)", each => each.place, "", "place"],
      ["Committed", "74px", each => each.offset === null ? ["never", "quiet"] : count(each.offset), "num", "offset"],
    ["End", "minmax(44px, 1fr)", each => each.end === null ? ["gone", "quiet"] : count(each.end), "num", "end"],
    ["Lag", "minmax(44px, 1fr)", each => each.lag === null ? ["unknown", "quiet"] : count(each.lag), "num", "lag"]] });
  const moves = new Grid({ label: "Rebalance requests", small: true, key: requestKey, empty: "No joins, leaves or errors in the transcript.",
    columns: requestColumns().filter(([name]) => ["At", "Client", "API", "Answer"].includes(name)) });
  // Heartbeats that only say that somebody lives are no moves: those of the newer groups count when they took or changed something.
  const isMove = each => MOVES.test(each.api) && (each.problems.length || !ONLY_ERRORS.test(each.api));
  const stream = new Follower(() => `requests/stream?${query({ group: chosen, latest: 200 })}`, lines => {
    const found = lines.filter(each => each.api && isMove(each));
    if (!found.length) return;
    asked = [...asked, ...found].slice(-KEPT);
    detail().catch(tell);
  }, async () => { asked = (await api(`requests/tail?${query({ group: from, limit: KEPT })}`)).filter(isMove); draw(); });
  function draw() { moves.set([...asked].reverse()); bar.replaceChildren(...states(chosen)); story.replaceChildren(...lanes(asked)); }
  async function detail() {
    if (chosen === null) return;
    const mine = chosen, info = await api(`groups/${enc(mine)}/info`);
    if (mine !== chosen) return;
    title.textContent = info.group_id; title.className = ""; more.hidden = false;
    coordinator = info.coordinator;
    first = Object.keys(info.offsets)[0]?.replace(/-\d+$/, "");
    const known = Object.values(info.offsets).reduce((sum, each) => sum + (each.lag ?? 0), 0), open = info.uncommitted.length;
    about.replaceChildren(facts({ State: info.state, Type: info.type, Generation: info.generation, Assignor: info.protocol, Coordinator: info.coordinator,
      Lag: lagText(info.lag, known) + (open ? `: ${many(open, "partition")} without a committed offset` : ""), "Without a member": info.unassigned.join(", ") }));
    members.set(info.members);
    const ends = await endsOf(info.uncommitted);
    if (mine !== chosen) return;
    offsets.set([...Object.entries(info.offsets).map(([place, each]) => ({ place, ...each, end: each.lag === null ? null : each.offset + each.lag })),
      ...info.uncommitted.map(place => ({ place, offset: null, lag: null, end: ends.get(place) ?? null }))]);
    note(info);
    draw();
  }
  function follow() {
    if (chosen === null) return;
    if (from !== chosen) { from = chosen; asked = []; stream.again(); } else stream.keep();
  }
  const grid = new Grid({ label: "Groups", key: each => each.group_id, load: paged("group-page", box, "groups"), empty: "No groups.", columns: groupColumns(),
    pick: each => { chosen = each.group_id; follow(); detail().catch(tell); } });
  grid.chosen = chosen;
  const gone = () => { chosen = null; title.textContent = "No group chosen."; more.hidden = true; grid.chosen = null; };
  const verbs = h("div", { className: "bar" }, asks("Reset offsets", "reset", () => ({ group_id: chosen, topic: first })),
    button("Configs", () => configs(32, chosen).catch(tell)),
    asks("Delete", "delete-group", () => ({ group_id: chosen, node: coordinator < 0 ? null : coordinator }), gone));
  more.append(verbs, about, h("h3", {}, "States since this page was opened"), bar,
    h("h3", {}, "Who joined and left"), story, h("h3", {}, "Members"), members.root, h("h3", {}, "Offsets"), offsets.root,
    h("h3", {}, "Joins, leaves and errors in the transcript"), moves.root);
  return {
    nodes: [h("div", { className: "bar" }, box), h("div", { className: "split" }, h("div", {}, grid.root),
      h("section", { className: "detail", "aria-label": "Group" }, title, more))],
    poll: () => { follow(); return Promise.all([grid.refresh(), detail()]); }, close: () => stream.stop(),
  };
}
