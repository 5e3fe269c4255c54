// A choice of one among radio buttons: a click commits at once, arrow keys once they rest.

import { lastPress } from "./last_press.js";

const KEYS_PAUSE = 350;

export function openChoice(box, { draft, commit, turned }) {
  const points = [...box.querySelectorAll("input")];
  let timer = 0;

  const chosen = () => points.find((point) => point.checked);
  const pressed = () => box.contains(lastPress.target);

  function show(value) {
    points.forEach((point) => (point.checked = value !== null && Number(point.value) === value));
  }

  function cancel() {
    clearTimeout(timer);
    timer = 0;
  }

  function release() {
    cancel();
    const point = chosen();
    if (point) commit(Number(point.value));
  }

  // A click on a point that is checked already changes nothing, and still enters its value.
  box.addEventListener("click", (event) => event.target.matches("input") && pressed() && release());
  box.addEventListener("change", () => {
    if (pressed()) return;
    draft(Number(chosen().value));
    clearTimeout(timer);
    timer = setTimeout(release, KEYS_PAUSE);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (event.target.checked) release();
    turned(event.shiftKey ? -1 : 1);
  });

  // Says whether a point that only waited for a pause was committed now.
  function flush() {
    if (!timer) return false;
    release();
    return true;
  }

  return { show, cancel, flush };
}
