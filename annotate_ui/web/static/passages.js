// Passages are folded; which ones a rater opens is reported, once each.

import { _ } from "./words.js";

const ALL_OPEN = "ccrs:all-passages-open";

function remembered() {
  try {
    return sessionStorage.getItem(ALL_OPEN) === "yes";
  } catch {
    return false;
  }
}

function remember(all) {
  try {
    sessionStorage.setItem(ALL_OPEN, all ? "yes" : "no");
  } catch {
    // Then the next step starts folded.
  }
}

// A passage that several responses have in common is opened for each of them: the passages
// have the addresses, one for each response.
export function watchPassages({ rater, csrf }) {
  const passages = [...document.querySelectorAll(".passage")];
  const button = document.getElementById("open-all");
  const unsent = new Set();
  let sending = false;

  async function report() {
    if (sending) return;
    sending = true;
    try {
      while (unsent.size > 0) {
        const [entry] = unsent;
        const { url, position } = JSON.parse(entry);
        const response = await fetch(url, {
          method: "POST",
          headers: { "Content-Type": "application/json", "X-CSRFToken": csrf, "X-Rater": rater },
          body: JSON.stringify({ position }),
          keepalive: true,
          credentials: "same-origin",
        });
        if (response.status >= 500 || response.status === 429) break;
        unsent.delete(entry);
      }
    } catch {
      // No connection; the next attempt is below.
    } finally {
      sending = false;
    }
    if (unsent.size > 0) setTimeout(report, 5000);
  }

  function label() {
    if (button) button.textContent = passages.every((passage) => passage.open) ? _("Fold all passages") : _("Open all passages");
  }

  for (const passage of passages) {
    passage.addEventListener("toggle", () => {
      label();
      if (!passage.open || "opened" in passage.dataset) return;
      passage.dataset.opened = "";
      passage.querySelector(".opened").textContent = _("opened");
      const position = Number(passage.dataset.position);
      const urls = passage.closest("[data-passages-url]").dataset.passagesUrl.split(" ");
      urls.forEach((url) => unsent.add(JSON.stringify({ url, position })));
      report();
    });
  }
  button?.addEventListener("click", () => {
    const all = !passages.every((passage) => passage.open);
    passages.forEach((passage) => (passage.open = all));
    remember(all);
  });
  addEventListener("online", report);
  if (remembered()) passages.forEach((passage) => (passage.open = true));
  label();
}
