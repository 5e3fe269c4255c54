// Keeps the pinned panel from covering what has the focus: its height is what the page leaves free
// below. Where a keyboard covers the window instead of making it shorter (iOS), the panel is lifted.

import { _ } from "./words.js";

const LEAST = 440;

// On a phone the panel folds to one line; what asks for a value unfolds it.
const fold = document.getElementById("fold");

export function showPanel(open) {
  fold.closest("#panel").classList.toggle("folded", !open);
  fold.setAttribute("aria-expanded", String(open));
  fold.textContent = open ? _("Fold") : _("Rate");
}

fold?.addEventListener("click", () => showPanel(fold.getAttribute("aria-expanded") === "false"));

export function watchLayout(panel) {
  const root = document.documentElement;
  // The response above the passages covers what is below it, as the panel does.
  for (const [name, part] of [["--panel", panel], ["--response", document.querySelector("details#field-response")]]) {
    if (!part) continue;
    const measure = () => root.style.setProperty(name, `${Math.ceil(part.getBoundingClientRect().height)}px`);
    new ResizeObserver(measure).observe(part);
    measure();
  }

  // A window that gets shorter, as above a phone's keyboard, doesn't leave the focus below its edge.
  addEventListener("resize", () => {
    const here = document.activeElement;
    if (panel.contains(here) && here.matches("input, textarea")) here.scrollIntoView({ block: "nearest" });
  });

  const view = window.visualViewport;
  if (!view) return;
  const follow = () => {
    if (view.scale > 1.01) return;
    const covered = Math.max(0, Math.round(innerHeight - view.height - view.offsetTop));
    root.style.setProperty("--keyboard", `${covered}px`);
    root.classList.toggle("loose", covered > 0 && view.height < LEAST);
  };
  view.addEventListener("resize", follow);
  view.addEventListener("scroll", follow);
}

// Focus for what was just revealed, near the top of what is visible.
export function focusHeading(heading) {
  heading.focus({ preventScroll: true });
  if (heading.getBoundingClientRect().bottom > innerHeight / 3) heading.scrollIntoView({ block: "start" });
}

export const onTouch = () => matchMedia("(pointer: coarse) and (max-width: 59.99rem)").matches;
