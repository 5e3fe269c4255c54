// The overview: sends what an earlier page left in this browser, and signing out clears it.

import { openAlerts } from "./alerts.js";
import { watchKeys } from "./keys.js";
import { openQueue } from "./queue.js";
import { openStore } from "./store.js";
import { _, ngettext } from "./words.js";

const form = document.getElementById("leave");
const saved = document.getElementById("saved");
const alerts = openAlerts(document.getElementById("alert"));
const { rater } = form.dataset;
const csrf = document.querySelector("meta[name=csrf-token]").content;
const store = openStore(rater);
let warned = false;

const queue = openQueue({ store, rater, csrf, changed: () => render(), answered: (event) => settle(event) });

function settle({ kind, entry, mine }) {
  if (kind === "saved") return;
  const place = entry.url.split("/").at(-3);
  if (mine.status === "rated" && place) {
    store.write(`draft:${place}:${mine.construct}`, { value: String(mine.value), comment: mine.comment ?? "", flags: mine.flags });
  }
  alerts.tell(`${entry.url} ${mine.construct}`, _("%(name)s: what you entered was not saved, since something else is stored there now or the server refused it.", { name: mine.construct }), [
    [_("Go there"), entry.url.replace(/\/save$/, "")],
    [_("Dismiss"), () => {}],
  ]);
}

function render() {
  const { waiting, failing, halted } = queue.state();
  let words = "";
  if (waiting && !failing && !halted) words = _("Saving what was left in this browser…");
  else if (waiting) words = ngettext("%(num)s value waits for the connection", "%(num)s values wait for the connection", waiting);
  if (saved.textContent !== words) saved.textContent = words;
}

form.addEventListener("submit", (event) => {
  const { waiting } = queue.state();
  const drafts = store.names().filter((name) => name.startsWith("draft:")).length;
  const refused = store.read("refused", []).length;
  const lost = [];
  if (waiting) lost.push(ngettext("%(num)s value that is not sent yet", "%(num)s values that are not sent yet", waiting));
  if (drafts) lost.push(ngettext("%(num)s draft", "%(num)s drafts", drafts));
  if (refused) lost.push(ngettext("%(num)s value that the server refused", "%(num)s values that the server refused", refused));
  if (lost.length > 0 && !warned) {
    event.preventDefault();
    warned = true;
    form.querySelector("button").textContent = _("Sign out and lose them");
    alerts.tell("leave", _("Signing out clears this browser. You would lose %(what)s.", { what: lost.join(", ") }), [
      [_("Stay"), () => {
        warned = false;
        form.querySelector("button").textContent = _("Sign out");
      }],
    ]);
    return;
  }
  store.names().forEach((name) => store.remove(name));
});

watchKeys();
addEventListener("pagehide", queue.lastChance);
render();
queue.pump();
