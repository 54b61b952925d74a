// Groups: members, offsets, and how they came to it.

import { Follower, api, query } from "./api.js";
import { enc, facts, h, tell } from "./dom.js";
import { Grid } from "./grid.js";
import { paged, requestColumns, requestKey, search, searched } from "./parts.js";
import { SETTLED, lanes, note, states } from "./timeline.js";
import { count } from "./values.js";

const MOVES = /^(JoinGroup|SyncGroup|LeaveGroup|ConsumerGroupHeartbeat|ShareGroupHeartbeat|StreamsGroupHeartbeat|Heartbeat|OffsetCommit|DeleteGroups)$/;
const ONLY_ERRORS = /^(Heartbeat|OffsetCommit)$/;
const KEPT = 500;

export function groupsView(group) {
  let chosen = group ?? null, asked = [], from = null;
  const box = search("Search groups", () => searched(grid)());
  const title = h("h2", { className: "quiet" }, "No group chosen."), more = h("div", { className: "more", hidden: true }), about = h("div"), bar = h("div"), story = h("div");
  const members = new Grid({ label: "Members", small: true, key: each => each.member_id, empty: "No members.", columns: [
    ["Client", "1fr", each => each.client_id], ["Member", "1fr", each => [each.member_id, "mono"]],
    ["Has", "2fr", each => Object.entries(each.assignment).map(([topic, parts]) => `${topic}: ${parts.join(", ")}`).join("; ")]] });
  const offsets = new Grid({ label: "Offsets", small: true, key: each => each.place, empty: "Nothing committed.", columns: [
    ["Partition", "2fr", each => each.place], ["Committed", "1fr", each => count(each.offset), "num"], ["Lag", "1fr", each => each.lag === null ? "gone" : count(each.lag), "num"]] });
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
    about.replaceChildren(facts({ State: info.state, Type: info.type, Generation: info.generation, Assignor: info.protocol, Lag: info.lag ?? "unknown",
      Coordinator: info.coordinator, "Without a member": info.unassigned.join(", "), "Never committed": info.uncommitted.join(", ") }));
    members.set(info.members);
    offsets.set(Object.entries(info.offsets).map(([place, each]) => ({ place, ...each })));
    note(info);
    draw();
  }
  function follow() {
    if (chosen === null) return;
    if (from !== chosen) { from = chosen; asked = []; stream.again(); } else stream.keep();
  }
  const grid = new Grid({ label: "Groups", key: each => each.group_id, load: paged("group-page", box, "groups"), empty: "No groups.", columns: [
    ["Group", "minmax(100px, 2fr)", each => each.group_id], ["Type", "80px", each => each.type],
    ["State", "minmax(90px, 1fr)", each => [each.state, each.state === "Stable" ? "good" : SETTLED.has(each.state) ? "quiet" : "warn"]],
    ["Gen.", "50px", each => each.generation, "num"], ["Members", "66px", each => each.members, "num"],
    ["Lag", "1fr", each => each.lag === null ? ["unknown", "quiet"] : count(each.lag), "num"]],
  pick: each => { chosen = each.group_id; follow(); detail().catch(tell); } });
  grid.chosen = chosen;
  more.append(about, h("h3", {}, "States since this page looks"), bar,
    h("h3", {}, "Who joined and left"), story, h("h3", {}, "Members"), members.root, h("h3", {}, "Offsets"), offsets.root,
    h("h3", {}, "Joins, leaves and errors in the transcript"), moves.root);
  return {
    nodes: [h("div", { className: "bar" }, box), h("div", { className: "split" }, h("div", {}, grid.root),
      h("section", { className: "detail", "aria-label": "Group" }, title, more))],
    poll: () => { follow(); return Promise.all([grid.refresh(), detail()]); }, close: () => stream.stop(),
  };
}
