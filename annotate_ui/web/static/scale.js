// Numbers as people type them, and the points of a scale.

import { _ } from "./words.js";

// Digits of other scripts that keyboards and input methods produce: full width, Arabic, Persian.
const ZEROS = [0xff10, 0x0660, 0x06f0];

function plain(text) {
  return [...text.trim()]
    .map((character) => {
      const code = character.codePointAt(0);
      const zero = ZEROS.find((start) => code >= start && code <= start + 9);
      if (zero !== undefined) return String(code - zero);
      if (character === "," || character === "٫" || character === "．") return ".";
      return character === "−" ? "-" : character;
    })
    .join("");
}

export function showNumber(value) {
  return value === null || value === undefined ? "" : String(value);
}

function allowed(scale) {
  if (scale.step === null) return _("Type a number from %(min)s to %(max)s.", scale);
  if (scale.step === 1 && Number.isInteger(scale.min)) return _("Type a whole number from %(min)s to %(max)s.", scale);
  return _("Type a number from %(min)s to %(max)s in steps of %(step)s.", scale);
}

// Returns {value}, or {problem, unfinished}: `unfinished` text may still become a value by typing
// on, so nobody is corrected in the middle of a number.
export function readNumber(text, scale) {
  const typed = plain(text);
  if (typed === "") return { problem: allowed(scale), unfinished: true };
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(typed)) {
    const problem = _("“%(text)s” is not a number.", { text: text.trim() });
    return { problem: `${problem} ${allowed(scale)}`, unfinished: /^[+-]?\.?$/.test(typed) };
  }
  const value = Number(typed);
  const off = scale.step === null ? 0 : (value - scale.min) / scale.step;
  const outside = value < scale.min || value > scale.max;
  if (outside || Math.abs(off - Math.round(off)) > 1e-9) {
    const grows = outside ? Math.abs(value) < Math.max(Math.abs(scale.min), Math.abs(scale.max)) : true;
    const problem = _("%(text)s is not on the scale.", { text: text.trim() });
    return { problem: `${problem} ${allowed(scale)}`, unfinished: grows };
  }
  return { value };
}
