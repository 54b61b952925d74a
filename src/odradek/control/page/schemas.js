// Which schemas the records of a topic have: pasted, or from a file.

import { api } from "./api.js";
import { button, h } from "./dom.js";

const base64 = bytes => { let text = ""; for (const each of bytes) text += String.fromCharCode(each); return btoa(text); };

export function schemasDialog(topic, changed) {
  let binary = null;
  const list = h("ul", { className: "plain" }), problem = h("p", { className: "bad", role: "alert", hidden: true });
  const part = h("select", { "aria-label": "Part" }, h("option", { value: "value" }, "values"), h("option", { value: "key" }, "keys"));
  const text = h("textarea", { "aria-label": "Schema", rows: 9, spellcheck: false, placeholder: "Avro's JSON, or the text of a .proto file",
    oninput: () => { binary = null; } });
  const file = h("input", { type: "file", "aria-label": "File", onchange: () => read() });
  const message = h("input", { "aria-label": "Message", placeholder: "the first", spellcheck: false });
  const id = h("input", { type: "number", min: 0, "aria-label": "Schema id", placeholder: "any" });
  function fail(error) { problem.hidden = !error; problem.textContent = error ? error.message : ""; }
  async function read() {
    const given = file.files[0];
    if (!given) return;
    const bytes = new Uint8Array(await given.arrayBuffer());
    try {
      const found = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      if (/[\u0000-\u0008\u000e-\u001f]/.test(found)) throw new TypeError("binary");
      text.value = found;
      binary = null;
    } catch { binary = base64(bytes); text.value = `(${given.name}: a descriptor set of ${bytes.length} bytes)`; }
  }
  async function refresh() {
    const found = (await api("schemas")).filter(each => each.topic === topic);
    list.replaceChildren(...found.map(each => h("li", { className: "bar" },
      h("span", {}, `${each.part === "key" ? "keys" : "values"}${each.schema_id === null ? "" : ` of id ${each.schema_id}`}: `, h("b", {}, each.name), ` (${each.kind})`),
      button("Remove", () => change("remove-schema", { part: each.part, schema_id: each.schema_id }), { "aria-label": `Remove ${each.name}` }))));
    if (!found.length) list.append(h("li", { className: "quiet" }, "None yet: records are shown as text, JSON or hex."));
  }
  async function change(path, body) {
    try { await api(`topics/${encodeURIComponent(topic)}/${path}`, body); fail(null); await refresh(); changed(); return true; } catch (error) { fail(error); return false; }
  }
  async function add(event) {
    event.preventDefault();
    const given = { part: part.value, schema: binary ? { base64: binary } : text.value };
    if (message.value) given.message = message.value;
    if (id.value !== "") given.schema_id = Number(id.value);
    if (await change("set-schema", given)) { text.value = ""; file.value = ""; binary = null; }
  }
  const dialog = h("dialog", { className: "wide", "aria-label": `Schemas of ${topic}` }, h("h2", {}, `Schemas of ${topic}`), list,
    h("form", { className: "stack", "aria-label": "Add a schema", onsubmit: add },
      h("div", { className: "bar" }, h("label", {}, "Of the", part), h("label", {}, "Schema id", id), h("label", {}, "Message", message), file), text, problem,
      h("div", { className: "bar" }, h("span", { className: "quiet" }, "Avro, .proto, or a descriptor set (protoc --include_imports -o)"), h("span", { className: "space" }),
        button("Close", () => dialog.close()), h("button", { className: "main" }, "Set"))));
  return { dialog, open: async () => { fail(null); await refresh(); dialog.showModal(); text.focus(); } };
}
