// The rating page: connects its parts, and shows what is saved, what is left and what comes next.

import { openAlerts } from "./alerts.js";
import { startClock } from "./clock.js";
import { watchColumns } from "./columns.js";
import { openConstruct } from "./construct.js";
import { countOf } from "./content.js";
import { watchFind } from "./find.js";
import { watchKeys } from "./keys.js";
import { focusHeading, onTouch, showPanel, watchLayout } from "./layout.js";
import { parts } from "./page_parts.js";
import { watchPassages } from "./passages.js";
import { openQueue } from "./queue.js";
import { showNumber } from "./scale.js";
import { openStore } from "./store.js";
import { _, clockTime, ngettext } from "./words.js";

const element = (id) => document.getElementById(id);
const panel = element("panel");
const { rater } = panel.dataset;
const opensNextStage = "opensNextStage" in panel.dataset;
const csrf = document.querySelector("meta[name=csrf-token]").content;

const store = openStore(rater);
const textFormat = document.getElementById("text-format") ? parts.watchTextFormat(store) : () => "plain";
const clock = startClock();
const alerts = openAlerts(element("alert"), () => turnTo(active, true));
const columns = watchColumns((letter) => turnToResponse(letter));
const views = [];
const queue = openQueue({ store, rater, csrf, changed: () => render(), answered: (event) => settle(event) });
let active = 0;
let savedAt = null;
let savedName = "";
let wantsOn = false;
let leaving = false;
let stopped = false;
let warnedOfStorage = false;
let undoable = null;

// ---- what is saved

function savedWords() {
  const { waiting, failing, halted } = queue.state();
  if (halted) return waiting ? ngettext("%(num)s value waits in this browser", "%(num)s values wait in this browser", waiting) : _("Not connected");
  if (waiting && failing) return ngettext("%(num)s value waits for the connection", "%(num)s values wait for the connection", waiting);
  if (waiting) return _("Saving…");
  if (views.some((view) => view.waits())) return _("A note waits for a value");
  if (savedAt) return _("All saved at %(time)s", { time: savedAt });
  return document.querySelector("#progress progress").value > 0 ? _("All saved") : _("Saves as you go");
}

let shown = "";
let slow = 0;
function renderSaved() {
  const words = savedWords();
  const { waiting, failing, halted } = queue.state();
  clearTimeout(slow);
  // A save that is answered at once is announced once.
  if (waiting && !failing && !halted) slow = setTimeout(() => say(words, ""), 700);
  else say(words, savedAt && !waiting && savedName ? `, ${savedName}` : "");
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
  // A training page counts responses, and its values are not part of the progress.
  if ("practice" in element("progress").dataset) return;
  const [words, bar] = element("progress").children;
  words.textContent = ngettext("%(done)s of %(num)s value, %(left)s left", "%(done)s of %(num)s values, %(left)s left", total, { done, left: total - done });
  bar.max = total || 1;
  bar.value = done;
}

function renderHalt() {
  const { halted } = queue.state();
  const words = {
    signed_out: _("You are signed out. Open your link again; what you entered waits in this browser."),
    csrf: _("This page is out of date. Reload it; what you entered waits in this browser."),
    other_rater: _("Someone else is signed in on this browser now, so nothing is sent from this page. What you entered waits until you open your own link again."),
  }[halted];
  if (!words) alerts.drop("halt");
  else alerts.tell("halt", words, halted === "csrf" ? [[_("Reload"), () => location.reload()]] : []);
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
  if (opensNextStage) element("final").hidden = left.length > 0;
  let words = "";
  if (left.length === 1) words = left[0].missing();
  else if (left.length > 1) words = _("%(left)s of %(all)s still need a value", { left: left.length, all: views.length });
  else if (saving) words = queue.state().failing ? _("Opens when all is saved") : "";
  if (element("next-reason").textContent !== words) element("next-reason").textContent = words;
  if (wantsOn && left.length === 0 && !saving && !leaving) {
    leaving = true;
    leave();
  }
}

// Asks the server first: without a connection the rater stays on this page and continues later.
async function leave() {
  const form = element("on");
  const opened = form.method === "get";
  let problem = _("No connection. The next page opens when it is back.");
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
    problem = (await response.json().catch(() => null))?.error?.message ?? _("The next page can't be opened now.");
  } catch {
    // No connection: the message is set above.
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
  if (!store.durable() && !warnedOfStorage) {
    warnedOfStorage = true;
    alerts.tell("memory", _("This browser cannot store data for this page (its storage is switched off or full). Stay here until the page shows “All saved”."));
  }
  if (views.length) {
    renderNext();
    renderSkip();
    renderUndo();
  }
}

function turnTo(index, focus) {
  if (index !== active) views[active].flush();
  active = index;
  views.forEach((view, place) => view.show(place === index));
  for (const group of document.querySelectorAll(".group")) group.classList.toggle("active", group.contains(views[index].section));
  clock.turnTo(views[index].timed);
  columns.turnTo(views[index].letter);
  renderSkip();
  if (focus) {
    showPanel(true);
    views[index].focus();
  }
}

// From one of the responses side by side to its line of the construct that is being rated.
function turnToResponse(letter) {
  const { key } = views[active];
  const wanted = views.findIndex((view) => view.letter === letter && view.key === key);
  if (wanted >= 0 && wanted !== active) turnTo(wanted, false);
}

// A press on a control leaves the page to the button.
function goOn({ stay } = {}) {
  const open = blocking();
  const focus = !stay || !onTouch();
  if (active + 1 < views.length) turnTo(active + 1, focus);
  else if (open) turnTo(views.indexOf(open), focus);
  else if (!stay) askOn(false);
}

// The step that opens the next stage cannot be taken back: the last Enter stops at its button.
function askOn(pressed) {
  views.forEach((view) => view.commitRemarks());
  const open = blocking();
  if (open) {
    turnTo(views.indexOf(open), true);
    return;
  }
  element("next").focus();
  if (!pressed && opensNextStage) {
    stopped = true;
    return;
  }
  wantsOn = true;
  renderNext();
}

element("on").addEventListener("submit", (event) => {
  event.preventDefault();
  // A key that is held down has stopped here.
  if (!leaving && !stopped) askOn(true);
});
addEventListener("keyup", () => (stopped = false));
addEventListener("pointerdown", () => (stopped = false));
// A rater who turns to something else is not moved on when the connection returns.
element("next").addEventListener("blur", () => document.hasFocus() && (wantsOn = false));

// ---- answers

function whatIs(content) {
  if (content.ranges !== undefined && content.ranges !== null) return countOf(content.ranges);
  if (content.status === "rated") return showNumber(content.value);
  return { cannot_judge: _("“Cannot judge”"), skipped: _("“skipped”") }[content.status] ?? _("no value");
}

function settle(event) {
  const { kind, entry, mine, answer } = event;
  const isOf = (view) => [view.url, view.marks?.url].includes(entry.url) && view.key === entry.body.construct;
  const here = event.fromHere && views.find(isOf);
  const name = here ? here.name : entry.body.construct;
  if (kind === "saved") {
    savedAt = clockTime(new Date());
    savedName = name;
    shown = "";
    if (answer.progress) renderProgress(answer.progress);
    if (answer.late) alerts.tell("late", _("The time set aside for this response has run out. What you enter is saved all the same."));
  }
  if (here) here.settle(event);
  else if (kind !== "saved") keepAsDraft(entry, mine);
  if (kind === "saved") alerts.drop(`stale ${entry.url} ${entry.body.construct}`);
  if (kind === "stale") tellStale(entry, mine, answer.current, here, name);
  if (kind === "invalid") {
    const problem = answer.error?.message ?? _("This can't be saved.");
    tellBack(_("%(name)s: %(problem)s It is a draft again.", { name, problem }), entry, here);
  }
  if (kind === "refused") tellBack(_("%(name)s: the server did not take %(value)s. %(problem)s It is kept in this browser.", { name, value: whatIs(mine), problem: answer.error?.message ?? "" }), entry, here);
  render();
}

const address = (entry) => entry.url.replace(/\/(save|marks)$/, "");

function tellStale(entry, mine, current, here, name) {
  if (here) turnTo(views.indexOf(here), true);
  if (undoable?.view === here) undoable = null;
  if (entry.url === here?.marks?.url) {
    tellOtherMarks(entry, mine, current, here);
    return;
  }
  const values = { name, theirs: whatIs(current), mine: whatIs(mine) };
  const differs = values.mine !== values.theirs;
  const choices = here
    ? [[_("Save mine"), () => here.enter(mine)], [_("Leave it"), () => here.leave()]]
    : [[_("Go there"), address(entry)], [_("Dismiss"), () => {}]];
  const what = differs
    ? _("Another tab or device saved %(theirs)s for %(name)s; you entered %(mine)s here.", values)
    : _("Another tab or device saved %(theirs)s for %(name)s; you changed a remark here.", values);
  const how = differs && mine.status === "rated" && here ? _("Press Enter to save yours, or leave it.") : _("Save yours, or leave it.");
  alerts.tell(`stale ${entry.url} ${entry.body.construct}`, `${what} ${how}`, choices);
}

function tellOtherMarks(entry, mine, current, here) {
  const values = { name: here.name, theirs: countOf(current.ranges), mine: countOf(mine.ranges) };
  const words = _("Another tab or device changed the marks for %(name)s: there %(theirs)s, here %(mine)s. Save yours, or leave it.", values);
  alerts.tell(`stale ${entry.url} ${entry.body.construct}`, words, [[_("Save mine"), () => here.marks.enter(mine)], [_("Leave it"), () => {}]]);
}

function tellBack(words, entry, here) {
  const choices = here ? [[_("Dismiss"), () => {}]] : [[_("Go there"), address(entry)], [_("Dismiss"), () => {}]];
  alerts.tell(`back ${entry.url} ${entry.body.construct}`, words, choices);
}

// An entry of another step came back: it waits there as a draft.
function keepAsDraft(entry, mine) {
  const place = entry.url.split("/").at(-3);
  if (mine.status !== "rated" || !place) return;
  store.write(`draft:${place}:${mine.construct}`, { value: showNumber(mine.value), comment: mine.comment ?? "", flags: mine.flags });
}

// ---- taking back

// The last value that was entered here, if there was another before it: that one comes back as a
// further revision. A first value has nothing behind it; it is changed by entering another.
const replaced = (view, undo) => (undoable = undo && { view, undo });

const renderUndo = () => (element("undo").hidden = undoable === null);

element("undo").addEventListener("click", () => {
  if (!undoable) return;
  const { view, undo } = undoable;
  turnTo(views.indexOf(view), true);
  undo();
  undoable = null;
  view.focus();
  render();
});

// ---- skipping

// Beside each other, the response that is being rated.
const skippable = () => views.filter((view) => view.assignment === views[active].assignment);
const skipName = () => `skipped:${views[active].assignment}`;

function renderSkip() {
  const none = !skippable().some((view) => view.canSkip());
  if (none && !element("skip-form").hidden) openSkip(false);
  element("skip").hidden = none;
  const { letter } = views[active];
  const words = letter ? _("Skip response %(letter)s", { letter }) : _("Skip this response");
  if (element("skip").textContent !== words) element("skip").textContent = words;
}

function openSkip(open) {
  element("skip-form").hidden = !open;
  element("skip").setAttribute("aria-expanded", String(open));
  element(open ? "skip-reason" : "skip").focus();
  // Later parts of a response are skipped for the same reason, as a rule.
  if (open && !element("skip-reason").value) element("skip-reason").value = store.read(skipName(), "");
}
element("skip-reason").addEventListener("input", (event) => event.target.setCustomValidity(""));
element("skip").addEventListener("click", () => openSkip(element("skip-form").hidden));
element("skip-cancel").addEventListener("click", () => openSkip(false));
element("skip-form").addEventListener("keydown", (event) => event.key === "Escape" && openSkip(false));
element("skip-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const reason = element("skip-reason").value.trim();
  if (!reason) {
    element("skip-reason").setCustomValidity(_("Say in a few words why."));
    element("skip-reason").reportValidity();
    return;
  }
  store.write(skipName(), reason);
  skippable().forEach((view) => view.skip(reason));
  element("skip-reason").value = "";
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

// A number that is typed on a heading of what is new, or on a passage, is the value. Keys act only
// where they have the focus: on a link or a button they would surprise a rater who dictates to the page.
element("material").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !event.target.matches("[data-new], summary, .scroll, .sentence")) return;
  if (!views[active].press(event) && /^[\p{Nd}+\-−.,]$/u.test(event.key)) turnTo(active, true);
});

// After the press on a column, which turns to its response.
element("material").addEventListener("click", (event) => {
  const sentence = event.target.closest(".sentence");
  if (sentence) views[active].marks?.press(sentence);
});

for (const section of document.querySelectorAll(".construct")) {
  const index = views.length;
  const turned = (by, how) => {
    if (by > 0) goOn(how);
    else if (by === 0) turnTo(index, !onTouch());
    else if (index > 0) turnTo(index - 1, true);
  };
  const view = openConstruct(section, { queue, store, clock, textFormat, turned, changed: render, replaced: (undo) => replaced(view, undo) });
  views.push(view);
}
watchLayout(panel);
watchPassages({ rater, csrf });
watchFind();
watchKeys();
const flush = () => views.forEach((view) => view.flush());
addEventListener("pagehide", () => {
  flush();
  queue.lastChance();
});
// A page that comes back out of the browser's memory may be out of date.
addEventListener("pageshow", (event) => event.persisted && location.reload());
document.addEventListener("visibilitychange", () => document.hidden && flush());

const revealed = document.querySelector("[data-new]");
turnTo(Math.max(0, views.indexOf(blocking())), !revealed && !onTouch());
if (revealed) focusHeading(revealed);
render();
queue.pump();
