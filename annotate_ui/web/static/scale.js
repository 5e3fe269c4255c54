// Numbers as people type them, and the points of a scale.

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

function allowed({ min, max, step }) {
  if (step === null) return `Type a number from ${min} to ${max}.`;
  if (step === 1 && Number.isInteger(min)) return `Type a whole number from ${min} to ${max}.`;
  return `Type a number from ${min} to ${max} in steps of ${step}.`;
}

// Returns {value}, or {problem, unfinished}: `unfinished` text may still become a value by typing
// on, so nobody is corrected in the middle of a number.
export function readNumber(text, scale) {
  const typed = plain(text);
  if (typed === "") return { problem: allowed(scale), unfinished: true };
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(typed)) {
    return { problem: `“${text.trim()}” is not a number. ${allowed(scale)}`, unfinished: /^[+-]?\.?$/.test(typed) };
  }
  const value = Number(typed);
  const off = scale.step === null ? 0 : (value - scale.min) / scale.step;
  const outside = value < scale.min || value > scale.max;
  if (outside || Math.abs(off - Math.round(off)) > 1e-9) {
    const grows = outside ? Math.abs(value) < Math.max(Math.abs(scale.min), Math.abs(scale.max)) : true;
    return { problem: `${text.trim()} is not on the scale. ${allowed(scale)}`, unfinished: grows };
  }
  return { value };
}
