// Commits on their way to the server: kept in this browser until each is answered, sent in order,
// one at a time. An entry is {url, body, after}: `after` names the entry it builds upon, whose
// answer fixes its base revision. Its body is the same at every attempt, so a repeat is harmless.

import { _ } from "./words.js";

const WAITS = [1, 2, 4, 8, 16, 30];
const PATIENCE = 20_000;
const REMEMBERED = 20;
// Time for the tab that entered something to tell its rater what came of it.
const GRACE = 1500;
const HALTED_WAIT = 30_000;
// Browsers send 64 KiB in all for a page that is gone.
const ROOM = 60_000;

function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// `changed()` runs when the queue's display may differ; `answered(event)` for each entry that came
// back: {kind: saved | stale | invalid | refused, entry, mine, answer, fromHere}. `mine` is the latest
// content that built upon the entry; `fromHere` is true if this page entered or restored it.
export function openQueue({ store, rater, csrf, changed, answered }) {
  const entered = new Map();
  let running = false;
  let again = false;
  let failures = 0;
  let timer = 0;
  let halted = null;
  let sending = null;
  let notBefore = 0;

  const records = () => store.read("answers", []);

  // Two tabs may write at one moment; an entry of this page that got lost that way is put back.
  function list() {
    const done = new Set(records().map((record) => record.key));
    const stored = store.read("queue", []).filter((entry) => !done.has(entry.body.key));
    const there = new Set(stored.map((entry) => entry.body.key));
    const lost = [...entered.values()].filter((entry) => !there.has(entry.body.key) && !done.has(entry.body.key));
    return [...stored, ...lost];
  }

  function add(url, body, after) {
    const entry = { url, body: { ...body, key: randomKey() } };
    const queue = list();
    if (queue.some((other) => other.body.key === after)) entry.after = after;
    entered.set(entry.body.key, entry);
    store.write("queue", [...queue, entry]);
    changed();
    resume();
    return entry.body.key;
  }

  // Entries that an earlier page left for this address and construct; from now on they are ours.
  function adopt(url, construct) {
    const entries = list().filter((entry) => entry.url === url && entry.body.construct === construct);
    for (const entry of entries) entered.set(entry.body.key, entry);
    return entries;
  }

  // What was saved last, by this tab or another: the page may have been made just before.
  function saved(url, construct) {
    const of = records().filter((record) => record.kind === "saved" && record.entry.url === url && record.entry.body.construct === construct);
    return of.at(-1);
  }

  function post(entry) {
    return fetch(entry.url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": csrf, "X-Rater": rater },
      body: JSON.stringify(entry.body),
      // The page may be left while the answer is on its way.
      keepalive: true,
      credentials: "same-origin",
      signal: AbortSignal.timeout?.(PATIENCE),
    });
  }

  function finish(entry, kind, answer) {
    const key = entry.body.key;
    let rest = list().filter((other) => other.body.key !== key);
    const dropped = [];
    for (const other of [...rest]) {
      const built = other.after === key || dropped.some((earlier) => earlier.body.key === other.after);
      if (!built) continue;
      if (kind === "stale") {
        // What builds upon it was entered without sight of what is stored now, too.
        dropped.push(other);
        rest = rest.filter((waiting) => waiting !== other);
      } else {
        other.body.base_revision = kind === "saved" ? answer.revision : entry.body.base_revision;
        delete other.after;
        if (entered.has(other.body.key)) entered.set(other.body.key, other);
      }
    }
    if (kind === "refused") store.write("refused", [...store.read("refused", []), { ...entry, answer }]);
    const mine = (dropped.at(-1) ?? entry).body;
    const silent = dropped.map((other) => ({ key: other.body.key, kind: "dropped", announced: true }));
    const isMine = entered.delete(key);
    const record = { key, kind, answer, entry, mine, announced: isMine || kind === "saved" };
    store.write("answers", [...records(), record, ...silent].slice(-REMEMBERED));
    store.write("queue", rest);
    dropped.forEach((other) => entered.delete(other.body.key));
    if (record.announced) answered({ ...record, fromHere: isMine });
    else setTimeout(announceMissed, GRACE);
  }

  function markAnnounced(keys) {
    if (keys.length === 0) return;
    const marked = records().map((record) => (keys.includes(record.key) ? { ...record, announced: true } : record));
    store.write("answers", marked);
  }

  // Answers to entries whose own tab is closed, so that no failure stays unnoticed.
  function announceMissed() {
    const missed = records().filter((record) => record.announced === false);
    markAnnounced(missed.map((record) => record.key));
    missed.forEach((record) => answered({ ...record, fromHere: false }));
  }

  function later(seconds) {
    failures += 1;
    const wait = WAITS[Math.min(failures, WAITS.length) - 1];
    notBefore = Date.now() + (seconds || 0) * 1000;
    clearTimeout(timer);
    timer = setTimeout(pump, Math.max(wait, seconds || 0) * 1000);
    return false;
  }

  // Sends the first entry; returns whether the next may follow at once.
  async function sendFirst() {
    const entry = list()[0];
    if (!entry) return false;
    sending = entry.body.key;
    changed();
    let response;
    let answer = null;
    try {
      response = await post(entry);
      answer = await response.json().catch(() => null);
    } catch {
      return later(0);
    } finally {
      sending = null;
    }
    const code = answer?.error?.code;
    if (response.ok && answer && "revision" in answer) {
      failures = 0;
      halted = null;
      finish(entry, "saved", answer);
      return true;
    }
    if (response.ok || response.status >= 500 || response.status === 429 || response.status === 408) {
      return later(Number(response.headers.get("Retry-After")));
    }
    if (response.status === 401 || code === "csrf" || code === "other_rater") {
      halted = response.status === 401 ? "signed_out" : code;
      timer = setTimeout(resume, HALTED_WAIT);
      return false;
    }
    failures = 0;
    halted = null;
    if (code === "stale") finish(entry, "stale", { ...answer, current: answer.current ?? { revision: 0 } });
    else if (response.status === 422) finish(entry, "invalid", answer);
    else finish(entry, "refused", answer ?? { error: { message: _("The server answered %(status)s.", { status: response.status }) } });
    return true;
  }

  // One request at a time in the whole browser, where it has locks (it has none on plain http).
  function alone(work) {
    return navigator.locks ? navigator.locks.request(`ccrs:${rater}:send`, work) : work();
  }

  async function pump(halting = true) {
    again = true;
    if (running || Date.now() < notBefore) return;
    running = true;
    clearTimeout(timer);
    try {
      do {
        again = false;
        const open = () => !halted || !halting;
        while (open() && list().length > 0 && (await alone(sendFirst))) changed();
      } while (again && failures === 0 && !halted);
    } finally {
      running = false;
      changed();
    }
  }

  // A rater who was signed out may have signed in in another tab; then this page's session is valid again.
  function resume() {
    pump(false);
  }

  // The page goes away: no time for locks or answers. What builds upon nothing unanswered goes out
  // at once. Entries stay queued; their repeat is harmless.
  function lastChance() {
    if (halted) return;
    let room = ROOM;
    for (const entry of list()) {
      room -= JSON.stringify(entry.body).length * 3;
      if (room < 0) return;
      if (!entry.after && entry.body.key !== sending) post(entry).catch(() => {});
    }
  }

  store.watch((name) => {
    if (name === "answers") {
      const mine = records().filter((record) => entered.delete(record.key));
      markAnnounced(mine.filter((record) => record.announced === false).map((record) => record.key));
      mine.filter((record) => record.kind !== "dropped").forEach((record) => answered({ ...record, fromHere: true }));
    }
    if (name === "answers" || name === "queue") changed();
  });
  setTimeout(announceMissed, GRACE);
  addEventListener("online", resume);
  addEventListener("focus", resume);
  document.addEventListener("visibilitychange", () => (document.hidden ? pump() : resume()));

  return {
    add,
    adopt,
    saved,
    pump,
    lastChance,
    list,
    state: () => ({
      waiting: new Set(list().map((entry) => `${entry.url} ${entry.body.construct}`)).size,
      failing: failures > 0,
      sending,
      halted,
    }),
  };
}
