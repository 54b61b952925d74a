// Making elements, and values as text. All text comes in by textContent; nothing of a broker is ever read as HTML.

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
  const href = URL.createObjectURL(new Blob([text].flat()));
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

// -- values as text

const CONTROL = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;  // bytes that happen to be UTF-8
const SHOWN_BYTES = 64 * 1024;

export const count = number => number.toLocaleString("en");
export const many = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export function size(bytes) {
  let unit = 0;
  while (bytes >= 1024 && unit < 4) { bytes /= 1024; unit++; }
  return `${unit ? bytes.toFixed(1) : bytes} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}

export const clockText = ms => Math.abs(ms) > 8.64e15 ? String(ms) : new Date(ms).toISOString().replace("T", " ").replace("Z", "");

const isBinary = value => value !== null && typeof value === "object";
const bytesOf = value => isBinary(value) ? Uint8Array.from(atob(value.base64), each => each.charCodeAt(0)) : new TextEncoder().encode(value ?? "");
const hexOf = bytes => Array.from(bytes, each => each.toString(16).padStart(2, "0"));
const oneLine = text => text.slice(0, 300).replace(/[\u0000-\u001f\u007f]+/g, " ");

// [text, class] of a key or a value; `decoded` is what its schema makes of it.
export function preview(value, decoded = null) {
  if (value === null) return ["null", "quiet"];
  if (decoded && decoded.data !== null) return [oneLine(JSON.stringify(decoded.data)), decoded.problem ? "mono warn" : "mono"];
  if (isBinary(value)) return [`0x${hexOf(bytesOf({ base64: value.base64.slice(0, 88) })).join("")}`, decoded ? "mono bad" : "mono"];
  if (CONTROL.test(value.slice(0, 300))) return [`0x${hexOf(bytesOf(value.slice(0, 66))).join("")}`, decoded ? "mono bad" : "mono"];
  return [oneLine(value), decoded ? "mono bad" : "mono"];
}

function hexDump(some) {
  const lines = [];
  for (let at = 0; at < some.length; at += 16) {
    const line = some.subarray(at, at + 16);
    const text = Array.from(line, each => each > 31 && each < 127 ? String.fromCharCode(each) : ".").join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hexOf(line).join(" ").padEnd(47)}  ${text}`);
  }
  return lines.join("\n");
}

// A key or a value in full: mode is data (by its schema), text, json or hex.
export function shown(value, mode, decoded = null) {
  if (value === null) return "null";
  if (mode === "data" && decoded && decoded.data !== null) return JSON.stringify(decoded.data, null, 2).slice(0, SHOWN_BYTES);
  const bytes = bytesOf(value), cut = bytes.length > SHOWN_BYTES ? `\n... ${size(bytes.length)} in all` : "";
  const some = bytes.subarray(0, SHOWN_BYTES);
  if (mode === "hex" || (mode === "data" && decoded)) return (hexDump(some) || "(empty)") + cut;
  const text = new TextDecoder().decode(some);
  if (mode === "json") {
    try { return JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), null, 2).slice(0, SHOWN_BYTES) + cut; } catch { return text + cut; }
  }
  return (text || "(empty)") + cut;
}
