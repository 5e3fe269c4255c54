// Keeps the pinned panel from covering what has the focus: its height is what the page leaves free
// below. Where a keyboard covers the window instead of making it shorter (iOS), the panel is lifted.

const LEAST = 440;

export function watchLayout(panel) {
  const root = document.documentElement;
  const measure = () => root.style.setProperty("--panel", `${Math.ceil(panel.getBoundingClientRect().height)}px`);
  new ResizeObserver(measure).observe(panel);
  measure();

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
