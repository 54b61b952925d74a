// A list that holds only the rows in sight: `load(start, limit)` gives {total, rows}.

import { copy, h, tell } from "./dom.js";

const ROW = 28;
let grids = 0;

export class Grid {
  constructor({ label, columns, key, load, pick, open, remove, small, empty }) {
    Object.assign(this, { columns, key, load, pick, open, remove, empty: empty ?? "Nothing here yet.", all: [], sort: "" });
    this.start = 0; this.total = 0; this.rows = []; this.at = -1; this.chosen = null; this.wanted = null; this.turn = 0; this.id = `grid${++grids}`;
    this.head = h("div", { className: "head", role: "row" });
    this.list = h("div", { className: "rows", role: "rowgroup" });
    this.body = h("div", { className: "body", tabIndex: -1, onscroll: () => this.draw() }, this.list);
    this.none = h("div", { className: "empty", hidden: true }, this.empty);
    this.root = h("div", { className: `grid ${small ? "small" : ""} ${pick || open ? "open" : ""}`, role: "grid", tabIndex: 0,
      "aria-label": label, onkeydown: event => this.keyed(event) }, this.head, this.none, this.body);
    this.slots = new Map();
    this.fit();
    new ResizeObserver(() => { this.fit(); this.draw(); }).observe(this.root);
  }
  // Leaves out columns that may be left out until the others fit.
  fit() {
    const room = this.root.clientWidth || Infinity, least = each => 14 + Number(each[1].match(/(\d+)px/)?.[1] ?? 44);
    let shown = this.columns;
    for (let out; shown.reduce((sum, each) => sum + least(each), 12) > room && (out = shown.findLast(each => each[3]?.includes("extra")));) shown = shown.filter(each => each !== out);
    if (shown.length !== this.shown?.length) { this.shown = shown; this.redo(); }
  }
  redo() {
    const [, down, by] = this.sort.match(/^(-?)(.*)$/);
    this.head.replaceChildren(...this.shown.map(([name, , , kind, field]) => h("span", { role: "columnheader", className: kind?.includes("num") ? "num" : "",
      "aria-sort": field && field === by ? down ? "descending" : "ascending" : null },
    field ? h("button", { type: "button", tabIndex: -1, onclick: () => this.sortBy(field) }, name, field === by ? down ? " ↓" : " ↑" : "") : name)));
    this.head.style.gridTemplateColumns = this.widths = this.shown.map(each => each[1]).join(" ");
    for (const slot of this.slots.values()) slot.remove();
    this.slots.clear();
  }
  // Once for the smallest first, again for the largest, a third time for the usual order.
  sortBy(field) {
    this.sort = this.sort === field ? `-${field}` : this.sort === `-${field}` ? "" : field;
    this.redo();
    if (this.load) { this.draw(); this.refresh().catch(tell); } else this.set(this.all);
  }
  set(rows) {
    this.load = null; this.start = 0; this.total = rows.length; this.all = rows;
    const field = this.sort.replace("-", ""), sign = this.sort === field ? 1 : -1, at = each => each[field] ?? "";
    this.rows = this.sort ? [...rows].sort((a, b) => sign * (at(a) > at(b) ? 1 : at(a) < at(b) ? -1 : 0)) : rows;
    this.draw();
  }
  async refresh() {
    if (!this.load) return;
    const turn = ++this.turn, [first, some] = this.sight();
    const start = Math.max(0, first - 20), found = await this.load(start, Math.min(200, some + 40), this.sort);
    if (turn !== this.turn) return;
    this.start = start; this.total = found.total; this.rows = found.rows;
    this.draw(true);
    if (this.wanted !== null && this.row(this.wanted) !== undefined) this.choose(this.wanted);
  }
  sight() { return [Math.floor(this.body.scrollTop / ROW), Math.ceil((this.body.clientHeight || 400) / ROW) + 1]; }
  row(index) { return this.rows[index - this.start]; }
  draw(fresh = false) {
    this.list.style.height = `${this.total * ROW}px`;
    this.none.hidden = this.total > 0; this.body.hidden = this.total === 0;
    this.root.setAttribute("aria-rowcount", this.total + 1);
    if (this.chosen !== null) {
      const place = this.rows.findIndex(each => this.key(each) === this.chosen);
      if (place >= 0) this.at = place + this.start;
    }
    const [first, some] = this.sight(), end = Math.min(this.total, first + some);
    for (const [index, slot] of this.slots) if (index < first || index >= end) { slot.remove(); this.slots.delete(index); }
    let missing = false;
    for (let index = first; index < end; index++) {
      const row = this.row(index);
      if (row === undefined) missing = true;
      this.fill(this.slots.get(index) ?? this.slot(index), row, index);
    }
    const active = this.slots.get(this.at);
    if (active) this.root.setAttribute("aria-activedescendant", active.id); else this.root.removeAttribute("aria-activedescendant");
    if (missing && this.load && !fresh) this.refresh().catch(tell);
  }
  slot(index) {
    const made = h("div", { className: "row", role: "row", id: `${this.id}-${index}`, "aria-rowindex": index + 2,
      onclick: () => this.choose(index), ondblclick: () => this.open?.(this.row(index)) },
    this.shown.map(() => h("span", { role: "gridcell" })));
    made.style.gridTemplateColumns = this.widths; made.style.top = `${index * ROW}px`;
    this.slots.set(index, made); this.list.append(made);
    return made;
  }
  fill(slot, row, index) {
    const chosen = row !== undefined && this.chosen !== null && this.key(row) === this.chosen;
    slot.setAttribute("aria-selected", chosen);
    this.shown.forEach(([, , text, kind], column) => {
      const found = row === undefined ? "" : text(row), [said, more] = Array.isArray(found) ? found : [found, ""];
      const cell = slot.children[column], name = `${kind ?? ""} ${more}`.trim();
      if (cell.textContent !== String(said)) { cell.textContent = said; cell.title = said; }
      if (cell.className !== name) cell.className = name;
    });
  }
  choose(index) {
    if (!this.pick && !this.open) return;
    this.at = Math.max(0, Math.min(this.total - 1, index));
    const top = this.at * ROW, body = this.body;
    if (top < body.scrollTop) body.scrollTop = top;
    else if (top + ROW > body.scrollTop + body.clientHeight) body.scrollTop = top + ROW - body.clientHeight;
    const row = this.row(this.at);
    if (row === undefined) { this.chosen = null; this.wanted = this.at; this.refresh().catch(tell); return; }
    this.wanted = null;
    this.chosen = this.key(row);
    this.draw();
    this.pick?.(row);
  }
  // What a button does with the row that is chosen.
  chosenRow(then) { return () => { const row = this.row(this.at); if (row) then(row); }; }
  keyed(event) {
    const page = Math.max(1, this.sight()[1] - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps && this.total) { event.preventDefault(); this.choose(this.at < 0 && Number.isFinite(steps[event.key]) ? 0 : this.at + steps[event.key]); }
    else if (event.key === "Enter" && this.row(this.at)) { event.preventDefault(); this.open?.(this.row(this.at)); }
    else if (event.key === "Delete" && this.row(this.at)) this.remove?.(this.row(this.at));
    else if (event.key === "c" && !event.ctrlKey && !event.metaKey && this.row(this.at)) copy(JSON.stringify(this.row(this.at)));
    else if (event.key === "s") {
      const fields = this.shown.map(each => each[4]).filter(Boolean), at = fields.indexOf(this.sort.replace("-", ""));
      if (fields.length) this.sortBy(this.sort.startsWith("-") || at < 0 ? fields[(at + 1) % fields.length] : fields[at]);
    }
  }
}
