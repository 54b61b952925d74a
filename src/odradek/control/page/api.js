// Asking the broker, and following what it tells.

import { $ } from "./dom.js";

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

let asking = null;
function askToken() {
  asking ??= new Promise(done => {
    $("token").value = "";
    $("ask").showModal();
    $("ask").addEventListener("close", () => {
      sessionStorage.setItem("odradek-token", $("token").value);
      asking = null;
      done();
    }, { once: true });
  });
  return asking;
}

async function asked(path, body, signal) {
  const headers = {}, token = sessionStorage.getItem("odradek-token");
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(`/v1/${path}`, {
    method: body === undefined ? "GET" : "POST", headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.status === 401) { await askToken(); return asked(path, body, signal); }
  if (!answer.ok) throw new Refused(answer.status, (await answer.json()).error.message);
  return answer;
}

export const api = async (path, body) => (await asked(path, body)).json();

// A request of Kafka's protocol; all fields of its newest version are given.
export const kafka = (name, body, node = null) => api("admin", { api: name, body, node });

export const registry = (method, path, body = null) => api("registry", { method, path, body });

export const query = given => new URLSearchParams(Object.entries(given).filter(([, each]) => each !== "" && each !== null && each !== undefined)).toString();

// Follows a stream of JSON lines for as long as its view is shown. `keep()` opens it, and again after it has ended; what
// ended it is thrown by the next `keep()`. `opened` is called when nothing is missed any more, `got` with some lines.
export class Follower {
  constructor(path, got, opened = () => {}) {
    Object.assign(this, { path, got, opened });
    this.control = null;
    this.error = null;
  }
  keep() {
    if (this.error) { const error = this.error; this.error = null; throw error; }
    if (!this.control) this.run();
  }
  stop() { this.control?.abort(); this.control = null; }
  again() { this.stop(); this.error = null; this.run(); }
  async run() {
    const control = this.control = new AbortController();
    try {
      const answer = await asked(this.path(), undefined, control.signal);
      await this.opened();
      await this.read(answer.body.pipeThrough(new TextDecoderStream()).getReader(), control);
    } catch (error) { if (!control.signal.aborted) this.error = error; }
    if (this.control === control) this.control = null;
  }
  async read(reader, control) {
    for (let rest = "";;) {
      const { done, value } = await reader.read();
      if (done || control.signal.aborted) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      const found = lines.map(each => JSON.parse(each));
      const failed = found.find(each => each.error?.message && each.error.type);
      if (failed) throw new Refused(409, failed.error.message);
      if (found.length) this.got(found);
    }
  }
}
