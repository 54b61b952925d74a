// What several views have.

import { api, kafka, query } from "./api.js";
import { button, count, h, size, tell } from "./dom.js";
import { ask, nodeOf } from "./forms.js";
import { Grid } from "./grid.js";

export const search = (label, changed) => {
  let later;
  return h("input", { type: "search", className: "grow search", placeholder: `${label}  (/)`, "aria-label": label, spellcheck: false,
    oninput: () => { clearTimeout(later); later = setTimeout(changed, 150); } });
};

// Loads pages of a list whose names contain what is in the box.
export const paged = (path, box, member, more = () => ({})) => async (start, limit, sort) => {
  const found = await api(`${path}?${query({ contains: box.value, start, limit, sort, ...more() })}`);
  return { total: found.total, rows: found[member] };
};

export const searched = grid => () => { grid.body.scrollTop = 0; grid.refresh().catch(tell); };

export const requestKey = each => `${each.connection} ${each.correlationId} ${each.at}`;

export function requestColumns() {
  const place = ([topic, part, offset]) => `${topic}${part === null ? "" : `-${part}`}${offset === null || offset === undefined ? "" : ` @ ${offset}`}`;
  const answer = each => {
    if (each.cut) return [each.cut, "bad"];
    if (each.problems.length) return [[...new Set(each.problems.map(([, text]) => text.match(/[A-Z]+_[A-Z_]+/)?.[0] ?? text))].join(", "), "bad"];
    return each.state === "answered" ? [`${size(each.responseSize)}`, "good"] : [each.state, "warn"];
  };
  return [["At", "86px", each => `+${each.at.toFixed(3)}`, "num mono extra", "at"], ["Node", "42px", each => each.node, "num extra", "node"],
    ["Client", "minmax(70px, 1fr)", each => each.clientId ?? "", "extra", "clientId"],
      ["API", "minmax(100px, 1.2fr)", each => `${each.api} v${each.version}`, "", "api"],
    ["About", "minmax(60px, 1.6fr)", each => [...each.topics.map(place), ...each.groups, ...each.transactionalIds].join(", ")],
    ["Took", "74px", each => each.latencyMs === null ? "" : `${each.latencyMs.toFixed(1)} ms`, "num", "latencyMs"],
    ["Answer", "minmax(70px, 1.8fr)", answer, "", "responseSize"]];
}

const SOURCES = ["", "set here", "set on the broker", "default of the cluster", "static", "default", "logger", "client metrics", "set on the group"];

// The configs of a topic (type 2), a node (4) or a group (32), those that were set first; one that is chosen is changed.
export async function configs(type, name) {
  const edit = each => each && !each.readOnly && ask("config", { type, name, key: each.name, value: each.value ?? "" }, fill);
  const grid = new Grid({ label: `Configs of ${name}`, key: each => each.name, open: edit, pick: () => {}, empty: "No configs.",
    remove: each => ![4, 5].includes(each.configSource) && ask("config-default", { type, name, key: each.name }, fill), columns: [
      ["Config", "minmax(120px, 2fr)", each => [each.name, "mono"], "", "name"],
        ["Value", "minmax(80px, 2fr)", each => each.isSensitive ? ["secret", "quiet"] : each.value ?? "", "mono", "value"],
      ["From", "minmax(90px, 1fr)", each => [SOURCES[each.configSource], each.configSource === 5 ? "quiet" : "warn"], "extra", "configSource"]] });
  let all = [];
  const box = search("Search configs", () => sift()), sift = () => grid.set(all.filter(each => each.name.includes(box.value)));
  const dialog = h("dialog", { className: "wide tall", "aria-label": `Configs of ${name}`, onclose: () => dialog.remove() }, h("h2", {}, `Configs of ${name}`), h("div", { className: "bar" }, box), grid.root,
    h("div", { className: "bar" }, h("span", { className: "quiet" }, "Enter changes a config, Delete takes its default."), h("span", { className: "space" }),
      button("Change", grid.chosenRow(edit)), button("Take the default", grid.chosenRow(grid.remove)), button("Close", () => dialog.close())));
  async function fill() {
    const { results: [found] } = await kafka("DescribeConfigs", { resources: [{ resourceType: type, resourceName: name, configurationKeys: null }], includeSynonyms: false, includeDocumentation: false }, nodeOf(type, name));
    all = found.configs.sort((a, b) => (a.configSource === 5) - (b.configSource === 5) || (a.name > b.name ? 1 : -1));
    sift();
  }
  await fill();
  document.body.append(dialog);
  dialog.showModal();
  grid.root.focus();
}

export const SETTLED = new Set(["Stable", "Empty", "Dead"]);

// The lag in all partitions, or what is known of it where some have no committed offset.
export const lagText = (lag, known) => lag !== null ? count(lag) : known ? `≥ ${count(known)}` : "unknown";

export const groupColumns = () => [
  ["Group", "minmax(70px, 2fr)", each => each.group_id, "", "group_id"], ["Type", "80px", each => each.type, "extra", "type"],
  ["State", "minmax(60px, 1fr)", each => [each.state, each.state === "Stable" ? "good" : SETTLED.has(each.state) ? "quiet" : "warn"], "", "state"],
  ["Gen.", "50px", each => each.generation, "num extra", "generation"], ["Members", "66px", each => each.members, "num", "members"],
  ["Lag", "minmax(54px, 1fr)", each => [lagText(each.lag, each.committed_lag), each.lag === null ? "quiet" : ""], "num", "committed_lag"]];
