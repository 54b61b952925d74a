// What several views have.

import { api, query } from "./api.js";
import { h, tell } from "./dom.js";

export const search = (label, changed) => {
  let later;
  return h("input", { type: "search", className: "grow search", placeholder: `${label}  (/)`, "aria-label": label, spellcheck: false,
    oninput: () => { clearTimeout(later); later = setTimeout(changed, 150); } });
};

// Loads pages of a list whose names contain what is in the box.
export const paged = (path, box, member, more = () => ({})) => async (start, limit) => {
  const found = await api(`${path}?${query({ contains: box.value, start, limit, ...more() })}`);
  return { total: found.total, rows: found[member] };
};

export const searched = grid => () => { grid.body.scrollTop = 0; grid.refresh().catch(tell); };

export const requestKey = each => `${each.connection} ${each.correlationId} ${each.at}`;

export function requestColumns() {
  const place = ([topic, part, offset]) => `${topic}${part === null ? "" : `-${part}`}${offset === null || offset === undefined ? "" : ` @ ${offset}`}`;
  const answer = each => {
    if (each.cut) return [each.cut, "bad"];
    if (each.problems.length) return [[...new Set(each.problems.map(([, text]) => text.match(/[A-Z]+_[A-Z_]+/)?.[0] ?? text))].join(", "), "bad"];
    return [each.state, each.state === "answered" ? "good" : "warn"];
  };
  return [["At", "86px", each => `+${each.at.toFixed(3)}`, "num mono"], ["Node", "42px", each => each.node, "num"],
    ["Client", "minmax(70px, 1fr)", each => each.clientId ?? ""], ["API", "minmax(110px, 1.2fr)", each => `${each.api} v${each.version}`],
    ["About", "minmax(100px, 1.6fr)", each => [...each.topics.map(place), ...each.groups, ...each.transactionalIds].join(", ")],
    ["Took", "74px", each => each.latencyMs === null ? "" : `${each.latencyMs.toFixed(1)} ms`, "num"],
    ["Answer", "minmax(90px, 1.8fr)", answer]];
}
