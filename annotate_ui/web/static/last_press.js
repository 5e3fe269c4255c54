// What was pressed last, until a key is: after a tap the focus moves only when the finger has gone.
export const lastPress = { target: null };
addEventListener("pointerdown", (event) => (lastPress.target = event.target), { capture: true });
addEventListener("pointercancel", () => (lastPress.target = null), { capture: true });
addEventListener("keydown", () => (lastPress.target = null), { capture: true });
