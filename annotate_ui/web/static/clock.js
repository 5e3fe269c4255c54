// How long a rater was at work on each construct. Active time: with the tab visible; a pause of
// more than a minute without any input counts as time away, all of it. Wall time: everything from
// turning to a construct until its value is entered, pauses included.

const PAUSE = 60_000;
const SIGNS_OF_LIFE = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchmove", "focusin"];

const seconds = (milliseconds) => Math.round(Math.max(0, milliseconds) / 100) / 10;

export function startClock() {
  const times = new Map();
  let turned = null;
  let last = performance.now();
  let lastWall = last;

  const of = (key) => times.get(key) ?? { active: 0, wall: 0 };

  function tick() {
    const now = performance.now();
    if (turned !== null && now - last <= PAUSE) {
      const { active, wall } = of(turned);
      times.set(turned, { active: active + now - last, wall });
    }
    last = now;
  }

  function tickWall() {
    const now = performance.now();
    if (turned !== null) {
      const { active, wall } = of(turned);
      times.set(turned, { active, wall: wall + now - lastWall });
    }
    lastWall = now;
  }

  for (const sign of SIGNS_OF_LIFE) {
    addEventListener(sign, () => !document.hidden && tick(), { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) tick();
    else last = performance.now();
  });

  return {
    // `null` while nothing can be rated.
    turnTo(key) {
      tick();
      tickWall();
      turned = key;
    },
    // What passed since the last call for this construct.
    take(key) {
      tick();
      tickWall();
      const { active, wall } = of(key);
      times.delete(key);
      return { active_seconds: seconds(active), wall_seconds: seconds(wall) };
    },
  };
}
