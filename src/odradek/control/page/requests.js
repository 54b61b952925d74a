// What clients ask and are answered, as it comes; requests that wait for their answer are asked for.

import { Follower, api, query } from "./api.js";
import { button, count, facts, h, soon, tell } from "./dom.js";
import { act } from "./frame.js";
import { Grid } from "./grid.js";
import { requestColumns, requestKey, search } from "./parts.js";

const KEPT = 2000, AT_ONCE = 200, LONGEST = 64 * 1024;
const USUAL = /^(Fetch|Heartbeat)$/;

const plain = data => new TextDecoder().decode(Uint8Array.from(atob(data), each => each.charCodeAt(0)));

// The messages decoded: Kafka's by the broker, those of the schema registry are JSON already.
async function messages(each, into) {
  const found = each.request?.http === undefined ? await api("messages", { request: each }) : { request: plain(each.request.body), response: each.response && plain(each.response.body) };
  const part = (title, message) => message ? [h("h3", {}, title), h("pre", {}, typeof message === "string" ? message : JSON.stringify(message, null, 2).slice(0, LONGEST))] : [];
  into.replaceChildren(...part("Request", found.request), ...part("Answer", found.response));
}

function told(detail, each) {
  detail.dataset.state = each.state;
  const both = h("div");
  detail.replaceChildren(h("h2", {}, `${each.api} v${each.version}`), h("pre", {}, each.line), facts({
    Time: each.time, Client: each.clientId, Connection: each.connection, Node: each.node, State: each.state,
    Took: each.latencyMs === null ? null : `${each.latencyMs} ms`, "Request bytes": each.size, "Answer bytes": each.responseSize || null,
    Problems: each.problems.map(([, text]) => text).join("\n"), Cut: each.cut, Correlation: each.correlationId }), both);
  messages(each, both).catch(tell);
}

export function requestsView() {
  let kept = new Map(), stopped = false, leftOut = 0;
  const box = search("Search requests", () => fill());
  const bad = h("input", { type: "checkbox", onchange: () => fill() }), fetches = h("input", { type: "checkbox", onchange: () => fill() });
  const note = h("span", { className: "quiet", role: "status" });
  const detail = h("section", { className: "detail", "aria-label": "Request" }, h("p", { className: "quiet" }, "No request chosen."));
  const grid = new Grid({ label: "Requests", key: requestKey, empty: "No requests.", columns: requestColumns(), pick: each => told(detail, each) });
  const fill = soon(() => {
    const wanted = box.value.toLowerCase();
    const isShown = each => (!bad.checked || each.cut || each.problems.length) && !(fetches.checked && USUAL.test(each.api) && !each.problems.length)
      && (!wanted || `${each.line} ${each.clientId}`.toLowerCase().includes(wanted));
    grid.set([...kept.values()].reverse().filter(isShown));
    note.textContent = leftOut ? `${count(leftOut)} passed over: too many at once` : "";
    const chosen = kept.get(grid.chosen);
    if (chosen && chosen.state !== detail.dataset.state) told(detail, chosen);
  });
  function take(found) {
    for (const each of found) if (each.api && !(each.state === "waiting" && kept.get(requestKey(each))?.state === "answered")) kept.set(requestKey(each), each);
    const all = [...kept.values()].sort((a, b) => a.at - b.at).slice(-KEPT);
    kept = new Map(all.map(each => [requestKey(each), each]));
    fill();
  }
  const stream = new Follower(() => `requests/stream?${query({ latest: AT_ONCE })}`, lines => {
    for (const each of lines) leftOut += each.left_out ?? 0;
    take(lines);
  }, async () => { kept.clear(); leftOut = 0; take(await api(`requests/tail?${query({ limit: 500 })}`)); });
  async function poll() {
    if (stopped) return;
    stream.keep();
    const waiting = await api(`requests/tail?${query({ state: "waiting", limit: 100 })}`);
    if (waiting.length) take(waiting);
  }
  const pause = button("Pause", () => {
    stopped = !stopped;
    if (stopped) stream.stop(); else stream.again();
    pause.textContent = stopped ? "Go on" : "Pause";
    pause.setAttribute("aria-pressed", stopped);
  }, { "aria-pressed": false });
  const clear = button("Clear", async () => { await act("requests/clear"); kept.clear(); leftOut = 0; fill(); });
  return {
    nodes: [h("div", { className: "bar" }, box, h("label", {}, bad, "Errors only"), h("label", {}, fetches, "Without fetches and heartbeats"), pause, clear, note),
      h("div", { className: "split" }, h("div", {}, grid.root), detail)],
    poll, close: () => stream.stop(),
  };
}
