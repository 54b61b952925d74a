// Subjects of the schema registry, their versions, and the difference between two.

import { registry } from "./api.js";
import { enc, h, tell } from "./dom.js";
import { asks } from "./forms.js";
import { known } from "./frame.js";
import { Grid } from "./grid.js";
import { search } from "./parts.js";

const LONGEST = 2000;

// Lines as [" ", "-" or "+", text]: those of `a` and `b` by their longest common subsequence.
function difference(a, b) {
  if (a.length * b.length > LONGEST * LONGEST) return [...a.map(each => ["-", each]), ...b.map(each => ["+", each])];
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1)), found = [];
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { found.push([" ", a[i++]]); j++; }
    else if (j >= b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) found.push(["-", a[i++]]);
    else found.push(["+", b[j++]]);
  }
  return found;
}

const linesOf = schema => { try { return JSON.stringify(JSON.parse(schema), null, 2).split("\n"); } catch { return schema.split("\n"); } };

export function registryView(name) {
  let chosen = name ?? null, all = [], versions = [];
  const box = search("Search subjects", () => fill()), title = h("h2", { className: "quiet" }, "No subject chosen."), more = h("div", { className: "more", hidden: true }), level = h("p"), text = h("pre");
  const pick = label => h("select", { "aria-label": label, onchange: () => show() }), one = pick("Version"), other = pick("Compared with");
  const grid = new Grid({ label: "Subjects", key: each => each.subject, empty: "No subjects.",
    columns: [["Subject", "1fr", each => each.subject, "", "subject"]], pick: each => { chosen = each.subject; versions = []; detail().catch(tell); } });
  const subject = () => ({ subject: chosen }), latestOf = () => ({ ...subject(), schema: versions.at(-1)?.schema, schemaType: versions.at(-1)?.schemaType ?? "AVRO" });
  const gone = () => { chosen = null; title.textContent = "No subject chosen."; more.hidden = true; };
  const bar = h("div", { className: "bar" }, asks("New version", "register", latestOf), asks("Compatibility", "compatibility", subject),
    asks("Delete", "delete-subject", subject, gone));
  more.append(bar, level, h("div", { className: "bar" }, h("label", {}, "Version", one), h("label", {}, "compared with", other)), text);
  const fill = () => grid.set(all.filter(each => each.includes(box.value)).map(each => ({ subject: each })));
  function show() {
    const of = select => versions.find(each => each.version === Number(select.value)), a = of(other), b = of(one);
    if (!b) return;
    text.replaceChildren(...(a ? difference(linesOf(a.schema), linesOf(b.schema)).map(([sign, line]) => h("span", { className: { "-": "bad", "+": "good" }[sign] ?? "" }, `${sign} ${line}\n`)) : [linesOf(b.schema).join("\n")]));
    level.textContent = `Id ${b.id}, ${b.schemaType ?? "AVRO"}`;
  }
  async function detail() {
    const mine = chosen;
    if (mine === null) return;
    const path = `/subjects/${enc(mine)}/versions`, numbers = await registry("GET", path);
    if (mine !== chosen || numbers.join() === versions.map(each => each.version).join()) return;
    const found = await Promise.all(numbers.map(number => registry("GET", `${path}/${number}`)));
    if (mine !== chosen) return;
    versions = found;
    title.textContent = mine; title.className = ""; more.hidden = false;
    const options = () => versions.map(each => h("option", { value: each.version }, String(each.version))).reverse();
    one.replaceChildren(...options()); other.replaceChildren(h("option", { value: "" }, "nothing"), ...options());
    show();
  }
  async function poll() {
    if (!(await known()).registry) { grid.none.textContent = "No schema registry runs with this broker: registry=True in Python, --registry-port with odradek serve."; return; }
    all = await registry("GET", "/subjects");
    fill();
    if (chosen !== null && all.includes(chosen)) await detail();
  }
  grid.chosen = chosen;
  return { nodes: [h("div", { className: "bar" }, box, asks("Register", "register", () => ({}))),
    h("div", { className: "split" }, h("div", {}, grid.root), h("section", { className: "detail", "aria-label": "Subject" }, title, more))], poll };
}
