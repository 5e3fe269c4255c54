// The optional slider: no thumb, and announced as unset, until it is touched.

import { register } from "../controls.js";
import { lastPress } from "../last_press.js";
import { showNumber } from "../scale.js";
import { _ } from "../words.js";

const KEYS_PAUSE = 350;
const STARTS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown"];

register("slider", (box, { scale, draft, commit }) => {
  const slider = box.querySelector("input");
  let timer = 0;
  let moved = false;

  function show(value) {
    slider.classList.toggle("unset", value === null);
    slider.value = value === null ? (scale.min + scale.max) / 2 : value;
    slider.setAttribute("aria-valuetext", value === null ? _("not set") : showNumber(value));
  }

  function cancel() {
    clearTimeout(timer);
    timer = 0;
    moved = false;
  }

  function release() {
    cancel();
    commit(Number(slider.value));
  }

  function move() {
    const value = Number(slider.value);
    show(value);
    draft(value);
  }

  function afterKeys() {
    clearTimeout(timer);
    timer = setTimeout(release, KEYS_PAUSE);
  }

  slider.addEventListener("input", () => {
    move();
    if (lastPress.target === slider) moved = true;
    else afterKeys();
  });
  slider.addEventListener("keydown", (event) => {
    // The first step from unset is the middle.
    if (!slider.classList.contains("unset") || !STARTS.includes(event.key)) return;
    event.preventDefault();
    move();
    afterKeys();
  });
  // Three ends of a press: it moved; it did not (the middle, before the first touch); it came back
  // to where it began and was released outside the slider.
  slider.addEventListener("change", () => lastPress.target === slider && release());
  slider.addEventListener("click", (event) => event.detail > 0 && release());
  addEventListener("pointerup", () => setTimeout(() => moved && lastPress.target === slider && release(), 50));

  // Says whether a value that only waited for a pause was committed now.
  function flush() {
    if (!timer) return false;
    release();
    return true;
  }

  return { show, cancel, flush };
});
