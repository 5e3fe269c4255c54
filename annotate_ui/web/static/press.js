// What was pressed last, until a key is: after a tap the focus moves only when the finger has gone.
export const press = { target: null };
addEventListener("pointerdown", (event) => (press.target = event.target), { capture: true });
addEventListener("pointercancel", () => (press.target = null), { capture: true });
addEventListener("keydown", () => (press.target = null), { capture: true });
