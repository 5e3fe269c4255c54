// What a rater says of one construct, and the words for where it stands.

import { showNumber } from "./scale.js";

export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

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
  if (draft) return ["draft", "draft"];
  if (queued) return blocked ? ["waiting", "not sent yet"] : ["saving", "saving…"];
  if (status === "rated") return ["saved", "saved"];
  if (status === "cannot_judge") return ["none", "cannot judge"];
  return status === "skipped" ? ["none", "skipped"] : ["unrated", "not rated"];
}

export function hintOf({ draft, valid, committed, waits }) {
  if (draft && !valid) return "";
  if (waits) return "What you noted is kept in this browser, and saved with a value.";
  if (draft) {
    const touch = matchMedia("(pointer: coarse)").matches;
    const stored = committed.status === "rated" ? `; until then it is ${showNumber(committed.value)}` : "";
    return `A draft. ${touch ? "It is saved when you go on" : "Enter saves it"}${stored}.`;
  }
  if (committed.status === "cannot_judge") return "You chose “Cannot judge”. A value takes it back.";
  return committed.status === "skipped" ? `Skipped: ${committed.reason}` : "";
}
