// A list that holds only the rows in sight: `load(start, limit)` gives {total, rows}.

import { h, tell } from "./dom.js";

const ROW = 28;
let grids = 0;

export class Grid {
  constructor({ label, columns, key, load, pick, open, small, empty }) {
    Object.assign(this, { columns, key, load, pick, open, empty: empty ?? "Nothing here yet." });
    this.start = 0; this.total = 0; this.rows = []; this.at = -1; this.chosen = null; this.wanted = null; this.turn = 0; this.id = `grid${++grids}`;
    const widths = columns.map(each => each[1]).join(" ");
    this.head = h("div", { className: "head", role: "row" }, columns.map(([name, , , kind]) =>
      h("span", { role: "columnheader", className: kind?.includes("num") ? "num" : "" }, name)));
    this.head.style.gridTemplateColumns = this.widths = widths;
    this.list = h("div", { className: "rows", role: "rowgroup" });
    this.body = h("div", { className: "body", tabIndex: -1, onscroll: () => this.draw() }, this.list);
    this.none = h("div", { className: "empty", hidden: true }, this.empty);
    this.root = h("div", { className: `grid ${small ? "small" : ""} ${pick || open ? "open" : ""}`, role: "grid", tabIndex: 0,
      "aria-label": label, onkeydown: event => this.keyed(event) }, this.head, this.none, this.body);
    this.slots = new Map();
    new ResizeObserver(() => this.draw()).observe(this.body);
  }
  set(rows) { this.load = null; this.start = 0; this.total = rows.length; this.rows = rows; this.draw(); }
  async refresh() {
    if (!this.load) return;
    const turn = ++this.turn, [first, some] = this.sight();
    const start = Math.max(0, first - 20), found = await this.load(start, Math.min(200, some + 40));
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
    this.columns.map(() => h("span", { role: "gridcell" })));
    made.style.gridTemplateColumns = this.widths; made.style.top = `${index * ROW}px`;
    this.slots.set(index, made); this.list.append(made);
    return made;
  }
  fill(slot, row, index) {
    const chosen = row !== undefined && this.chosen !== null && this.key(row) === this.chosen;
    slot.setAttribute("aria-selected", chosen);
    this.columns.forEach(([, , text, kind], column) => {
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
  keyed(event) {
    const page = Math.max(1, this.sight()[1] - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps && this.total) { event.preventDefault(); this.choose(this.at < 0 && Number.isFinite(steps[event.key]) ? 0 : this.at + steps[event.key]); }
    else if (event.key === "Enter" && this.row(this.at)) { event.preventDefault(); this.open?.(this.row(this.at)); }
  }
}
