// An owner's page that is open is asked for again every minute, and what has changed is replaced in
// place. The header keeps this from counting as activity of the owner, so that the session ends.

const EVERY = 60_000;
const STOPPED = "ccrs:no-refresh";
const HELD = "a[href], button, summary, .table";

const main = () => document.getElementById("content");
const toggle = document.getElementById("refresh");

function stopped() {
  try {
    return localStorage.getItem(STOPPED) === "yes";
  } catch {
    return false;
  }
}

// Whether replacing the page would take something from the owner's hands.
function busy() {
  if (document.hidden || !toggle.checked || !getSelection().isCollapsed) return true;
  if (document.activeElement?.matches("main :is(input, select, textarea)")) return true;
  const fields = [...main().querySelectorAll("input:not([type=hidden]), select, textarea")];
  // A list of choices has no default without an option that is marked: it is left alone.
  return fields.some((field) => field.value !== field.defaultValue && !field.matches("select") || field.checked !== field.defaultChecked);
}

// Parsed by the browser as a separate document, in which no script runs.
function newest() {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", location.href);
    request.setRequestHeader("X-Refresh", "1");
    request.responseType = "document";
    request.addEventListener("load", () => resolve(request));
    request.addEventListener("error", reject);
    request.send();
  });
}

// What is the same in each answer, whatever its token.
function content(part) {
  const copy = part.cloneNode(true);
  for (const token of copy.querySelectorAll("[name=csrf_token]")) token.remove();
  for (const folded of copy.querySelectorAll("details")) folded.open = false;
  return copy;
}

function replace(fresh) {
  const old = main();
  const held = [...old.querySelectorAll(HELD)];
  const focused = held.indexOf(document.activeElement);
  const open = [...old.querySelectorAll("details")].map((details) => details.open);
  const across = [...old.querySelectorAll(".table")].map((table) => table.scrollLeft);
  const place = [scrollX, scrollY];
  old.replaceWith(document.adoptNode(fresh));
  const details = [...fresh.querySelectorAll("details")];
  if (details.length === open.length) details.forEach((each, n) => (each.open = open[n]));
  [...fresh.querySelectorAll(".table")].forEach((table, n) => (table.scrollLeft = across[n] ?? 0));
  const again = [...fresh.querySelectorAll(HELD)];
  if (focused >= 0 && again.length === held.length) again[focused].focus({ preventScroll: true });
  scrollTo(...place);
}

async function refresh() {
  setTimeout(refresh, EVERY);
  if (busy()) return;
  try {
    const answer = await newest();
    if (new URL(answer.responseURL).pathname !== location.pathname) {
      // The session has ended: what was shown is not left open.
      location.assign(answer.responseURL);
      return;
    }
    const fresh = answer.response?.getElementById("content");
    if (answer.status !== 200 || !fresh || busy()) return;
    if (!content(fresh).isEqualNode(content(main()))) replace(fresh);
  } catch {
    // No connection: the next minute tries again.
  }
}

if ("live" in main().dataset) {
  toggle.closest("footer").hidden = false;
  toggle.checked = !stopped();
  toggle.addEventListener("change", () => {
    try {
      localStorage.setItem(STOPPED, toggle.checked ? "no" : "yes");
    } catch {
      // Then this page alone keeps the choice.
    }
  });
  setTimeout(refresh, EVERY);
}
