// What only some rating pages have: a script that is loaded there puts its function here. Where it
// is missing although the page needs it, the page stops, as it does for every script.
export const parts = { openMarks: null, watchTextFormat: null };
