// How long a rater was at work on each construct: time with the tab visible; a pause of more than
// a minute without any input counts as time away, all of it.

const PAUSE = 60_000;
const SIGNS_OF_LIFE = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchmove", "focusin"];

export function startClock() {
  const milliseconds = new Map();
  let active = null;
  let last = performance.now();

  function tick() {
    const now = performance.now();
    if (active !== null && now - last <= PAUSE) {
      milliseconds.set(active, (milliseconds.get(active) ?? 0) + now - last);
    }
    last = now;
  }

  for (const sign of SIGNS_OF_LIFE) {
    addEventListener(sign, () => !document.hidden && tick(), { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) tick();
    else last = performance.now();
  });

  return {
    turnTo(key) {
      tick();
      active = key;
    },
    // Seconds since the last call for this construct.
    take(key) {
      tick();
      const seconds = (milliseconds.get(key) ?? 0) / 1000;
      milliseconds.delete(key);
      return Math.round(seconds * 10) / 10;
    },
  };
}
