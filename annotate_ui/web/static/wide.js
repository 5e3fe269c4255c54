// A study may ask for a wide window: in a narrower one nothing is shown, and nothing is opened.

const root = document.documentElement;
const least = Number(root.dataset.minWidth ?? 0);

export const isWide = () => innerWidth >= least;
export const leastWidth = least;

// Runs `changed(wide)` now and whenever it changes.
export function watchWidth(changed) {
  if (!least) {
    changed(true);
    return;
  }
  let before = null;
  const look = () => {
    const wide = isWide();
    if (wide === before) return;
    before = wide;
    root.classList.toggle("fits", wide);
    changed(wide);
  };
  addEventListener("resize", look);
  look();
}
