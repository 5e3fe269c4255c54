// Who leaves the study takes along what this browser kept for them.

import { openStore } from "./store.js";

const form = document.getElementById("withdraw");
const store = openStore(form.dataset.rater);

form.addEventListener("submit", () => store.names().forEach((name) => store.remove(name)));
