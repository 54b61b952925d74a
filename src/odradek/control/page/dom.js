// Making elements. All text comes in by textContent; nothing of a broker is ever read as HTML.

export const $ = id => document.getElementById(id);
export const enc = encodeURIComponent;

export function h(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list") made[name] = value;
    else if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter(each => each !== null && each !== undefined));
  return made;
}

export function svg(tag, props = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const button = (text, onclick, props = {}) => h("button", { type: "button", onclick, ...props }, text);

export const facts = pairs => h("dl", {}, Object.entries(pairs).filter(([, value]) => value !== null && value !== undefined && value !== "")
  .flatMap(([name, value]) => [h("dt", {}, name), h("dd", { className: "mono" }, String(value))]));

export const go = (...parts) => { location.hash = parts.map(enc).join("/"); };

// What went wrong, in the line below the tabs; nothing hides it.
export function tell(error) {
  $("problem").hidden = !error;
  $("problem").textContent = error ? error.message : "";
  delete $("problem").dataset.poll;
}

export async function copy(text) {
  try { await navigator.clipboard.writeText(text); } catch { tell(new Error("This browser lets only pages of https, localhost or 127.0.0.1 copy.")); }
}

export function download(name, text) {
  const href = URL.createObjectURL(new Blob([text]));
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

// Calls at most once for each frame that is drawn.
export function soon(draw) {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => { waits = false; draw(); });
  };
}
