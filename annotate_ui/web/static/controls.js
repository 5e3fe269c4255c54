// The controls of the page, by the names that their scripts register.

const openers = new Map();

// `open(box, { scale, draft, commit, turned })` connects a control and returns three functions:
// `show(value)` shows a value, or none for null; `cancel()` forgets a value that waits for a pause;
// `flush()` commits such a value now and returns whether there was one. The control calls
// `draft(value)` while its value changes, `commit(value)` once it is chosen, and `turned(1)` or
// `turned(-1)` to go on or back. Two more functions are optional: `focus()` for a control that
// replaces the field, and `press(key)`, which enters what a key means and returns whether it
// means anything.
export function register(name, open) {
  openers.set(name, open);
}

export function openControl(box, options) {
  const open = openers.get(box.dataset.control);
  // Without its script a value can still be typed.
  return open ? open(box, options) : { show() {}, cancel() {}, flush: () => false };
}
