// Messages that must not be missed: conflicts, refusals, a lost session. One for each subject.

import { _ } from "./words.js";

// `back()` moves the focus to the work when the button that had it is gone.
export function openAlerts(region, back = () => {}) {
  function drop(subject) {
    [...region.children].filter((box) => box.dataset.subject === subject).forEach((box) => box.remove());
  }

  // `choices` is a list of [words, run] for buttons or [words, address] for links.
  function tell(subject, text, choices = [[_("Dismiss"), () => {}]]) {
    const known = [...region.children].find((box) => box.dataset.subject === subject);
    if (known?.firstChild.textContent === text) return;
    drop(subject);
    const box = document.createElement("div");
    box.className = "alert";
    box.dataset.subject = subject;
    const words = document.createElement("p");
    words.textContent = text;
    const row = document.createElement("div");
    row.className = "row";
    for (const [label, act] of choices) {
      const choice = document.createElement(typeof act === "string" ? "a" : "button");
      choice.textContent = label;
      if (typeof act === "string") {
        choice.href = act;
        choice.className = "button";
      } else {
        choice.type = "button";
        choice.addEventListener("click", () => {
          drop(subject);
          act();
          // The button is gone; the focus goes back to the work.
          if (document.activeElement === document.body) back();
        });
      }
      row.append(choice);
    }
    box.append(words, row);
    region.append(box);
  }

  return { tell, drop };
}
