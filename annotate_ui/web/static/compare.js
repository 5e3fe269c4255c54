// The page of a comparison: a choice is saved when it is sent, and then the next comparison opens.

import { openAlerts } from "./alerts.js";
import { startClock } from "./clock.js";
import { watchLayout } from "./layout.js";
import { parts } from "./page_parts.js";
import { openQueue } from "./queue.js";
import { openStore } from "./store.js";
import { _, clockTime } from "./words.js";

const element = (id) => document.getElementById(id);
const panel = element("panel");
const form = element("choice");
const radios = [...form.elements.choice];
const scale = radios.filter((radio) => !["cannot_judge", "skipped"].includes(radio.value));
const { rater, key, saveUrl, nextUrl, forwardUrl } = panel.dataset;
const csrf = document.querySelector("meta[name=csrf-token]").content;

const store = openStore(rater);
const textFormat = document.getElementById("text-format") ? parts.watchTextFormat(store) : () => "plain";
const clock = startClock();
const alerts = openAlerts(element("alert"), () => chosen()?.focus());
const queue = openQueue({ store, rater, csrf, changed: () => render(), answered: (event) => settle(event) });
let revision = Number(panel.dataset.revision);
let stored = content();
let sent = null;
let byKey = false;
let wantsOn = false;
let leaving = false;
let savedAt = null;

function chosen() {
  return radios.find((radio) => radio.checked);
}

// What is chosen now, as it is sent; without a choice the status is null.
function content() {
  const value = chosen()?.value ?? null;
  const status = value === null || value === "cannot_judge" || value === "skipped" ? value : "rated";
  return {
    value: status === "rated" ? Number(value) : null,
    status,
    reason: status === "skipped" ? element("reason").value.trim() || null : null,
    comment: element("comment").value.trim() ? element("comment").value : null,
  };
}

const same = (content, other) => JSON.stringify(content) === JSON.stringify(other);

function show({ value, status, reason, comment }) {
  const wanted = status === "rated" ? String(value) : status;
  radios.forEach((radio) => (radio.checked = status === "rated" ? Number(radio.value) === Number(wanted) : radio.value === wanted));
  element("reason").value = reason ?? "";
  element("comment").value = comment ?? "";
  showWhy();
}

function showWhy() {
  element("why").hidden = chosen()?.value !== "skipped";
}

function words() {
  const { waiting, failing, halted } = queue.state();
  if (waiting && (failing || halted)) return _("Your choice waits in this browser for the connection");
  if (waiting) return _("Saving…");
  if (!same(content(), stored)) return content().status ? _("Not saved yet") : "";
  return savedAt ? _("Saved at %(time)s", { time: savedAt }) : "";
}

function render() {
  const text = words();
  if (element("saved").textContent !== text) element("saved").textContent = text;
  const halts = {
    signed_out: _("You are signed out. Open your link again; what you chose waits in this browser."),
    csrf: _("This page is out of date. Reload it; what you chose waits in this browser."),
    other_rater: _("Someone else is signed in on this browser now, so nothing is sent from this page."),
  };
  const { halted } = queue.state();
  if (halts[halted]) alerts.tell("halt", halts[halted], halted === "csrf" ? [[_("Reload"), () => location.reload()]] : []);
  else alerts.drop("halt");
}

function commit(mine) {
  const body = { construct: key, ...mine, input_kind: byKey ? "typed" : "button", ...clock.take("comparison"), text_format: textFormat(), base_revision: revision };
  sent = { mine, key: queue.add(saveUrl, body, sent?.key) };
}

function settle({ kind, fromHere, entry, mine, answer }) {
  if (!fromHere || entry.url !== saveUrl) {
    if (kind !== "saved") tellElsewhere(entry, mine);
    return;
  }
  if (sent?.key === entry.body.key) sent = null;
  if (kind === "saved") {
    revision = answer.revision;
    stored = { value: answer.value, status: answer.status, reason: answer.reason, comment: answer.comment };
    savedAt = clockTime(new Date());
    alerts.drop("back");
    if (answer.progress) {
      const { done, total } = answer.progress;
      const [text, bar] = element("progress").children;
      text.textContent = _("%(done)s of %(total)s compared", { done, total });
      bar.value = done;
    }
    render();
    if (wantsOn && !sent) leave();
    return;
  }
  wantsOn = false;
  if (kind === "stale") {
    revision = answer.current.revision;
    alerts.tell("back", _("Another tab or device saved another choice here in the meantime. Yours is not saved."), [
      [_("Save mine"), () => commit(content())],
      [_("Show the other"), () => {
        stored = { value: answer.current.value ?? null, status: answer.current.status ?? null, reason: answer.current.reason ?? null, comment: answer.current.comment ?? null };
        show(stored);
        render();
      }],
    ]);
  } else {
    alerts.tell("back", `${_("Your choice was not saved.")} ${answer?.error?.message ?? ""}`);
  }
  render();
}

// An entry of an earlier page came back; what was entered there waits there as a draft.
function tellElsewhere(entry, mine) {
  const place = entry.url.startsWith("/rate/") && entry.url.split("/").at(-3);
  if (place && mine.status === "rated") {
    store.write(`draft:${place}:${mine.construct}`, { value: String(mine.value), comment: mine.comment ?? "", flags: mine.flags });
  }
  alerts.tell(`${entry.url} ${mine.construct}`, _("%(name)s: what you entered on an earlier page was not saved.", { name: mine.construct }), [
    [_("Go there"), entry.url.replace(/\/save$/, "")],
    [_("Dismiss"), () => {}],
  ]);
}

// Asks the server first: without a connection the rater stays on this page and continues later.
async function leave() {
  if (leaving) return;
  leaving = true;
  let problem = _("No connection. The next comparison opens when it is back.");
  try {
    if (forwardUrl) {
      if ((await fetch(forwardUrl, { method: "HEAD", credentials: "same-origin" })).ok) return void location.assign(forwardUrl);
      problem = _("The next comparison can't be opened now.");
    } else {
      const headers = { Accept: "application/json", "Content-Type": "application/json", "X-CSRFToken": csrf, "X-Rater": rater };
      const response = await fetch(nextUrl, { method: "POST", headers, body: "{}", credentials: "same-origin" });
      const answer = await response.json().catch(() => null);
      if (response.ok && answer?.url) return void location.assign(answer.url);
      if (response.status < 500) wantsOn = response.status === 429;
      problem = answer?.error?.message ?? _("The next comparison can't be opened now.");
    }
  } catch {
    // No connection: the message is set above.
  }
  alerts.tell("next", problem);
  setTimeout(() => {
    leaving = false;
    if (wantsOn && !sent) leave();
  }, 3000);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const mine = content();
  if (mine.status === null) {
    alerts.tell("choose", _("Choose an answer first, or “Cannot judge”."));
    radios[0].focus();
    return;
  }
  if (mine.status === "skipped" && !mine.reason) {
    alerts.tell("choose", _("Say in a few words why it is skipped."));
    element("reason").focus();
    return;
  }
  alerts.drop("choose");
  wantsOn = true;
  if (sent ? !same(mine, sent.mine) : !same(mine, stored)) commit(mine);
  else if (!sent) leave();
  render();
});

form.addEventListener("change", () => {
  wantsOn = false;
  showWhy();
  alerts.drop("choose");
  render();
});
form.addEventListener("pointerdown", () => (byKey = false));
// Digits choose only while the choices have the focus, so that they work everywhere else.
element("options").addEventListener("keydown", (event) => {
  byKey = true;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const option = scale[Number(event.key) - 1];
  if (!option || !/^[1-9]$/.test(event.key)) return;
  event.preventDefault();
  option.focus();
  option.checked = true;
  option.dispatchEvent(new Event("change", { bubbles: true }));
});
document.querySelector(".skip-link").addEventListener("click", (event) => {
  event.preventDefault();
  (chosen() ?? radios[0]).focus();
});
addEventListener("pagehide", () => queue.lastChance());
// A page that comes back out of the browser's memory may be out of date.
addEventListener("pageshow", (event) => event.persisted && location.reload());

// What was not sent at an earlier visit to this page is shown again.
const waiting = queue.adopt(saveUrl, key).at(-1);
if (waiting) {
  show(waiting.body);
  sent = { mine: content(), key: waiting.body.key };
}
watchLayout(panel);
clock.turnTo("comparison");
if (matchMedia("(min-width: 48rem)").matches) (chosen() ?? radios[0]).focus({ preventScroll: true });
render();
queue.pump();
