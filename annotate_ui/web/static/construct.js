// One construct of one response in the panel: its field, control, buttons, remarks, and what of it is stored.
//
// Three states are distinguished: `confirmed` (the server has it), `committed` (the rater entered it;
// it may still be in the queue), and the draft (what is in the fields, and never counts).

import { openControl } from "./controls.js";
import { contentOf, hintOf, same, stateOf } from "./content.js";
import { lastPress } from "./last_press.js";
import { parts } from "./page_parts.js";
import { readNumber, showNumber } from "./scale.js";
import { _, locale } from "./words.js";

const COMMENT_PAUSE = 800;

// `turned(by)` asks for another construct (with `stay`, for none beyond the last), `changed()` for drawing anew; `replaced(undo)` reports
// what takes a change back; null where there was nothing before.
export function openConstruct(section, { queue, store, clock, textFormat, turned, changed, replaced }) {
  const find = (selector) => section.querySelector(selector);
  const [field, cannot, comment, entered] = [".value", ".cannot", ".comment", ".entered"].map(find);
  const track = find(".control");
  const [open, body, state, error, hint, count] = [".open", ".body", ".state", ".error", ".hint", ".count"].map(find);
  const boxes = [...section.querySelectorAll(".flag")];
  const data = section.dataset;
  const { key, assignment, saveUrl: url } = data;
  const draftName = `draft:${assignment}:${key}`;
  const timed = `${assignment} ${key}`;
  const scale = { min: Number(data.min), max: Number(data.max), step: data.step ? Number(data.step) : null };
  let revision = Number(data.revision);
  let kind = data.kind || "typed";
  let lastKey = null;
  let writing = 0;
  let conflict = false;

  const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value).sort();
  const remarks = () => ({ comment: comment.value.trim() ? comment.value : null, flags: chosen() });
  let confirmed = contentOf({
    value: data.value === "" ? null : Number(data.value),
    status: data.status,
    reason: data.reason,
    ...remarks(),
  });
  let committed = confirmed;

  const onControl = () => track.contains(lastPress.target) && lastPress.target.closest("input, label, button, select");
  const typed = () => readNumber(field.value, scale);
  const hasDraft = () => {
    const text = field.value.trim();
    if (text === "") return false;
    return !(committed.status === "rated" && typed().value === committed.value);
  };
  const remarksDiffer = () => !same(remarks(), { comment: committed.comment, flags: committed.flags });

  // Drafts outlive the page: each keystroke is kept in the browser.
  function keepDraft() {
    const draft = {};
    if (hasDraft()) draft.value = field.value;
    if (remarksDiffer()) Object.assign(draft, { comment: comment.value, flags: chosen() });
    if (Object.keys(draft).length) store.write(draftName, draft);
    else store.remove(draftName);
  }

  const control = openControl(track, {
    scale,
    turned,
    draft: (value) => {
      field.value = showNumber(value);
      showProblem("");
      keepDraft();
      changed();
    },
    commit: (value) => {
      const isFirst = committed.status === null;
      field.value = showNumber(value);
      commitValue(track.dataset.inputKind);
      // Whoever changes a value may want to adjust it further.
      if (isFirst && onControl() && !marks?.waiting()) turned(1, { stay: true });
    },
  });
  const press = (event) => {
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return false;
    if (!control.press?.(event.key)) return false;
    event.preventDefault();
    goOn({ stay: true });
    return true;
  };
  // A value is followed by its marks, where they are asked for.
  const marks = section.querySelector(".marking") && parts.openMarks(section, {
    queue,
    name: data.name,
    changed,
    replaced,
    on: (how) => turned(1, how),
    back: () => focus(),
    // Until there is a value, the time belongs to it.
    timing: () => (committed.status === null ? { active_seconds: null, wall_seconds: null } : clock.take(timed)),
  });
  const goOn = (how) => (marks?.waiting() ? marks.focus() : turned(1, how));
  // The second press of a double click is not meant for the construct that the first one opened.
  for (const kind of ["mousedown", "click"]) {
    track.addEventListener(kind, (event) => {
      if (event.detail < 2 || committed.status !== null) return;
      event.preventDefault();
      event.stopPropagation();
    }, { capture: true });
  }

  function showProblem(problem) {
    if (error.textContent !== problem) error.textContent = problem;
    if (problem) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }

  function showFields(content) {
    field.value = showNumber(content.value);
    comment.value = content.comment ?? "";
    boxes.forEach((box) => (box.checked = content.flags.includes(box.value)));
    control.show(content.value);
    showProblem("");
  }

  function render() {
    const { failing, halted } = queue.state();
    const draft = hasDraft();
    const [name, words] = stateOf({ draft, queued: lastKey !== null, blocked: failing || halted, status: confirmed.status });
    const waits = !draft && committed.status === null && remarksDiffer();
    const hinted = hintOf({ draft, valid: typed().value !== undefined, committed, waits });
    state.dataset.state = name;
    if (state.textContent !== words) state.textContent = words;
    if (hint.textContent !== hinted) hint.textContent = hinted;
    cannot.setAttribute("aria-pressed", String(committed.status === "cannot_judge"));
    const left = comment.maxLength - comment.value.length;
    count.textContent = comment.value ? _("%(left)s characters left", { left: left.toLocaleString(locale) }) : "";
    marks?.render();
    if (entered) entered.textContent = committed.status === "rated" ? showNumber(committed.value) : "";
  }

  // Queues new content, unless it is what is there already. Returns whether it was new.
  function commit(content, how) {
    const next = contentOf(content);
    const isNew = !same(next, committed);
    if (isNew) {
      kind = how;
      conflict = false;
      const earlier = committed;
      replaced(earlier.status === null ? null : () => bringBack(earlier));
      committed = next;
      const sent = { construct: key, ...next, input_kind: how, ...clock.take(timed), text_format: textFormat(), base_revision: revision };
      const before = lastKey;
      lastKey = "";
      lastKey = queue.add(url, sent, before);
    }
    keepDraft();
    changed();
    return isNew;
  }

  // Commits the text of the value field. Returns whether the rater may go on.
  function commitValue(how = "typed") {
    const text = field.value.trim();
    if (text === "" && committed.status !== null) {
      showFields({ ...committed, ...remarks() });
      commitRemarks();
      return true;
    }
    const { value, problem } = typed();
    showProblem(problem ?? "");
    if (problem) {
      keepDraft();
      changed();
      return false;
    }
    field.value = showNumber(value);
    control.show(value);
    if (committed.status === "rated" && committed.value === value) how = kind;
    commit({ value, status: "rated", reason: null, ...remarks() }, how);
    return true;
  }

  // Remarks go with a value. In a conflict they wait until the rater has chosen.
  function commitRemarks() {
    clearTimeout(writing);
    if (committed.status !== null && remarksDiffer() && !conflict) commit({ ...committed, ...remarks() }, kind);
    else keepDraft();
  }

  function cannotJudge() {
    control.cancel();
    field.value = "";
    control.show(null);
    showProblem("");
    commit({ value: null, status: "cannot_judge", reason: null, ...remarks() }, "button");
  }

  // A stored value is typed over; a draft is typed on.
  function focus() {
    if (control.focus) {
      control.focus();
      return;
    }
    field.focus();
    if (hasDraft()) field.setSelectionRange(field.value.length, field.value.length);
    else field.select();
  }

  field.addEventListener("input", () => {
    const { value, problem, unfinished } = typed();
    showProblem(problem && !unfinished ? problem : "");
    control.show(value ?? (field.value.trim() === "" ? committed.value : null));
    keepDraft();
    changed();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.shiftKey) turned(-1);
    else if (commitValue()) goOn();
  });
  // Leaving the field commits it; another window coming to the front, or a press on the control, on
  // "Cannot judge" or on "Skip", does not: what follows replaces the draft.
  field.addEventListener("blur", () => {
    if (document.activeElement === field || !document.hasFocus()) return;
    // The field was hidden; the rater did not leave it.
    if (field.offsetParent === null) return;
    if (onControl() || lastPress.target === cannot || lastPress.target?.id === "skip") return;
    // In a conflict the rater chooses: by Enter, or by a button of the message.
    if (conflict) return;
    if (field.value.trim() !== "" || committed.status !== null) commitValue();
    else showProblem("");
  });

  track.addEventListener("focusout", (event) => !track.contains(event.relatedTarget) && flush());
  cannot.addEventListener("click", () => {
    if (committed.status !== "cannot_judge" || hasDraft()) cannotJudge();
    else focus();
  });
  boxes.forEach((box) => box.addEventListener("change", commitRemarks));
  comment.addEventListener("input", () => {
    keepDraft();
    clearTimeout(writing);
    writing = setTimeout(commitRemarks, COMMENT_PAUSE);
    changed();
  });
  comment.addEventListener("blur", () => flush());
  open.addEventListener("click", () => turned(0));
  body.addEventListener("keydown", (event) => !event.target.matches("textarea, [type=text]") && press(event));
  find(".more-toggle").addEventListener("click", (event) => {
    const shown = section.classList.toggle("more-open");
    event.currentTarget.setAttribute("aria-expanded", String(shown));
  });

  // Commits at once what only waits for a pause: a control moved by keys, remarks on a value.
  function flush() {
    if (!control.flush()) commitRemarks();
  }

  // Takes over what an earlier page left behind: what it saved last, the queue's content, then the draft.
  function restore() {
    const later = queue.saved(url, key);
    if (later?.answer.revision > revision) {
      revision = later.answer.revision;
      committed = confirmed = contentOf(later.entry.body);
      showFields(committed);
    }
    const left = queue.adopt(url, key).at(-1)?.body;
    if (left) {
      committed = contentOf(left);
      lastKey = left.key;
      kind = left.input_kind;
      showFields(committed);
    }
    const draft = store.read(draftName, null);
    if (draft?.value !== undefined) {
      field.value = draft.value;
      control.show(typed().value ?? null);
    }
    if (draft?.flags) {
      comment.value = draft.comment;
      boxes.forEach((box) => (box.checked = draft.flags.includes(box.value)));
    }
    render();
  }

  // What was there before comes back as a further revision.
  function bringBack(content) {
    control.cancel();
    showFields(content);
    commit(content, "button");
  }

  // An entry came back.
  function settle(event) {
    const { kind: outcome, entry, mine, answer } = event;
    if (entry.url === marks?.url) {
      marks.settle(event);
      return;
    }
    const latest = outcome === "stale" || entry.body.key === lastKey;
    if (outcome === "saved") {
      revision = answer.revision;
      confirmed = contentOf(entry.body);
      find(".kept").textContent = answer.kept ?? "";
    } else if (outcome === "stale") {
      revision = answer.current.revision;
      confirmed = contentOf(answer.current);
      conflict = true;
    }
    if (latest) {
      lastKey = null;
      committed = confirmed;
      if (outcome !== "saved") {
        if (mine.status === "rated" && !hasDraft()) field.value = showNumber(mine.value);
        if (outcome === "invalid") showProblem(answer.error?.message ?? _("The server refused this value."));
        control.show(typed().value ?? confirmed.value);
      }
      keepDraft();
    }
    render();
  }

  // The page's policy allows no style in its bytes; a script may place the anchors under the slider.
  section.querySelectorAll("[data-at]").forEach((mark) => (mark.style.insetInlineStart = `${mark.dataset.at}%`));

  restore();
  return {
    key,
    url,
    marks,
    timed,
    assignment,
    letter: data.letter ?? "",
    name: data.name,
    section,
    focus,
    press,
    render,
    settle,
    flush,
    commitRemarks,
    skip: (reason) => {
      if (!hasDraft() && committed.status !== null && committed.status !== "skipped") return;
      field.value = "";
      control.show(null);
      commit({ value: null, status: "skipped", reason, ...remarks() }, "button");
    },
    // After a conflict: the rater's own content (or what they typed since), or the stored one.
    enter: (content) => {
      if (hasDraft() && typed().value !== undefined) return commitValue();
      field.value = showNumber(content.value);
      control.show(content.value);
      return commit({ ...content, ...remarks() }, content.input_kind);
    },
    leave: () => {
      conflict = false;
      showFields(committed);
      keepDraft();
      changed();
    },
    // A value or "cannot judge" that was entered stays; everything else can be skipped.
    canSkip: () => hasDraft() || committed.status === null || committed.status === "skipped",
    // Remarks that wait for a value are in this browser only.
    waits: () => !hasDraft() && committed.status === null && remarksDiffer(),
    // What keeps the step from being finished: null, "saving", or words for the rater.
    missing: () => {
      if (hasDraft()) return _("%(name)s is still a draft", { name: data.name });
      if (conflict && remarksDiffer()) return _("%(name)s differs from what another tab saved", { name: data.name });
      if (committed.status === null) return _("%(name)s is not rated yet", { name: data.name });
      return marks?.missing(committed.status === "rated") ?? (lastKey === null ? null : "saving");
    },
    show: (active) => {
      marks?.show(active);
      section.classList.toggle("active", active);
      open.setAttribute("aria-expanded", String(active));
      body.hidden = !active;
    },
  };
}
