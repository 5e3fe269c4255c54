// Finds words in the passages: marks them, counts them, and steps through them. What it unfolds is
// in view and so counts as opened, as if the rater had unfolded it.

import { _, ngettext } from "./words.js";

const PAUSE = 250;
// One letter of an alphabet would unfold everything; one sign of other scripts is a word.
const TOO_SHORT = /^[\u0000-\u024f]?$/;

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

export function watchFind() {
  const bar = document.getElementById("find");
  if (!bar) return;
  const [field, count, back, on] = ["find-words", "find-count", "find-back", "find-on"].map((id) => document.getElementById(id));
  const passages = [...document.querySelectorAll(".passage")];
  let matches = [];
  let here = -1;
  let unfolded = [];
  let timer = 0;
  bar.hidden = false;

  function clear() {
    for (const passage of passages) {
      const marks = passage.querySelectorAll(".text mark");
      for (const mark of marks) mark.replaceWith(mark.textContent);
      if (marks.length > 0) passage.normalize();
    }
    matches = [];
    here = -1;
  }

  function fold(kept = new Set()) {
    unfolded.filter((passage) => !kept.has(passage)).forEach((passage) => (passage.open = false));
    unfolded = unfolded.filter((passage) => kept.has(passage));
  }

  function texts(passage) {
    const shown = passage.querySelector("div.text:not([hidden])");
    if (!shown) return [];
    const walker = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    return nodes;
  }

  // Pieces of plain text and marks; the passage's text is never read as HTML.
  function markIn(passage, pattern) {
    const marks = [];
    for (const node of texts(passage)) {
      const words = node.data;
      const pieces = [];
      let from = 0;
      for (const match of words.matchAll(pattern)) {
        const mark = document.createElement("mark");
        mark.textContent = match[0];
        pieces.push(words.slice(from, match.index), mark);
        marks.push(mark);
        from = match.index + match[0].length;
      }
      if (pieces.length > 0) node.replaceWith(...pieces, words.slice(from));
    }
    return marks;
  }

  function tell() {
    let words = "";
    if (matches.length > 0) words = here < 0 ? ngettext("%(num)s match", "%(num)s matches", matches.length) : _("%(place)s of %(count)s", { place: here + 1, count: matches.length });
    else if (!TOO_SHORT.test(field.value.trim())) words = _("No match");
    if (count.textContent !== words) count.textContent = words;
    for (const button of [back, on]) button.disabled = matches.length === 0;
    // While it is in use it stays in view above the passages.
    bar.parentElement.classList.toggle("stuck", field.value !== "");
  }

  function search() {
    clearTimeout(timer);
    timer = 0;
    clear();
    const wanted = field.value.trim();
    if (TOO_SHORT.test(wanted)) {
      fold();
      tell();
      return;
    }
    const pattern = new RegExp(escaped(wanted).replace(/\s+/g, "\\s+"), "giu");
    const holding = new Set();
    for (const passage of passages) {
      const marks = markIn(passage, pattern);
      if (marks.length > 0) holding.add(passage);
      matches.push(...marks);
    }
    fold(holding);
    for (const passage of holding) {
      if (passage.open) continue;
      passage.open = true;
      unfolded.push(passage);
    }
    tell();
  }

  function go(by) {
    if (timer) search();
    if (matches.length === 0) return;
    matches[here]?.removeAttribute("data-here");
    here = here < 0 && by < 0 ? matches.length - 1 : (here + by + matches.length) % matches.length;
    const mark = matches[here];
    mark.setAttribute("data-here", "");
    mark.closest(".passage").open = true;
    mark.scrollIntoView({ block: "center", inline: "nearest" });
    tell();
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      field.value = "";
      search();
    }
  });
  document.addEventListener("textformat", search);
  back.addEventListener("click", () => go(-1));
  on.addEventListener("click", () => go(1));
  tell();
}
