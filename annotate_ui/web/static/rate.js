// The rating page: brings its parts together, and says what is saved, what is left and what comes next.

import { openAlerts } from "./alerts.js";
import { startClock } from "./clock.js";
import { openConstruct } from "./construct.js";
import { focusHeading, onTouch, watchLayout } from "./layout.js";
import { watchPassages } from "./passages.js";
import { openQueue } from "./queue.js";
import { showNumber } from "./scale.js";
import { openStore } from "./store.js";

const element = (id) => document.getElementById(id);
const panel = element("panel");
const { rater, assignment, saveUrl, passagesUrl } = panel.dataset;
const csrf = document.querySelector("meta[name=csrf-token]").content;

const store = openStore(rater);
const clock = startClock();
const alerts = openAlerts(element("alert"), () => turnTo(active, true));
const views = [];
const queue = openQueue({ store, rater, csrf, changed: () => render(), answered: (event) => settle(event) });
let active = 0;
let savedAt = null;
let savedName = "";
let wantsOn = false;
let leaving = false;
let toldMemory = false;

// ---- what is saved

function waitingWords(count) {
  return count === 1 ? "1 value waits" : `${count} values wait`;
}

function savedWords() {
  const { waiting, failing, halted } = queue.state();
  if (halted) return waiting ? `${waitingWords(waiting)} in this browser` : "Not connected";
  if (waiting && failing) return `${waitingWords(waiting)} for the connection`;
  if (waiting) return "Saving…";
  if (views.some((view) => view.waits())) return "A note waits for a value";
  if (savedAt) return `All saved at ${savedAt}`;
  return document.querySelector("#progress progress").value > 0 ? "All saved" : "Saves as you go";
}

let shown = "";
let slow = 0;
function renderSaved() {
  const words = savedWords();
  clearTimeout(slow);
  // A save that is answered at once is announced once.
  if (words === "Saving…") slow = setTimeout(() => say(words, ""), 700);
  else say(words, words.startsWith("All saved") && savedName ? `, ${savedName}` : "");
}

function say(words, about) {
  if (words + about === shown) return;
  shown = words + about;
  const hidden = document.createElement("span");
  hidden.className = "visually-hidden";
  hidden.textContent = about;
  element("saved").replaceChildren(words, hidden);
}

function renderProgress({ done, total }) {
  const [words, bar] = element("progress").children;
  words.textContent = `${done} of ${total} ${total === 1 ? "value" : "values"}, ${total - done} left`;
  bar.max = total || 1;
  bar.value = done;
}

function renderHalt() {
  const { halted } = queue.state();
  const words = {
    signed_out: "You are signed out. Open your link again; what you entered waits in this browser.",
    csrf: "This page is out of date. Reload it; what you entered waits in this browser.",
    other_rater: "Someone else is signed in on this browser now, so nothing is sent from this page. What you entered waits until you open your own link again.",
  }[halted];
  if (!words) alerts.drop("halt");
  else alerts.tell("halt", words, halted === "csrf" ? [["Reload", () => location.reload()]] : []);
}

// ---- what comes next

function blocking() {
  return views.find((view) => ![null, "saving"].includes(view.missing()));
}

function renderNext() {
  const left = views.filter((view) => ![null, "saving"].includes(view.missing()));
  const saving = views.some((view) => view.missing() === "saving");
  const next = element("next");
  next.setAttribute("aria-disabled", String(left.length > 0 || saving));
  let words = "";
  if (left.length === 1) words = `${left[0].name} ${left[0].missing()}`;
  else if (left.length > 1) words = `${left.length} of ${views.length} still need a value`;
  else if (saving) words = queue.state().failing ? "Opens when all is saved" : "";
  if (element("next-reason").textContent !== words) element("next-reason").textContent = words;
  if (wantsOn && left.length === 0 && !saving && !leaving) {
    leaving = true;
    leave();
  }
}

// Asks the server first: without a connection the rater stays on this page, and goes on later.
async function leave() {
  const form = element("on");
  const opened = form.method === "get";
  let problem = "No connection. The next response opens when it is back.";
  try {
    const headers = { Accept: "application/json", "X-CSRFToken": csrf, "X-Rater": rater };
    const asked = opened
      ? { method: "HEAD" }
      : { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: "{}" };
    const response = await fetch(form.action, { credentials: "same-origin", ...asked });
    if (response.ok) {
      location.assign(opened ? form.action : (await response.json()).url);
      alerts.drop("next");
      // Should the way there be stopped, the button works again.
      setTimeout(() => (leaving = false), 3000);
      return;
    }
    if (response.status < 500) wantsOn = response.status === 429;
    problem = (await response.json().catch(() => null))?.error?.message ?? "The next response can't be opened now.";
  } catch {
    // The connection is gone: what is said above.
  }
  alerts.tell("next", problem);
  setTimeout(() => {
    leaving = false;
    renderNext();
  }, 3000);
}

function render() {
  views.forEach((view) => view.render());
  renderSaved();
  renderHalt();
  if (!store.durable() && !toldMemory) {
    toldMemory = true;
    alerts.tell("memory", "This browser keeps nothing for this page (its storage is switched off or full). Stay here until it says “All saved”.");
  }
  if (views.length) {
    renderNext();
    renderSkip();
  }
}

function turnTo(index, focus) {
  if (index !== active) views[active].flush();
  active = index;
  views.forEach((view, place) => view.show(place === index));
  clock.turnTo(views[index].key);
  if (focus) {
    const { field } = views[index];
    field.focus();
    // A stored value is typed over; a draft is typed on.
    if (views[index].hasDraft()) field.setSelectionRange(field.value.length, field.value.length);
    else field.select();
  }
}

function goOn() {
  const open = blocking();
  if (active + 1 < views.length) turnTo(active + 1, true);
  else if (open) turnTo(views.indexOf(open), true);
  else askOn();
}

function askOn() {
  views.forEach((view) => view.commitRemarks());
  const open = blocking();
  if (open) {
    turnTo(views.indexOf(open), true);
    return;
  }
  element("next").focus();
  wantsOn = true;
  renderNext();
}

element("on").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!leaving) askOn();
});
// Whoever moves on to something else is not carried off when the connection returns.
element("next").addEventListener("blur", () => document.hasFocus() && (wantsOn = false));

// ---- answers

function whatIs(content) {
  if (content.status === "rated") return showNumber(content.value);
  return { cannot_judge: "“Cannot judge”", skipped: "“skipped”" }[content.status] ?? "nothing";
}

function settle(event) {
  const { kind, entry, mine, answer } = event;
  const here = event.own && entry.url === saveUrl && views.find((view) => view.key === entry.body.construct);
  const name = here ? here.name : entry.body.construct;
  if (kind === "saved") {
    savedAt = new Date().toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    savedName = name;
    shown = "";
    if (answer.progress) renderProgress(answer.progress);
    if (answer.late) alerts.tell("late", "The time set aside for this response has run out. What you enter is saved all the same.");
  }
  if (here) here.settle(event);
  else if (kind !== "saved") keepAsDraft(entry, mine);
  if (kind === "saved") alerts.drop(`stale ${entry.url} ${entry.body.construct}`);
  if (kind === "stale") tellStale(entry, mine, answer.current, here, name);
  if (kind === "invalid") tellBack(`${name}: ${answer.error?.message ?? "this can't be saved."} It is a draft again.`, entry, here);
  if (kind === "refused") tellBack(`${name}: the server did not take ${whatIs(mine)}. ${answer.error?.message ?? ""} It is kept in this browser.`, entry, here);
  render();
}

function tellStale(entry, mine, current, here, name) {
  if (here) turnTo(views.indexOf(here), true);
  const differs = whatIs(mine) !== whatIs(current);
  const entered = differs ? `you entered ${whatIs(mine)} here` : "you changed a remark here";
  const choices = here
    ? [["Save mine", () => here.enter(mine)], [`Leave it`, () => here.leave()]]
    : [["Go there", entry.url.replace(/\/save$/, "")], ["Dismiss", () => {}]];
  const how = differs && mine.status === "rated" && here ? "Press Enter to save yours, or leave it." : "Save yours, or leave it.";
  alerts.tell(`stale ${entry.url} ${entry.body.construct}`, `Another tab or device saved ${whatIs(current)} for ${name}; ${entered}. ${how}`, choices);
}

function tellBack(words, entry, here) {
  const choices = here ? [["Dismiss", () => {}]] : [["Go there", entry.url.replace(/\/save$/, "")], ["Dismiss", () => {}]];
  alerts.tell(`back ${entry.url} ${entry.body.construct}`, words, choices);
}

// An entry of another step came back: it waits there as a draft.
function keepAsDraft(entry, mine) {
  const place = entry.url.split("/").at(-3);
  if (mine.status !== "rated" || !place) return;
  store.write(`draft:${place}:${mine.construct}`, { value: showNumber(mine.value), comment: mine.comment ?? "", flags: mine.flags });
}

// ---- skipping

const skipName = `skipped:${assignment}`;

function renderSkip() {
  const none = !views.some((view) => view.canSkip());
  if (none && !element("skip-form").hidden) openSkip(false);
  element("skip").hidden = none;
}

function openSkip(open) {
  element("skip-form").hidden = !open;
  element("skip").setAttribute("aria-expanded", String(open));
  element(open ? "skip-reason" : "skip").focus();
  // Later parts of a response are skipped for the same reason, as a rule.
  if (open && !element("skip-reason").value) element("skip-reason").value = store.read(skipName, "");
}
element("skip-reason").addEventListener("input", (event) => event.target.setCustomValidity(""));
element("skip").addEventListener("click", () => openSkip(element("skip-form").hidden));
element("skip-cancel").addEventListener("click", () => openSkip(false));
element("skip-form").addEventListener("keydown", (event) => event.key === "Escape" && openSkip(false));
element("skip-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const reason = element("skip-reason").value.trim();
  if (!reason) {
    element("skip-reason").setCustomValidity("Say in a few words why.");
    element("skip-reason").reportValidity();
    return;
  }
  store.write(skipName, reason);
  views.forEach((view) => view.skip(reason));
  openSkip(false);
  element("next").focus();
});

// ---- start

// From what is new, straight to the value: two keys, however many passages lie between.
for (const link of document.querySelectorAll(".skip-link, .to-rating")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    turnTo(active, true);
  });
}

for (const section of document.querySelectorAll(".construct")) {
  const index = views.length;
  const turned = (by) => {
    if (by > 0) goOn();
    else if (by === 0) turnTo(index, !onTouch());
    else if (index > 0) turnTo(index - 1, true);
  };
  const draftName = `draft:${assignment}:${section.dataset.key}`;
  views.push(openConstruct(section, { queue, store, clock, url: saveUrl, draftName, turned, changed: render }));
}
watchLayout(panel);
if (passagesUrl) watchPassages({ url: passagesUrl, rater, csrf });
const flush = () => views.forEach((view) => view.flush());
addEventListener("pagehide", () => {
  flush();
  queue.lastChance();
});
// A page that comes back out of the browser's memory may be out of date.
addEventListener("pageshow", (event) => event.persisted && location.reload());
document.addEventListener("visibilitychange", () => document.hidden && flush());

const revealed = document.querySelector("h2[data-new]");
turnTo(Math.max(0, views.indexOf(blocking())), !revealed && !onTouch());
render();
if (revealed) focusHeading(revealed);
queue.pump();
