// Transactional ids.

import { api } from "./api.js";
import { h } from "./dom.js";
import { Grid } from "./grid.js";
import { search } from "./parts.js";

export function transactionsView() {
  let all = [];
  const box = search("Search transactional ids", () => fill());
  const grid = new Grid({ label: "Transactions", key: each => each.transactional_id, empty: "No transactional ids.", pick: () => {}, columns: [
    ["Transactional id", "minmax(100px, 2fr)", each => each.transactional_id, "", "transactional_id"],
    ["State", "minmax(120px, 1fr)", each => [each.state, each.state === "CompleteCommit" ? "good" : each.state === "CompleteAbort" ? "bad" : each.state === "Empty" ? "quiet" : "warn"]],
    ["Partitions", "minmax(110px, 2fr)", each => each.partitions.join(", "), "extra"], ["Age", "70px", each => each.age_ms === null ? "" : `${(each.age_ms / 1000).toFixed(1)} s`, "num", "age_ms"],
    ["Timeout", "80px", each => `${each.timeout_ms / 1000} s`, "num extra"], ["Producer", "110px", each => `${each.producer_id} epoch ${each.producer_epoch}`, "num extra"],
    ["Coordinator", "90px", each => each.coordinator_id, "num extra"], ["Held at", "minmax(60px, 1fr)", each => [each.held_at.join(", "), "warn"], "extra"]] });
  const fill = () => grid.set(all.filter(each => each.transactional_id.includes(box.value)));
  return { nodes: [h("div", { className: "bar" }, box), grid.root], poll: async () => { all = Object.values(await api("transactions")); fill(); } };
}
