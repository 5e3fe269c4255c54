// The overview: sends what an earlier page left in this browser, and signing out clears it.

import { openAlerts } from "./alerts.js";
import { openQueue } from "./queue.js";
import { openStore } from "./store.js";

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
  alerts.tell(`${entry.url} ${mine.construct}`, `${mine.construct}: what you entered was not saved, since something else is stored there now or the server refused it.`, [
    ["Go there", entry.url.replace(/\/save$/, "")],
    ["Dismiss", () => {}],
  ]);
}

function render() {
  const { waiting, failing, halted } = queue.state();
  let words = "";
  if (waiting) words = failing || halted ? `${waiting} ${waiting === 1 ? "value waits" : "values wait"} for the connection` : "Saving what was left in this browser…";
  if (saved.textContent !== words) saved.textContent = words;
}

const many = (count, one, more) => (count === 0 ? [] : [`${count} ${count === 1 ? one : more}`]);

form.addEventListener("submit", (event) => {
  const drafts = store.names().filter((name) => name.startsWith("draft:")).length;
  const lost = [
    ...many(queue.state().waiting, "value that is not sent yet", "values that are not sent yet"),
    ...many(drafts, "draft", "drafts"),
    ...many(store.read("refused", []).length, "value that the server refused", "values that the server refused"),
  ];
  if (lost.length > 0 && !warned) {
    event.preventDefault();
    warned = true;
    form.querySelector("button").textContent = "Sign out and lose them";
    alerts.tell("leave", `Signing out clears this browser. You would lose ${lost.join(" and ")}.`, [
      ["Stay", () => {
        warned = false;
        form.querySelector("button").textContent = "Sign out";
      }],
    ]);
    return;
  }
  store.names().forEach((name) => store.remove(name));
});

addEventListener("pagehide", queue.lastChance);
render();
queue.pump();
