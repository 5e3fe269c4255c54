// A rater's answer for one construct, and the text for its state.

import { showNumber } from "./scale.js";
import { _, ngettext } from "./words.js";

export const same = (content, other) => JSON.stringify(content) === JSON.stringify(other);

export function contentOf({ value, status, reason, comment, flags }) {
  return {
    value: value ?? null,
    status: status || null,
    reason: reason || null,
    comment: comment || null,
    flags: [...(flags ?? [])].sort(),
  };
}

// Returns the name of the state, for its sign, and its words.
export function stateOf({ draft, queued, blocked, status }) {
  if (draft) return ["draft", _("draft")];
  if (queued) return blocked ? ["waiting", _("not sent yet")] : ["saving", _("saving…")];
  if (status === "rated") return ["saved", _("saved")];
  if (status === "cannot_judge") return ["none", _("cannot judge")];
  return status === "skipped" ? ["none", _("skipped")] : ["unrated", _("not rated")];
}

export function hintOf({ draft, valid, committed, waits }) {
  if (draft && !valid) return "";
  if (waits) return _("What you noted is kept in this browser, and saved with a value.");
  if (draft) return draftHint(committed);
  if (committed.status === "cannot_judge") return _("You chose “Cannot judge”. Entering a value replaces this.");
  return committed.status === "skipped" ? _("Skipped: %(reason)s", { reason: committed.reason }) : "";
}

function draftHint(committed) {
  const touch = matchMedia("(pointer: coarse)").matches;
  const value = showNumber(committed.value);
  if (committed.status !== "rated") {
    return touch ? _("A draft. It is saved when you go on.") : _("A draft. Enter saves it.");
  }
  return touch
    ? _("A draft. It is saved when you go on; until then it is %(value)s.", { value })
    : _("A draft. Enter saves it; until then it is %(value)s.", { value });
}

// How many sentences a set of marks has, for messages.
export function countOf(ranges) {
  if (!ranges) return _("not answered");
  if (ranges.length === 0) return _("no sentence marked");
  return ngettext("%(num)s sentence marked", "%(num)s sentences marked", ranges.length);
}
