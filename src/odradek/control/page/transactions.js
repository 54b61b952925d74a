// Transactional ids.

import { api } from "./api.js";
import { h } from "./dom.js";
import { Grid } from "./grid.js";
import { search } from "./parts.js";

export function transactionsView() {
  let all = [];
  const box = search("Search transactional ids", () => fill());
  const grid = new Grid({ label: "Transactions", key: each => each.transactional_id, empty: "No transactional ids.", pick: () => {}, columns: [
    ["Transactional id", "minmax(120px, 2fr)", each => each.transactional_id],
    ["State", "minmax(135px, 1fr)", each => [each.state, each.state === "CompleteCommit" ? "good" : each.state === "CompleteAbort" ? "bad" : each.state === "Empty" ? "quiet" : "warn"]],
    ["Partitions", "minmax(110px, 2fr)", each => each.partitions.join(", ")], ["Age", "90px", each => each.age_ms === null ? "" : `${(each.age_ms / 1000).toFixed(1)} s`, "num"],
    ["Time-out", "90px", each => `${each.timeout_ms / 1000} s`, "num"], ["Producer", "110px", each => `${each.producer_id} epoch ${each.producer_epoch}`, "num"],
    ["Coordinator", "90px", each => each.coordinator_id, "num"], ["Held at", "minmax(70px, 1fr)", each => [each.held_at.join(", "), "warn"]]] });
  const fill = () => grid.set(all.filter(each => each.transactional_id.includes(box.value)));
  return { nodes: [h("div", { className: "bar" }, box), grid.root], poll: async () => { all = Object.values(await api("transactions")); fill(); } };
}
