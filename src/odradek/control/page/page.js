// A page to look at a broker with: its tabs and keys.

import { labView, nodesView, transactionsView } from "./cluster.js";
import { $, count, go, h } from "./dom.js";
import { begin, showView } from "./frame.js";
import { groupsView } from "./groups.js";
import { recordsView } from "./records.js";
import { registryView } from "./registry.js";
import { requestsView } from "./requests.js";
import { securityView } from "./security.js";
import { topicsView } from "./topics.js";

const VIEWS = [
  ["topics", "Topics", topicsView, each => each.topics],
  ["records", "Records", recordsView, () => null],
  ["groups", "Groups", groupsView, each => each.groups],
  ["transactions", "Transactions", transactionsView, each => each.transactions],
  ["requests", "Requests", requestsView, each => each.requests],
  ["nodes", "Nodes", nodesView, each => each.nodes_up < each.nodes ? `${each.nodes_up}/${each.nodes}` : each.nodes],
  ["lab", "Clock & faults", labView, each => each.faults || null],
  ["registry", "Schemas", registryView, () => null],
  ["security", "Users & ACLs", securityView, () => null],
];

const decoded = text => { try { return decodeURIComponent(text); } catch { return text; } };
const focusList = () => document.querySelector("main .grid")?.focus();

function show() {
  const [name, ...parts] = location.hash.slice(1).split("/").map(decoded);
  const [shown, , made] = VIEWS.find(each => each[0] === name) ?? VIEWS[0];
  for (const each of $("tabs").children) {
    const chosen = each.id === `tab-${shown}`;
    each.setAttribute("aria-selected", chosen);
    each.tabIndex = chosen ? 0 : -1;
    if (chosen) each.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  $("view").setAttribute("aria-labelledby", `tab-${shown}`);
  showView(made(...parts));
}

function counts(overview) {
  for (const [name, , , number] of VIEWS) {
    const badge = $(`tab-${name}`).lastChild, value = number(overview);
    badge.textContent = value === null ? "" : typeof value === "number" ? count(value) : value;
    badge.className = `count ${name === "lab" || typeof value === "string" ? "bad" : ""}`;
  }
}

function turn(by) {
  const tabs = [...$("tabs").children], at = tabs.findIndex(each => each.getAttribute("aria-selected") === "true");
  const next = tabs[(at + by + tabs.length) % tabs.length];
  next.click();
  next.focus();
}

function keyed(event) {
  const writes = event.target.matches("input, select, textarea");
  const dialog = document.querySelector("dialog[open]");
  if (event.ctrlKey || event.metaKey || event.altKey || (dialog && event.key !== "/")) return;
  if (event.key === "Escape" && writes) { event.target.blur(); focusList(); return; }
  if (writes) return;
  if (event.key >= "1" && event.key <= String(VIEWS.length)) { go(VIEWS[event.key - 1][0]); focusList(); }
  else if (event.key === "/") { event.preventDefault(); (dialog ?? $("view")).querySelector(".search")?.focus(); }
  else if (event.key === "Escape" && location.hash.startsWith("#records/")) window.history.back();
  else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target === document.body) focusList();
}

function tab([name, label], index) {
  const arrows = event => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) { event.preventDefault(); turn(by); }
  };
  return h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "view", "aria-keyshortcuts": String(index + 1),
    onclick: () => go(name), onkeydown: arrows }, label, h("span", { className: "count" }));
}

document.addEventListener("keydown", keyed);
window.addEventListener("hashchange", () => { show(); if (document.activeElement === document.body) focusList(); });
$("tabs").append(...VIEWS.map(tab));
begin(counts);
show();
