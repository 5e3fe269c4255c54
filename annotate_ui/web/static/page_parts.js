// What only some rating pages have: a script that is loaded there puts its function here.
export const parts = { openMarks: null, watchTextFormat: null };
