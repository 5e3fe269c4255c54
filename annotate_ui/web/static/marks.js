// The sentences of a response that a rater marks for a construct: each set that differs is saved at once.
// `null` means unanswered; an empty list says that no sentence is to be marked.

import { countOf, same } from "./content.js";
import { parts } from "./page_parts.js";
import { _ } from "./words.js";

const STEPS = { ArrowDown: 1, ArrowUp: -1 };

const rangeOf = (sentence) => [Number(sentence.dataset.start), Number(sentence.dataset.end)];

// `on(how)` goes on to what is next, `back()` to the value; `timing()` returns the time that belongs
// to these marks; `replaced(undo)` reports what takes a change back.
parts.openMarks = function openMarks(section, { queue, name, changed, replaced, on, back, timing }) {
  const box = section.querySelector(".marking");
  const find = (selector) => box.querySelector(selector);
  const [none, count, error, kept] = [".no-sentence", ".marked-count", ".error", ".kept"].map(find);
  const { key, assignment } = section.dataset;
  const { url } = box.dataset;
  const text = document.querySelector(`[data-sentences="${assignment}"]`);
  const sentences = [...text.querySelectorAll(".sentence")];
  let revision = Number(box.dataset.revision);
  let confirmed = box.dataset.marks ? JSON.parse(box.dataset.marks) : null;
  let committed = confirmed;
  let lastKey = null;
  let isActive = false;
  let here = 0;

  // A stored range may be of what was a sentence before.
  const isMarked = (sentence) => {
    const [start, end] = rangeOf(sentence);
    return (committed ?? []).some(([from, to]) => from < end && start < to);
  };

  function commit(ranges, how) {
    if (same(ranges, committed)) return;
    const before = committed;
    replaced(() => commit(before, "button"));
    committed = ranges;
    const previous = lastKey;
    lastKey = "";
    lastKey = queue.add(url, { construct: key, ranges, input_kind: how, ...timing(), base_revision: revision }, previous);
    error.textContent = "";
    changed();
  }

  function toggle(sentence, how) {
    here = sentences.indexOf(sentence);
    const marked = sentences.filter((other) => isMarked(other) !== (other === sentence)).map(rangeOf);
    // The last mark that is taken away leaves the question open: that none fits is said by its button.
    commit(marked.length ? marked : null, how);
  }

  function focus() {
    const folded = text.closest("details");
    if (folded) folded.open = true;
    sentences[here].focus();
    sentences[here].scrollIntoView({ block: "nearest" });
  }

  function move(place) {
    here = Math.min(Math.max(place, 0), sentences.length - 1);
    render();
    focus();
  }

  function render() {
    const words = committed ? countOf(committed) : "";
    if (count.textContent !== words) count.textContent = words;
    none.setAttribute("aria-pressed", String(committed?.length === 0));
    if (!isActive) return;
    sentences.forEach((sentence, place) => {
      sentence.setAttribute("aria-checked", String(isMarked(sentence)));
      sentence.tabIndex = place === here ? 0 : -1;
    });
  }

  // The text of a page may belong to several constructs: the marks of the active one are shown.
  function show(active) {
    if (active === isActive) return;
    isActive = active;
    text.classList.toggle("to-mark", active);
    const attributes = { role: "group", "aria-labelledby": box.querySelector(".mark-question").id };
    for (const [attribute, value] of Object.entries(attributes)) {
      if (active) text.setAttribute(attribute, value);
      else text.removeAttribute(attribute);
    }
    for (const sentence of sentences) {
      if (active) sentence.setAttribute("role", "checkbox");
      else for (const attribute of ["role", "aria-checked", "tabindex"]) sentence.removeAttribute(attribute);
    }
    render();
  }

  // Enter does not answer by itself that no sentence is to be marked.
  function goOn() {
    if (committed === null) none.focus();
    else on();
  }

  text.addEventListener("keydown", (event) => {
    if (!isActive || !sentences.includes(event.target) || event.ctrlKey || event.altKey || event.metaKey) return;
    const sideways = getComputedStyle(text).direction === "rtl" ? -1 : 1;
    const step = { ...STEPS, ArrowRight: sideways, ArrowLeft: -sideways }[event.key];
    if (event.key === " ") !event.repeat && toggle(event.target, "key");
    else if (step) move(here + step);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(sentences.length - 1);
    else if (event.key === "Escape" || (event.key === "Enter" && event.shiftKey)) back();
    else if (event.key === "Enter") !event.repeat && goOn();
    else return;
    event.preventDefault();
  });
  find(".to-sentences").addEventListener("click", focus);
  none.addEventListener("click", () => {
    const isFirst = committed === null;
    commit(committed?.length === 0 ? null : [], "button");
    if (isFirst) on({ stay: true });
  });

  // Takes over what an earlier page saved last, and what it left in the queue.
  const later = queue.saved(url, key);
  if (later?.answer.revision > revision) {
    revision = later.answer.revision;
    committed = confirmed = later.entry.body.ranges;
  }
  const left = queue.adopt(url, key).at(-1)?.body;
  if (left) {
    committed = left.ranges;
    lastKey = left.key;
  }
  render();

  return {
    url,
    focus,
    render,
    show,
    // A click that ends the selection of text is none.
    press: (sentence) => sentences.includes(sentence) && getSelection().isCollapsed && toggle(sentence, "pointer"),
    waiting: () => committed === null,
    // What keeps the step from being finished: null, "saving", or words for the rater.
    missing: (isRated) => {
      if (isRated && committed === null) return _("%(name)s: mark sentences, or choose “No sentence”", { name });
      return lastKey === null ? null : "saving";
    },
    settle: ({ kind, entry, answer }) => {
      const latest = kind === "stale" || entry.body.key === lastKey;
      if (kind === "saved") {
        revision = answer.revision;
        confirmed = entry.body.ranges;
        kept.textContent = answer.kept ?? "";
      } else if (kind === "stale") {
        revision = answer.current.revision;
        confirmed = answer.current.ranges ?? null;
      }
      if (latest) {
        lastKey = null;
        committed = confirmed;
        if (kind === "invalid") error.textContent = answer.error?.message ?? _("The server refused this value.");
      }
      render();
    },
    // After a conflict: the rater's own set.
    enter: (content) => commit(content.ranges, content.input_kind),
  };
};
