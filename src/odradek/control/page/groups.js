// Groups: members, offsets, and how they came to it.

import { Follower, api, query } from "./api.js";
import { button, enc, facts, h, tell } from "./dom.js";
import { asks } from "./forms.js";
import { Grid } from "./grid.js";
import { configs, groupColumns, lagText, paged, requestColumns, requestKey, search, searched } from "./parts.js";
import { lanes, note, states } from "./timeline.js";
import { count, many } from "./values.js";

const MOVES = /^(JoinGroup|SyncGroup|LeaveGroup|ConsumerGroupHeartbeat|ShareGroupHeartbeat|StreamsGroupHeartbeat|Heartbeat|OffsetCommit|DeleteGroups)$/;
const ONLY_ERRORS = /^(Heartbeat|OffsetCommit)$/;
const KEPT = 500;

// The ends of partitions without a committed offset, which a group's snapshot lacks.
async function endsOf(places) {
  const topics = [...new Set(places.map(each => each.slice(0, each.lastIndexOf("-"))))], found = new Map();
  for (const each of await Promise.all(topics.map(name => api(`topics/${encodeURIComponent(name)}/info`)))) for (const one of each.partitions) found.set(`${each.name}-${one.index}`, one.high_watermark);
  return found;
}

export function groupsView(group) {
  let chosen = group ?? null, coordinator = null, asked = [], from = null;
  const box = search("Search groups", () => searched(grid)());
  const title = h("h2", { className: "quiet" }, "No group chosen."), more = h("div", { className: "more", hidden: true }), about = h("div"), bar = h("div"), story = h("div");
  const members = new Grid({ label: "Members", small: true, key: each => each.member_id, empty: "No members.", columns: [
    ["Client", "minmax(70px, 1fr)", each => each.client_id], ["Member", "minmax(100px, 1fr)", each => [each.member_id, "mono"], "extra"],
    ["Partitions", "minmax(90px, 2fr)", each => Object.entries(each.assignment).map(([topic, parts]) => `${topic}: ${parts.join(", ")}`).join("; ")]] });
  const offsets = new Grid({ label: "Offsets", small: true, key: each => each.place, empty: "Nothing committed.", columns: [
    ["Partition", "minmax(70px, 2fr)", each => each.place, "", "place"], ["Committed", "74px", each => each.offset === null ? ["never", "quiet"] : count(each.offset), "num", "offset"],
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
  const verbs = h("div", { className: "bar" }, asks("Reset offsets", "reset", () => ({ group_id: chosen })), button("Configs", () => configs(32, chosen).catch(tell)),
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
