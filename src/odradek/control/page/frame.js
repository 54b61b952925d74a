// What all views stand in: a look at the broker every second while somebody looks, and what it says at the top.

import { Refused, api } from "./api.js";
import { $, clockText, many, tell } from "./dom.js";

const EVERY_MS = 1000;
const GONE = "The broker does not answer: it has ended, or is not reachable. This page asks again every second, and shows what it knew.";
let view = null, overview = null, asked = null, timer = null, busy = null, told = () => {};

export const latest = () => overview;

// What to say of an error: `fetch` throws a TypeError where nobody answers.
export const reason = error => error instanceof TypeError ? new Error(GONE) : error;

// The overview, also before the first has come.
export const known = async () => overview ?? asked;

// `changed` is called with each new overview.
export function begin(changed) { told = changed; }

export function showView(made) {
  view?.close?.();
  view = made;
  $("view").replaceChildren(...view.nodes);
  tell(null);
  look();
}

export async function act(path, body = {}) {
  try {
    const found = await api(path, body);
    tell(null);
    await look();
    return found;
  } catch (error) {
    tell(reason(error));
    return null;
  }
}

export async function look() {
  clearTimeout(timer);
  const mine = view;
  busy = (busy ?? Promise.resolve()).then(() => once(mine));
  await busy;
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(look, EVERY_MS);
}

async function once(mine) {
  if (mine !== view || document.hidden) return;
  try {
    asked = api("overview");
    [overview] = await Promise.all([asked, mine.poll()]);
    if ($("problem").dataset.poll) tell(null);
    connected(true);
  } catch (error) {
    if (mine !== view) return;
    const gone = !(error instanceof Refused);
    tell(reason(error));
    $("problem").dataset.poll = "1";
    connected(!gone);
  }
}

function connected(on) {
  $("link").className = `dot ${on ? "on" : "off"}`;
  $("link").setAttribute("aria-label", on ? "connected" : "not connected");
  $("link").title = on ? "connected" : "not connected";
  document.body.classList.toggle("gone", !on);
  if (!overview) return;
  $("clock").textContent = `${clockText(overview.now_ms)} UTC${overview.frozen ? ", frozen" : ""}`;
  $("clock").className = overview.frozen ? "warn" : "";
  $("servers").textContent = `${overview.bootstrap_servers} · Kafka ${overview.kafka} · ${many(overview.partitions, "partition")}${overview.bugs ? `, ${many(overview.bugs, "bug")}` : ""}`;
  told(overview);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) { look(); return; }
  clearTimeout(timer);
  view?.close?.();  // a hidden page holds no stream open; the next look opens it again
});
